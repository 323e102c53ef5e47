//! Section B of the security list, for processes: which files a program can change.

use std::{fs, os::unix::fs::MetadataExt};

use jp_confine::Confinement;

use crate::bench::{directory, elsewhere, nothing, sh};

#[test]
fn b22_b23_nothing_changes_what_may_only_be_read() {
    let (_held, place) = directory();
    for name in ["read", "write"] {
        fs::create_dir(place.join(name)).unwrap();
        fs::write(place.join(name).join("file"), name).unwrap();
    }
    let confinement = Confinement {
        read: vec![place.join("read")],
        write: vec![place.join("write")],
        ..nothing()
    };
    let attacks = [
        "echo x > read/file",
        "echo x >> read/file",
        "truncate -s 0 read/file",
        "rm read/file",
        "touch read/new",
        "mkdir read/dir",
        "chmod 777 read/file",
        "mv write/file read/",
        "mv read/file read/moved",
        "mv read/file write/file2",
        "ln read/file write/hard",
        "ln write/file read/hard",
        "ln -s ../read/file write/soft; echo x > write/soft",
        "mv read write/moved",
        "rmdir read",
        "touch -d yesterday read/file",
        "mount -o remount,rw read",
        "umount read",
    ];
    for attack in attacks {
        let done = sh(&confinement, &format!("cd {}; {attack}", place.display()));
        assert_ne!(done.code, 0, "{attack}: {done:?}");
        assert_eq!(
            fs::read_to_string(place.join("read/file")).unwrap(),
            "read",
            "{attack}"
        );
        assert_eq!(
            fs::read_dir(place.join("read")).unwrap().count(),
            1,
            "{attack}"
        );
        assert_eq!(
            fs::read_to_string(place.join("write/file")).unwrap(),
            "write",
            "{attack}"
        );
        let _ = fs::remove_file(place.join("write/soft"));
        let _ = fs::remove_file(place.join("write/file2"));
    }
}

#[test]
fn system_directories_and_the_root_cannot_be_written() {
    for path in [
        "/new",
        "/usr/new",
        "/usr/bin/new",
        "/etc/new",
        "/dev/new",
        "/proc/new",
        "/bin/new",
    ] {
        let done = sh(&nothing(), &format!("echo x > {path}"));
        assert_ne!(done.code, 0, "{path}: {done:?}");
    }
    assert_ne!(sh(&nothing(), "echo x >> /etc/passwd").code, 0);
}

#[test]
fn a_write_grant_is_the_hosts_own_directory() {
    let (_held, place) = directory();
    let confinement = Confinement {
        write: vec![place.clone()],
        cwd: place.clone(),
        ..nothing()
    };
    let done = sh(
        &confinement,
        "mkdir a b; echo hi > a/new; mv a/new b/moved; ln b/moved a/linked; pwd; cat b/moved",
    );
    assert_eq!(
        (done.code, done.out.trim()),
        (0, format!("{}\nhi", place.display()).as_str()),
        "{done:?}"
    );
    let made = fs::metadata(place.join("a/linked")).unwrap();
    assert_eq!((made.mode() & 0o777, made.nlink()), (0o644, 2));
    assert_eq!(made.uid(), fs::metadata(&place).unwrap().uid());
}

#[test]
fn of_two_grants_the_longer_path_decides() {
    let (_held, place) = directory();
    fs::create_dir_all(place.join("sub")).unwrap();
    for name in ["file", "sub/file"] {
        fs::write(place.join(name), "old").unwrap();
    }
    let (outer, inner) = (vec![place.clone()], vec![place.join("sub")]);
    let cases = [
        (outer.clone(), inner.clone(), "old", "new"),
        (inner, outer, "new", "old"),
    ];
    for (read, write, file, sub) in cases {
        for name in ["file", "sub/file"] {
            fs::write(place.join(name), "old").unwrap();
        }
        let confinement = Confinement {
            read,
            write,
            cwd: place.clone(),
            ..nothing()
        };
        sh(&confinement, "printf new > file; printf new > sub/file");
        assert_eq!(fs::read_to_string(place.join("file")).unwrap(), file);
        assert_eq!(fs::read_to_string(place.join("sub/file")).unwrap(), sub);
    }
}

#[test]
fn single_files_and_etc_can_be_granted() {
    let (_held, place) = directory();
    fs::write(place.join("file with space"), "yes").unwrap();
    let read = vec![place.join("file with space"), "/etc".into(), "/usr".into()];
    let done = sh(
        &Confinement { read, ..nothing() },
        &format!(
            "cat '{}/file with space'; test -e /etc/fstab -o -e /etc/hostname && echo +etc; id -u",
            place.display()
        ),
    );
    assert!(done.out.starts_with("yes+etc"), "{done:?}");
}

#[test]
fn the_private_tmp_is_empty_usable_and_gone_afterwards() {
    let script = "ls -A /tmp; echo x > /tmp/mine; cat /tmp/mine; echo y > /dev/shm/shared && cat /tmp/shared";
    for _ in 0..2 {
        assert_eq!(sh(&nothing(), script).out, "x\ny\n");
    }
    assert!(!std::path::Path::new("/tmp/mine").exists());
}

#[test]
fn b26_files_and_the_private_tmp_are_bounded() {
    let (_held, place) = directory();
    let mut confinement = Confinement {
        write: vec![place.clone()],
        ..nothing()
    };
    confinement.limits.file_bytes = 1 << 20;
    let p = place.display();
    let done = sh(
        &confinement,
        &format!("head -c 9000000 /dev/zero > {p}/big"),
    );
    assert_ne!(done.code, 0);
    assert_eq!(fs::metadata(place.join("big")).unwrap().len(), 1 << 20);
    let done = sh(
        &confinement,
        "for i in 1 2 3; do head -c 900000 /dev/zero > /tmp/$i; done; cat /tmp/* | wc -c",
    );
    assert!(
        done.out.trim().parse::<u32>().unwrap() <= 1 << 20,
        "{done:?}"
    );
    assert!(done.err.contains("No space"), "{done:?}");
}

/// What `a_mount_in_a_read_grant_is_read_only_too` runs with a mount at `/mnt/inner`.
#[test]
fn reads_but_does_not_write_below_mnt() {
    if std::env::var_os("JP_MOUNTED").is_none() {
        return;
    }
    let confinement = Confinement {
        read: vec!["/mnt".into()],
        ..nothing()
    };
    let done = sh(
        &confinement,
        "cat /mnt/inner/file; echo x > /mnt/inner/file; echo x > /mnt/inner/new",
    );
    assert!(
        done.out == "old\n" && done.err.contains("Read-only"),
        "{done:?}"
    );
    let confinement = Confinement {
        write: vec!["/mnt".into()],
        ..nothing()
    };
    assert_eq!(
        sh(&confinement, "echo x > /mnt/inner/new; cat /mnt/inner/new").out,
        "x\n"
    );
}

#[test]
fn a_mount_in_a_read_grant_is_read_only_too() {
    let script = "mount -t tmpfs none /mnt && mkdir /mnt/inner && mount -t tmpfs none /mnt/inner && \
        echo old > /mnt/inner/file && JP_MOUNTED=1 exec \"$@\"";
    let wrapper = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
    ];
    if let Some(done) = elsewhere(
        &wrapper,
        &["--exact", "changes::reads_but_does_not_write_below_mnt"],
    ) {
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.contains("1 passed"), "{done:?}");
    }
}
