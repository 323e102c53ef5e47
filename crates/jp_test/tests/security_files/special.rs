//! B24: what is no plain file is not opened, and nothing waits for it.

use std::{
    os::unix::{fs::symlink, net::UnixListener},
    time::{Duration, Instant},
};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

#[tokio::test]
async fn b24_pipes_and_sockets_are_refused_at_once() {
    for access in ACCESSES {
        let kit = new_kit(Host::Pooling).access(access).file("in.txt", "in");
        mknodat(
            CWD,
            kit.path("pipe"),
            FileType::Fifo,
            Mode::from_raw_mode(0o666),
            0,
        )
        .unwrap();
        let _socket = UnixListener::bind(kit.path("socket")).unwrap();
        symlink("pipe", kit.path("link")).unwrap();
        let start = Instant::now();
        for name in ["pipe", "socket", "link"] {
            let path = format!("/workspace/{name}");
            refused(
                &kit,
                json!([
                    ["read", path],
                    ["first", path],
                    ["keep", path],
                    ["write", path, "x"],
                    ["append", path, "x"],
                    ["truncate", path],
                    ["list", path],
                ]),
            )
            .await;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "it waited");
        let found = kit
            .files(&json!([
                ["list", "/workspace"],
                ["read", "/workspace/in.txt"]
            ]))
            .await;
        assert!(found[0].contains("pipe"), "listing them is fine: {found:?}");
        assert_eq!(found[1], "ok: in");
    }
}

#[tokio::test]
async fn b24_a_pipe_with_a_writer_is_refused_too() {
    let kit = new_kit(Host::Pooling);
    mknodat(
        CWD,
        kit.path("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o666),
        0,
    )
    .unwrap();
    let mut both = fs::OpenOptions::new();
    let mut writer = both.read(true).write(true).open(kit.path("pipe")).unwrap();
    std::io::Write::write_all(&mut writer, b"for somebody else").unwrap();
    let told = refused(
        &kit,
        json!([
            ["first", "/workspace/pipe"],
            ["write", "/workspace/pipe", "x"]
        ]),
    )
    .await;
    assert!(told[0].contains("ermi"), "{told:?}");
}

#[tokio::test]
async fn b24_the_kernels_files_are_out_of_reach() {
    for access in ACCESSES {
        let kit = new_kit(Host::Pooling).access(access);
        let mut tries = Vec::new();
        for (at, target) in [
            "/proc/self/environ",
            "/proc/self/root/etc/passwd",
            "/proc/self/fd/0",
            "/proc/self/cwd",
            "/proc/self/mem",
            "/dev/null",
            "/dev/zero",
            "/dev/tty",
            "/sys/kernel",
        ]
        .iter()
        .enumerate()
        {
            symlink(target, kit.path(&format!("link{at}"))).unwrap();
            for path in [
                (*target).to_owned(),
                format!("/workspace/link{at}"),
                format!("/workspace{target}"),
            ] {
                tries.push(json!(["first", path]));
                tries.push(json!(["list", path]));
                tries.push(json!(["stat", path]));
            }
        }
        refused(&kit, Value::from(tries)).await;
    }
}

/// Calls the probe that looks around; nothing of the host may be there.
#[tokio::test]
async fn a_guest_sees_no_environment_and_no_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for host in Host::ALL {
        let seen = new_kit(host)
            .answer("environment", &json!({"address": address}))
            .await;
        let seen: Value = serde_json::from_str(&seen).unwrap();
        assert_eq!(seen["variables"], json!([]));
        assert_eq!(seen["arguments"], json!([]));
        assert_eq!(seen["stdin"], "");
        for tried in ["connect", "listen", "udp", "lookup"] {
            assert!(
                seen[tried].is_string() && seen[tried] != "ok",
                "{tried}: {seen}"
            );
        }
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody connected");
}

#[tokio::test]
async fn without_a_grant_there_is_no_file_at_all() {
    let kit = new_kit(Host::Pooling)
        .access(Access::None)
        .file("in.txt", "in");
    let tries = [
        "/",
        ".",
        "/workspace",
        "/workspace/in.txt",
        "in.txt",
        "/tmp",
        "/etc/passwd",
    ];
    for path in tries {
        refused(
            &kit,
            json!([["read", path], ["list", path], ["write", path, "x"]]),
        )
        .await;
    }
    let ended = kit.call("outside", &json!({"path": "/etc/passwd"})).await;
    let Ok(jp_tool::Outcome::Error { message, .. }) = ended.result else {
        panic!("{ended:?}")
    };
    assert!(
        message.starts_with("cannot read /etc/passwd: "),
        "{message}"
    );
}
