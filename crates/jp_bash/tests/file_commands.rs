//! File commands on a whole file system, with mounts of the host: what oracle cases cannot reach.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use jp_bash::{Bash, BashBuilder, Bounds, HostDir, HostMode};

/// A session that stands in `/tmp/w`.
struct Machine(Bash);

impl Machine {
    fn new() -> Self {
        Self::built(Bash::builder())
    }

    /// Shows a directory of the host at `/mnt`.
    fn mounted(mode: HostMode) -> (Self, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let host = Dir::open_ambient_dir(dir.path(), ambient_authority()).unwrap();
        let host = HostDir::from_dir(host);
        let machine = Self::built(Bash::builder().mount("/mnt", host, mode));
        (machine, dir)
    }

    fn built(builder: BashBuilder) -> Self {
        Self(builder.cwd("/tmp/w").build())
    }

    /// Writes a file.
    fn put(&mut self, path: &str, text: &str) {
        let result = self
            .0
            .exec(format!("printf %s '{text}' > {path}").as_bytes());
        assert_eq!(result.exit_code, 0);
    }

    /// Runs a line of words divided by blanks; returns output, errors and status as one text.
    fn run(&mut self, line: &str) -> String {
        let words: Vec<String> = line
            .split_whitespace()
            .map(|word| format!("'{word}'"))
            .collect();
        let result = self.0.exec(words.join(" ").as_bytes());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let printed = text(&result.stdout) + &text(&result.stderr);
        match (result.error, result.exit_code) {
            (None, 0) => printed,
            (None, status) => format!("{printed}[{status}]\n"),
            (Some(category), _) => format!("{printed}[{}]\n", category.name()),
        }
    }

    /// Tells whether what the session holds leaves room for a small variable below that limit.
    fn holds_less_than(&mut self, memory: u64) -> bool {
        let usual = self.0.limits();
        self.0.set_limits(Bounds { memory, ..usual });
        let result = self.0.exec(b"x=$(printf %01000d 0); unset x");
        self.0.set_limits(usual);
        result.error.is_none()
    }
}

#[test]
fn a_tree_deeper_than_the_longest_path_is_removed() {
    let mut machine = Machine::new();
    let made = machine
        .0
        .exec(b"for ((i = 0; i < 5000; i++)); do mkdir d; cd d; done; echo x > f; cd /tmp/w");
    assert_eq!((made.exit_code, made.stderr.as_slice()), (0, &b""[..]));
    assert!(!machine.holds_less_than(100_000));
    assert_eq!(machine.run("rm -rf d"), "");
    assert_eq!(machine.run("ls -A"), "");
    assert!(machine.holds_less_than(100_000));
}

#[test]
fn moving_between_mounts_copies_and_removes() {
    let (mut machine, dir) = Machine::mounted(HostMode::ReadWrite);
    machine.run("mkdir -p t/u");
    machine.put("t/u/f", "x");
    machine.run("ln -s u t/l");
    machine.run("chmod 640 t/u/f");
    assert_eq!(machine.run("mv t /mnt/t"), "");
    assert_eq!(machine.run("ls"), "");
    assert_eq!(
        std::fs::read_to_string(dir.path().join("t/u/f")).unwrap(),
        "x"
    );
    assert_eq!(
        machine.run("stat -c %a_%N /mnt/t/u/f /mnt/t/l"),
        "640_'/mnt/t/u/f'\n777_'/mnt/t/l' -> 'u'\n"
    );
    assert_eq!(
        machine.run("mv -v /mnt/t/u/f g"),
        "copied '/mnt/t/u/f' -> 'g'\nremoved '/mnt/t/u/f'\n"
    );
    assert_eq!(machine.run("test -f g"), "");
    assert_eq!(
        machine.run("ln g /mnt/g"),
        "ln: failed to create hard link '/mnt/g' => 'g': Invalid cross-device link\n[1]\n"
    );
}

#[test]
fn a_read_only_mount_is_named_as_such() {
    let (mut machine, dir) = Machine::mounted(HostMode::ReadOnly);
    std::fs::write(dir.path().join("f"), "x").unwrap();
    assert_eq!(
        machine.run("rm /mnt/f"),
        "rm: cannot remove '/mnt/f': Read-only file system\n[1]\n"
    );
    assert_eq!(
        machine.run("touch /mnt/new"),
        "touch: cannot touch '/mnt/new': Read-only file system\n[1]\n"
    );
    assert_eq!(machine.run("cat /mnt/f"), "x");
    assert_eq!(
        machine.run("rmdir /mnt"),
        "rmdir: failed to remove '/mnt': Device or resource busy\n[1]\n"
    );
}

#[test]
fn permissions_hold_for_the_user() {
    let mut machine = Machine::new();
    machine.run("mkdir d");
    machine.put("d/f", "x");
    machine.run("chmod 000 d/f");
    assert_eq!(machine.run("cat d/f"), "cat: d/f: Permission denied\n[1]\n");
    assert_eq!(
        machine.run("cp d/f g"),
        "cp: cannot open 'd/f' for reading: Permission denied\n[1]\n"
    );
    machine.run("chmod 555 d");
    assert_eq!(
        machine.run("rm -f d/f"),
        "rm: cannot remove 'd/f': Permission denied\n[1]\n"
    );
    machine.run("chmod 000 d");
    assert_eq!(
        machine.run("ls d"),
        "ls: cannot open directory 'd': Permission denied\n[2]\n"
    );
    assert_eq!(
        machine.run("find d"),
        "d\nfind: \u{2018}d\u{2019}: Permission denied\n[1]\n"
    );
    assert_eq!(
        machine.run("rm -rf d"),
        "rm: cannot remove 'd': Permission denied\n[1]\n"
    );
}

#[test]
fn full_devices_are_reported() {
    let mut machine = Machine::new();
    machine.put("f", "x");
    assert_eq!(
        machine.run("cp f /dev/full"),
        "cp: error writing '/dev/full': No space left on device\n[1]\n"
    );
    assert_eq!(machine.run("cp f /dev/null"), "");
}

#[test]
fn nested_parentheses_are_bounded() {
    let mut machine = Machine::new();
    let line = format!("find . {} -true {}", "( ".repeat(5_000), ") ".repeat(5_000));
    assert_eq!(
        machine.run(&line),
        "find: expression is nested too deeply\n[1]\n"
    );
    let line = format!("find . {} -true", "! ".repeat(5_000));
    assert_eq!(
        machine.run(&line),
        "find: expression is nested too deeply\n[1]\n"
    );
}

#[test]
fn symlink_loops_end() {
    let mut machine = Machine::new();
    machine.run("mkdir -p a/b");
    machine.run("ln -s .. a/b/up");
    assert_eq!(
        machine.run("find -L a -type d"),
        "a\na/b\nfind: File system loop detected; \u{2018}a/b/up\u{2019} is part of the same file system loop as \u{2018}a\u{2019}.\n[1]\n"
    );
    assert_eq!(
        machine.run("cp -rL a c"),
        "cp: cannot copy cyclic symbolic link 'a/b/up'\n[1]\n"
    );
    let listed = machine.run("ls -RL a");
    assert!(
        listed.contains("a/b/up: not listing already-listed directory"),
        "{listed}"
    );
    assert_eq!(machine.run("test -e c/b"), "");
}

#[test]
fn temporary_names_do_not_collide() {
    let mut machine = Machine::new();
    let names: BTreeSet<String> = (0..100).map(|_| machine.run("mktemp tXXX")).collect();
    assert_eq!(names.len(), 100);
}

#[test]
fn refused_options_say_why() {
    let mut machine = Machine::new();
    assert_eq!(
        machine.run("mkdir -Z d"),
        "mkdir: option '-Z' is not supported: no SELinux here\nTry 'mkdir --help' for more information.\n[1]\n"
    );
    assert_eq!(
        machine.run("find . -ok rm ;"),
        "find: -ok is not supported: nobody is there to be asked\n[1]\n"
    );
    assert!(machine.run("ls --help").starts_with("Usage: ls "));
    assert_eq!(machine.run("ls --version"), "ls (jp, like GNU ls)\n");
}
