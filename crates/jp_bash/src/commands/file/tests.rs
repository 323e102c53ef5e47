//! File commands on a real virtual file system: what oracle cases cannot reach.

use jp_bash_system::{Follow, System};

use super::machine::{Machine, is_file};
use crate::vfs::{HostDir, HostMode, Mount};

fn mount(machine: &mut Machine, mode: HostMode) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let host = HostDir::open(dir.path()).unwrap();
    machine.mount("/mnt", Mount::Host(host, mode));
    dir
}

#[test]
fn a_tree_deeper_than_the_longest_path_is_removed() {
    let mut machine = Machine::new();
    for _ in 0..5_000 {
        machine.mkdir(b"d", 0o777).unwrap();
        machine.cd(b"d");
    }
    machine.put("f", "x");
    machine.cd(b"/tmp/w");
    assert_eq!(machine.run("rm -rf d"), "");
    assert_eq!(machine.run("ls -A"), "");
    assert!(machine.vfs.held() < 20_000);
}

#[test]
fn moving_between_mounts_copies_and_removes() {
    let mut machine = Machine::new();
    let dir = mount(&mut machine, HostMode::ReadWrite);
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
    assert!(is_file(&mut machine, "g"));
    assert_eq!(
        machine.run("ln g /mnt/g"),
        "ln: failed to create hard link '/mnt/g' => 'g': Invalid cross-device link\n[1]\n"
    );
}

#[test]
fn a_read_only_mount_is_named_as_such() {
    let mut machine = Machine::new();
    let dir = mount(&mut machine, HostMode::ReadOnly);
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
    assert!(machine.stat(b"c/b", Follow::Yes).is_ok());
}

#[test]
fn temporary_names_do_not_collide() {
    let mut machine = Machine::new();
    let names: std::collections::BTreeSet<String> =
        (0..100).map(|_| machine.run("mktemp tXXX")).collect();
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
