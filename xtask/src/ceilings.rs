//! Ceilings on what a change may cost: the size of the binary people install, and the processor time of a cold
//! demo. (The ceiling on the number of packages is `LOCK_CEILING` in `tidy/walls.rs`, and is checked in every CI run.)
//!
//! To raise one, change it here in the commit that needs it; the commit says by how much and for what. To
//! lower one after a saving, do the same. Sizes are exact; leave a tenth above a measured time.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// The size of `target/dist/jp`, as `cargo xtask dist` builds it. It was 39.15 MB when it was measured last; typed
/// arguments of capabilities and typed errors came after that.
pub(crate) const BINARY_BYTES: u64 = 40_500_000;

/// How many packages are linked into `jp`: what can be had of its size without the minutes of a `dist` build.
/// There are 331, seven of them for tokens of authorization servers (jsonwebtoken).
pub(crate) const BINARY_PACKAGES: usize = 331;

/// The processor time of all that `cargo xtask demo` builds from an empty target directory, xtask itself apart.
/// Measured on two cores before the ceiling was set: 788 s, xtask included.
pub(crate) const DEMO_CPU: Duration = Duration::from_secs(870);

/// How many ticks `/proc` counts in a second. Linux has said 100 to programs for as long as it has said anything.
const TICKS: u64 = 100;

/// Refuses a binary above its ceiling.
pub(crate) fn check_binary(bytes: u64) -> Result<()> {
    if bytes > BINARY_BYTES {
        bail!("jp has {bytes} bytes, and the ceiling in xtask/src/ceilings.rs is {BINARY_BYTES}");
    }
    Ok(())
}

/// Refuses a tree of dependencies, as `cargo tree --prefix none` prints it, with more packages than the ceiling.
pub(crate) fn check_packages(tree: &str) -> Result<()> {
    let packages: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split(" (").next())
        .filter(|line| !line.is_empty())
        .collect();
    let count = packages.len();
    if count > BINARY_PACKAGES {
        bail!(
            "jp is linked of {count} packages, and the ceiling in xtask/src/ceilings.rs is {BINARY_PACKAGES}"
        );
    }
    Ok(())
}

/// Refuses a cold demo above its ceiling.
pub(crate) fn check_demo(spent: Duration) -> Result<()> {
    if spent > DEMO_CPU {
        let (spent, ceiling) = (spent.as_secs(), DEMO_CPU.as_secs());
        bail!(
            "the demo's builds took {spent} s of processor time, and the ceiling in xtask/src/ceilings.rs is {ceiling} s"
        );
    }
    Ok(())
}

/// Returns whether nothing of the demo has been built yet; xtask itself always has.
pub(crate) fn is_cold(target: &Path, guests: &Path) -> bool {
    let is_built = |name: &str| name.starts_with("libwasmtime-") || name.starts_with("libjp_llm-");
    let entries = fs::read_dir(target.join("debug/deps"))
        .into_iter()
        .flatten()
        .flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    !guests.exists() && !names.any(|name| is_built(&name))
}

/// Returns the processor time of all programs that this one has started and that have ended.
pub(crate) fn children() -> Result<Duration> {
    let text = fs::read_to_string("/proc/self/stat")
        .context("only Linux tells the processor time of a build")?;
    children_in(&text).context("cannot read /proc/self/stat")
}

/// Reads the 16th and 17th field; the second is a name in parentheses, which may hold anything.
fn children_in(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let (user, system) = (ticks()?, ticks()?);
    Some(Duration::from_millis((user + system) * 1000 / TICKS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_is_above_a_ceiling_is_refused() {
        assert!(check_binary(BINARY_BYTES).is_ok());
        let error = check_binary(BINARY_BYTES + 1).unwrap_err().to_string();
        let bytes = format!("{} bytes", BINARY_BYTES + 1);
        assert!(error.contains(&bytes), "{error}");
        assert!(check_demo(DEMO_CPU).is_ok());
        assert!(check_demo(DEMO_CPU + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn packages_are_counted_once_however_often_they_are_printed() {
        let tree = |count: usize| -> String {
            let lines =
                (0..count).map(|index| format!("p{index} v1.0.0 (/x)\np{index} v1.0.0 (*)\n\n"));
            lines.collect()
        };
        assert!(check_packages(&tree(BINARY_PACKAGES)).is_ok());
        assert!(check_packages(&tree(BINARY_PACKAGES + 1)).is_err());
    }

    #[test]
    fn the_time_of_children_is_read_behind_any_name() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 150 30 20 0";
        assert_eq!(children_in(stat), Some(Duration::from_millis(1800)));
        assert_eq!(children_in("7 (a) S 1"), None);
    }

    #[test]
    fn a_child_that_computes_is_counted() {
        let before = children().unwrap();
        let status = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"])
            .status();
        assert!(status.unwrap().success());
        assert!(children().unwrap() > before);
    }

    #[test]
    fn a_target_directory_is_cold_until_something_of_the_demo_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let (target, guests) = (dir.path().join("target"), dir.path().join("guests"));
        assert!(is_cold(&target, &guests));
        let deps = target.join("debug/deps");
        fs::create_dir_all(&deps).unwrap();
        fs::write(deps.join("libserde-1.rlib"), "").unwrap();
        assert!(is_cold(&target, &guests));
        fs::write(deps.join("libwasmtime-1.rlib"), "").unwrap();
        assert!(!is_cold(&target, &guests));
        fs::remove_file(deps.join("libwasmtime-1.rlib")).unwrap();
        fs::create_dir(&guests).unwrap();
        assert!(!is_cold(&target, &guests));
    }
}
