//! `jp bash`: what runs, what it sees, how it ends.

use crate::kit::Sandbox;

#[test]
fn streams_and_exit_code_are_the_scripts_own() {
    let sandbox = Sandbox::new("");
    let ran = sandbox
        .jp(&["bash", "-c", "echo out; echo err >&2; exit 7"])
        .exits(7);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("out\n", "err\n")
    );
    let ran = sandbox
        .jp(&["bash", "-c", "echo $0 $1 $#", "name", "a", "-b"])
        .exits(0);
    assert_eq!(ran.stdout, "name a 2\n");
    sandbox
        .jp(&["bash", "-c", "if"])
        .exits(2)
        .warns("syntax error");
    sandbox
        .jp(&["bash", "-c", "nonsense"])
        .exits(127)
        .warns("nonsense: command not found");
}

#[test]
fn scripts_come_from_files_and_from_standard_input() {
    let sandbox = Sandbox::new("");
    sandbox.write(
        "workspace/s.sh",
        "echo $0 has $#: $2\nread line; echo \"[$line]\"\n",
    );
    let ran = sandbox
        .fed(&["bash", "s.sh", "a", "b c"], b"hello\n")
        .exits(0);
    assert_eq!(ran.stdout, "/run/jp/s.sh has 2: b c\n[hello]\n");
    let ran = sandbox
        .fed(&["bash", "-", "x"], b"echo from stdin $1")
        .exits(0);
    assert_eq!(ran.stdout, "from stdin x\n");
    sandbox
        .jp(&["bash", "missing.sh"])
        .exits(127)
        .warns("missing.sh");
}

#[test]
fn nothing_of_the_machine_is_there_unless_it_is_mounted() {
    let sandbox = Sandbox::new("");
    sandbox
        .jp(&["bash", "-c", "ls /workspace notes.txt"])
        .exits(2);
    let ran = sandbox
        .jp(&["bash", "-c", "env | sort; whoami; hostname"])
        .exits(0);
    assert!(!ran.stdout.contains("JP_"), "{}", ran.stdout);
    let here = ".:/src";
    sandbox
        .jp(&["bash", "--mount", here, "-c", "cat /src/notes.txt"])
        .exits(0)
        .says("first note");
    sandbox
        .jp(&["bash", "--mount", here, "-c", "echo x > /src/new"])
        .exits(1)
        .warns("Read-only file system");
    sandbox
        .jp(&["bash", "--mount", ".:/src:rw", "-c", "echo x > /src/new"])
        .exits(0);
    assert_eq!(
        std::fs::read_to_string(sandbox.path("workspace/new")).unwrap(),
        "x\n"
    );
}

#[test]
fn a_directory_that_holds_the_policy_or_the_record_is_not_mounted() {
    let sandbox = Sandbox::new("");
    std::os::unix::fs::symlink(sandbox.path("home"), sandbox.path("workspace/link")).unwrap();
    std::fs::create_dir_all(sandbox.path("home/.config")).unwrap();
    for host in ["../home", "..", "link", "../home/.config"] {
        for mode in ["ro", "rw", "overlay"] {
            let mount = format!("{host}:/x:{mode}");
            sandbox
                .jp(&["bash", "--mount", &mount, "-c", "echo ran"])
                .exits(2)
                .warns("which no script may reach");
        }
    }
    std::fs::create_dir_all(sandbox.path("home/notes")).unwrap();
    sandbox
        .jp(&["bash", "--mount", "../home/notes:/x:rw", "-c", "echo ran"])
        .exits(0)
        .says("ran");
}

#[test]
fn an_overlay_keeps_writes_apart_until_they_are_applied() {
    let sandbox = Sandbox::new("");
    let script = "cd /src; echo x > new; rm notes.txt; echo y >> .jp/config.toml";
    let words = ["bash", "--mount", ".:/src:overlay", "--diff", "-c", script];
    sandbox
        .jp(&words)
        .exits(0)
        .warns("A /src/new")
        .warns("D /src/notes.txt")
        .warns("M /src/.jp/config.toml");
    assert!(
        sandbox.path("workspace/notes.txt").exists() && !sandbox.path("workspace/new").exists()
    );
    let words = ["bash", "--mount", ".:/src:overlay", "--apply", "-c", script];
    sandbox.jp(&words).exits(0);
    assert!(!sandbox.path("workspace/notes.txt").exists());
    assert_eq!(
        std::fs::read_to_string(sandbox.path("workspace/new")).unwrap(),
        "x\n"
    );
}

#[test]
fn limits_are_set_by_name_and_named_when_they_are_reached() {
    let sandbox = Sandbox::new("");
    let ran = sandbox
        .jp(&[
            "bash",
            "--limit",
            "commands=3",
            "-c",
            "echo 1; echo 2; echo 3; echo 4",
        ])
        .exits(134)
        .warns("limit reached: commands (3)")
        .warns("hint: raise it with `--limit commands=N`");
    assert_eq!(ran.stdout, "1\n2\n3\n");
    sandbox
        .jp(&["bash", "--limit", "time=1", "-c", "echo on; sleep 60"])
        .exits(124)
        .says("on")
        .warns("limit reached: time");
    sandbox
        .jp(&["bash", "--limit", "nonsense=3", "-c", ":"])
        .exits(2)
        .warns("commands, loops");
    let json = [
        "bash",
        "--json",
        "--limit",
        "output=4",
        "-c",
        "echo ok; echo too much",
    ];
    let ran = sandbox.jp(&json).exits(134);
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&said["stdout"], &said["error"]),
        (&"ok\nt".into(), &"resource_limit".into())
    );
}

#[test]
fn a_network_that_was_not_granted_is_refused_with_its_reason() {
    let sandbox = Sandbox::new("");
    sandbox
        .jp(&["bash", "-c", "curl -sS http://127.0.0.1:1/"])
        .exits(7)
        .warns("not granted");
    let ran = sandbox
        .jp(&["bash", "-c", "curl -s http://127.0.0.1:1/"])
        .exits(7);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_granted_host_is_reached_and_no_other() {
    use std::io::{Read, Write};
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let served = std::thread::spawn(move || {
        let (mut socket, _) = server.accept().unwrap();
        let mut head = [0; 1024];
        let read = socket.read(&mut head).unwrap();
        socket
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n")
            .unwrap();
        String::from_utf8_lossy(&head[..read]).into_owned()
    });
    let sandbox = Sandbox::new("");
    let script = format!(
        "curl -sS http://localhost:1/ || echo denied $?; curl -s http://{address}/path | tr a-z A-Z"
    );
    let ran = sandbox
        .jp(&["bash", "--net", &address, "-c", &script])
        .exits(0)
        .warns("does not cover");
    assert_eq!(ran.stdout, "denied 7\nHELLO\n");
    assert!(served.join().unwrap().starts_with("GET /path HTTP/1.1\r\n"));
    sandbox
        .jp(&["bash", "--net", "http://x/", "-c", ":"])
        .exits(2)
        .warns("--net");
}

#[test]
fn a_limit_of_the_tool_is_raised_where_the_tool_has_it() {
    let sandbox = Sandbox::new("");
    let script = "commands=while :; do :; done";
    let ran = sandbox.call(&["bash", script]);
    assert!([Some(124), Some(134)].contains(&ran.code), "{ran:#?}");
    let ran = ran.warns("limit reached: ").warns("`limits.");
    assert!(!ran.stderr.contains("--limit"), "{ran:#?}");
}
