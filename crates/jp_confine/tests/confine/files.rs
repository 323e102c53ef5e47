//! Section B of the security list, for processes: which files a program sees.

use std::{fs, os::unix::fs::symlink};

use jp_confine::{ConfineError, Confinement};
use nix::{sys::stat::Mode, unistd::mkfifo};

use crate::bench::{directory, launcher, nothing, prepare, sh, words};

#[test]
fn only_the_system_and_the_grant_are_seen() {
    let (_held, place) = directory();
    fs::create_dir(place.join("granted")).unwrap();
    fs::write(place.join("granted/file"), "hello").unwrap();
    fs::write(place.join("other"), "secret").unwrap();
    let confinement = Confinement {
        read: vec![place.join("granted")],
        ..nothing()
    };
    let p = place.display();
    let done = sh(
        &confinement,
        &format!("cat {p}/granted/file; ls {p}; cat {p}/other"),
    );
    assert_eq!(done.out, "hellogranted\n");
    assert!(done.err.contains("No such file"), "{done:?}");
    let root = sh(&nothing(), "ls /");
    let allowed = "bin dev etc lib lib32 lib64 libx32 nix proc sbin tmp usr";
    for name in root.out.split_whitespace() {
        assert!(
            allowed.split(' ').any(|known| known == name),
            "{name} is in the root"
        );
    }
}

#[test]
fn b24_secrets_sockets_and_devices_of_the_host_are_not_there() {
    let paths = "/etc/shadow /etc/ssl/private /root /home /run /var /sys /boot /opt /srv /mnt \
        /dev/tty /dev/ptmx /dev/mem /dev/kmsg /dev/sda /dev/vda /dev/pts /proc/1/root/home /proc/self/root/var";
    for path in paths.split_whitespace() {
        let done = sh(&nothing(), &format!("test -e {path}"));
        assert_eq!(done.code, 1, "{path} exists: {done:?}");
    }
    let home = std::env::var("HOME").unwrap_or_else(|_| "/root".into());
    assert_ne!(sh(&nothing(), &format!("ls '{home}'/.[a-z]*")).code, 0);
}

#[test]
fn b24_proc_shows_the_calls_own_processes_and_leaks_nothing() {
    let done = sh(
        &nothing(),
        "cat /proc/1/environ; ls -d /proc/[0-9]* | wc -l; readlink /proc/1/exe; \
        readlink /proc/1/fd/0; tr '\\0' ' ' < /proc/self/environ",
    );
    let lines: Vec<_> = done.out.lines().collect();
    assert!(lines[0].parse::<u32>().unwrap() <= 5, "{done:?}");
    assert_eq!(lines[1], "PATH=/usr/bin:/bin ", "{done:?}");
    assert_eq!(lines.len(), 2, "{done:?}");
}

#[test]
fn b24_settings_of_the_machine_cannot_be_changed() {
    for file in [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/pid_max",
        "/proc/sysrq-trigger",
        "/proc/sys/user/max_user_namespaces",
        "/proc/self/oom_score_adj",
    ] {
        let done = sh(
            &nothing(),
            &format!("cat {file} > /tmp/value; cat /tmp/value > {file}"),
        );
        assert_ne!(done.code, 0, "{file} was written");
    }
}

#[test]
fn b24_a_fifo_a_socket_and_a_device_cannot_be_granted() {
    let (_held, place) = directory();
    mkfifo(&place.join("fifo"), Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.join("socket")).unwrap();
    for path in [place.join("fifo"), place.join("socket")] {
        let mut confined = prepare(
            &Confinement {
                read: vec![path],
                ..nothing()
            },
            "echo ran",
        );
        let output = confined.command.output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0));
        let failure = confined.report.failure().unwrap();
        assert!(
            failure
                .to_string()
                .contains("neither a file nor a directory"),
            "{failure}"
        );
    }
    for path in ["/", "/dev/null", "/proc", "/sys/kernel"] {
        let confinement = Confinement {
            write: vec![path.into()],
            ..nothing()
        };
        let refused = launcher().command(&confinement, "true".as_ref(), &[]);
        assert!(matches!(refused, Err(ConfineError::Grant { .. })), "{path}");
    }
}

#[test]
fn b18_paths_that_are_not_plain_cannot_be_granted() {
    let deep = format!("/tmp{}", "/x".repeat(300));
    for path in [
        "",
        "relative",
        "/tmp/../etc",
        "/tmp\0x",
        "/no/such/path",
        &deep,
    ] {
        let confinement = Confinement {
            read: vec![path.into()],
            ..nothing()
        };
        let refused = launcher().command(&confinement, "true".as_ref(), &[]);
        assert!(matches!(refused, Err(ConfineError::Grant { .. })), "{path}");
    }
}

#[test]
fn b19_a_sibling_with_the_same_prefix_is_not_granted() {
    let (_held, place) = directory();
    for name in ["data", "data-secret"] {
        fs::create_dir(place.join(name)).unwrap();
        fs::write(place.join(name).join("file"), name).unwrap();
    }
    let confinement = Confinement {
        read: vec![place.join("data")],
        ..nothing()
    };
    let p = place.display();
    assert_eq!(
        sh(
            &confinement,
            &format!("cat {p}/data/file {p}/data-secret/file")
        )
        .out,
        "data"
    );
}

#[test]
fn b20_a_link_in_the_grant_does_not_lead_out() {
    let (_held, place) = directory();
    fs::create_dir(place.join("granted")).unwrap();
    fs::write(place.join("secret"), "secret").unwrap();
    symlink("../secret", place.join("granted/relative")).unwrap();
    symlink(place.join("secret"), place.join("granted/absolute")).unwrap();
    symlink("/proc/1/root/etc/shadow", place.join("granted/proc")).unwrap();
    let confinement = Confinement {
        write: vec![place.join("granted")],
        ..nothing()
    };
    let done = sh(
        &confinement,
        &format!(
            "cd {}/granted; for f in relative absolute proc; do cat $f; echo no > $f; done; exit 0",
            place.display()
        ),
    );
    assert!(
        !done.out.contains("secret") && !done.out.contains("root:"),
        "{done:?}"
    );
    assert_eq!(fs::read_to_string(place.join("secret")).unwrap(), "secret");
}

#[test]
fn b21_a_grant_swapped_for_a_link_after_the_check_is_refused() {
    let (_held, place) = directory();
    fs::create_dir_all(place.join("dir/inner")).unwrap();
    fs::create_dir_all(place.join("other/inner")).unwrap();
    let confinement = Confinement {
        read: vec![place.join("dir/inner")],
        ..nothing()
    };
    let mut confined = prepare(&confinement, "echo ran");
    fs::rename(place.join("dir"), place.join("gone")).unwrap();
    symlink("other", place.join("dir")).unwrap();
    let output = confined.command.output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0));
    assert!(matches!(
        confined.report.failure(),
        Some(ConfineError::Grant { .. })
    ));
}

#[test]
fn b28_a_grant_that_is_a_link_is_refused_and_the_target_is_named() {
    let (_held, place) = directory();
    fs::create_dir(place.join("real")).unwrap();
    symlink("real", place.join("link")).unwrap();
    let confinement = Confinement {
        read: vec![place.join("link")],
        ..nothing()
    };
    let error = launcher()
        .command(&confinement, "true".as_ref(), &words(&[]))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains(&format!("grant `{}/real`", place.display())),
        "{error}"
    );
}
