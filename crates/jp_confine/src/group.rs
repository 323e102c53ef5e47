//! The host's side of a memory limit for a whole tree of processes: a control group (cgroup v2) below
//! one that belongs to this user. Where there is none, each process is limited by itself.
//!
//! The kernel asks for three things: a parent whose children have the memory controller, the right to
//! make a group in it, and the right to move processes into that group, which is the right to write the
//! `cgroup.procs` of the closest group that is above both.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

/// The controller that limits memory.
const MEMORY: &str = "memory";

/// What the names of our groups begin with; the number of the process that made them follows.
const PREFIX: &str = "jp-call-";

/// How often a group is tried to be removed, and the pause between two tries.
const REMOVALS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(2);

/// A group that holds one call. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
}

/// Returns the groups in which groups of our own could be made, the closest first. Only trying tells
/// whether one can.
pub(crate) fn parents() -> Vec<PathBuf> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mounts = read("/proc/self/mountinfo");
    parents_in(&mounts, &read("/proc/self/cgroup"), MEMORY)
}

fn parents_in(mounts: &str, own: &str, controller: &str) -> Vec<PathBuf> {
    let (Some(mount), Some(own)) = (mount_of_groups(mounts), own_group(own)) else {
        return Vec::new();
    };
    let own = mount.join(own.trim_start_matches('/'));
    own.ancestors()
        .take_while(|group| group.starts_with(&mount))
        .filter(|group| has_controller(group, controller))
        .map(Path::to_owned)
        .collect()
}

/// Finds where the groups of version 2 are mounted.
fn mount_of_groups(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let is_groups = after.split(' ').next() == Some("cgroup2");
        // The fifth field is where it is mounted. A path with a space in it is written otherwise,
        // and nobody mounts groups there.
        is_groups.then(|| before.split(' ').nth(4).map(PathBuf::from))?
    })
}

/// Finds the group of this process.
fn own_group(groups: &str) -> Option<&str> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    // A process outside of its namespace's root has a path that leads nowhere.
    (!path.split('/').any(|part| part == "..")).then_some(path)
}

fn has_controller(group: &Path, controller: &str) -> bool {
    let lists = |file: &str| {
        let list = fs::read_to_string(group.join(file)).unwrap_or_default();
        list.split_whitespace().any(|name| name == controller)
    };
    lists("cgroup.subtree_control") || lists("cgroup.controllers")
}

impl Group {
    /// Makes a group that may use so much memory.
    ///
    /// # Errors
    /// Fails where the system does not let this user do so.
    pub(crate) fn make(parent: &Path, memory_bytes: u64) -> io::Result<Self> {
        let group = Self::make_with(parent, MEMORY)?;
        group.set("memory.max", &memory_bytes.to_string())?;
        // Swapped out is still in use. Kernels without swap do not have the file.
        let _ = group.set("memory.swap.max", "0");
        // Half of a tool is of no use, and its other half would wait for it.
        let _ = group.set("memory.oom.group", "1");
        Ok(group)
    }

    fn make_with(parent: &Path, controller: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        remove_left_over(parent);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = std::process::id();
        let path = parent.join(format!("{PREFIX}{own}-{number}"));
        fs::create_dir(&path)?;
        let group = Self { path };
        if !group.path.join(format!("{controller}.max")).exists() {
            // Refused where processes are in the parent itself, which is nobody's mistake.
            write(
                &parent.join("cgroup.subtree_control"),
                &format!("+{controller}"),
            )?;
        }
        Ok(group)
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        write(&self.path.join(file), value)
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether something was killed because the memory was used up.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.path.join("memory.events")).unwrap_or_default();
        events
            .lines()
            .filter_map(|line| line.strip_prefix("oom_kill "))
            .any(|count| count.trim() != "0")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Mostly all that was in it is gone with its namespace. Who was killed just now takes a moment,
        // and what is left even then goes with the first call of another process.
        for _ in 0..REMOVALS {
            if fs::remove_dir(&self.path).is_ok() {
                return;
            }
            let _ = self.set("cgroup.kill", "1");
            std::thread::sleep(PAUSE);
        }
    }
}

/// Moves this process, and all it will start, into a group.
#[cfg(target_os = "linux")]
pub(crate) fn join(group: &Path) -> io::Result<()> {
    write(&group.join("cgroup.procs"), "0")
}

/// Removes the groups of processes that are gone. A group with processes in it cannot be removed.
fn remove_left_over(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let owner = number.and_then(|number| number.split('-').next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Writes a file of a group; one that is not there is not made.
fn write(path: &Path, text: &str) -> io::Result<()> {
    File::options()
        .write(true)
        .open(path)?
        .write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n\
                          31 25 0:27 / /proc rw - proc proc rw\n";

    #[test]
    fn the_group_and_its_mount_are_found() {
        assert_eq!(mount_of_groups(MOUNTS), Some("/sys/fs/cgroup".into()));
        assert_eq!(
            mount_of_groups("31 25 0:27 / /proc rw - proc proc rw"),
            None
        );
        assert_eq!(
            own_group("4:memory:/a\n0::/user.slice/x\n"),
            Some("/user.slice/x")
        );
        assert_eq!(own_group("0::/../outside\n"), None);
        assert_eq!(own_group("4:memory:/a\n"), None);
    }

    #[test]
    fn parents_are_the_groups_above_that_have_the_controller() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let own = root.join("user/app/shell");
        fs::create_dir_all(&own).unwrap();
        for (group, file, list) in [
            ("user", "cgroup.subtree_control", "cpu memory"),
            ("user/app", "cgroup.controllers", "memory pids"),
            ("user/app/shell", "cgroup.controllers", "pids memory_too"),
        ] {
            fs::write(root.join(group).join(file), list).unwrap();
        }
        let mounts = format!("30 25 0:26 / {} rw - cgroup2 cgroup2 rw", root.display());
        let found = parents_in(&mounts, "0::/user/app/shell\n", MEMORY);
        assert_eq!(found, [root.join("user/app"), root.join("user")]);
    }

    #[test]
    fn a_directory_that_is_not_a_group_is_refused_and_left_as_it_was() {
        let parent = tempfile::tempdir().unwrap();
        Group::make(parent.path(), 1 << 30).unwrap_err();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_processes_that_are_gone_left_behind_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: String| parent.path().join(name);
        let mine = at(format!("{PREFIX}{}-7", std::process::id()));
        let gone = at(format!("{PREFIX}4294967295-0"));
        let other = at("somebody".to_owned());
        for path in [&mine, &gone, &other] {
            fs::create_dir(path).unwrap();
        }
        remove_left_over(parent.path());
        assert!(mine.exists() && other.exists() && !gone.exists());
    }

    /// Uses whatever controller this system's groups have: making, joining and removing are the same.
    #[test]
    fn a_process_joins_a_real_group_which_goes_when_it_is_dropped() {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let Some(mount) = mount_of_groups(&mounts) else {
            return;
        };
        let controllers = fs::read_to_string(mount.join("cgroup.controllers")).unwrap_or_default();
        let made = controllers.split_whitespace().find_map(|controller| {
            let parents = parents_in(&mounts, &own, controller);
            let mut groups = parents.iter().map(|parent| {
                remove_left_over(parent);
                let path = parent.join(format!("{PREFIX}{}-test", std::process::id()));
                fs::create_dir(&path).map(|()| Group { path })
            });
            groups.find_map(Result::ok)
        });
        // An ordinary user without a group of their own cannot make one.
        let Some(group) = made else { return };
        let script = format!(
            "echo $$ > {}/cgroup.procs && cat /proc/self/cgroup",
            group.path.display()
        );
        let said = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(
            said.lines()
                .any(|line| line.starts_with("0::") && line.contains(PREFIX)),
            "{said}"
        );
        assert!(!group.ran_out_of_memory());
        let path = group.path().to_owned();
        drop(group);
        assert!(!path.exists());
    }
}
