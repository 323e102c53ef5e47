//! A server with a workspace and places of its own.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

pub(crate) const TOKEN: &str = "load-load-load-load-load-load-load";

/// How long commands sleep, in seconds: nothing else on the machine does that.
const LONG: &str = "86399.25";

/// Guests of the test kit, and what the tool made of each is given.
const GUESTS: &[(&str, &str, &str)] = &[
    ("spin", "spin", "limits.time = 1000\n"),
    (
        "print",
        "print",
        "limits.time = 1000\nparameters.stdout.type = \"integer\"\n",
    ),
    ("trap", "trap", ""),
    ("ask", "ask", "parameters.forever.type = \"boolean\"\n"),
    (
        "spins",
        "spin",
        "task = \"always\"\nlimits.time = 60000\nparameters.ms.type = \"integer\"\n",
    ),
    ("asks", "ask", "task = \"always\"\n"),
];

fn config() -> String {
    let mut config = format!(
        "[conversation.tools.task]\nsource = \"builtin.bash\"\ntask = \"always\"\n\
         [conversation.tools.command]\nsource = \"local\"\ncommand = \"sleep {LONG}\"\nrun = \"unattended\"\n\
         task = \"always\"\nlimits.time = 60000\n"
    );
    for (name, guest, more) in GUESTS {
        config.push_str(&format!(
            "[conversation.tools.{name}]\nsource = \"local\"\nwasm = \".jp/tools/{guest}.wasm\"\nrun = \"unattended\"\n{more}"
        ));
    }
    config
}

pub(crate) struct Site {
    jp: String,
    dir: TempDir,
    child: Child,
    pub(crate) addr: SocketAddr,
}

impl Site {
    pub(crate) fn start(jp: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let workspace = dir.path().join("workspace/.jp");
        fs::create_dir_all(workspace.join("tools")).unwrap();
        for (_, guest, _) in GUESTS {
            let place = workspace.join(format!("tools/{guest}.wasm"));
            fs::copy(jp_test::guest(guest), place).unwrap();
        }
        fs::write(workspace.join("config.toml"), config()).unwrap();
        let trusted = command(jp, &dir).arg("trust").output().unwrap();
        assert!(trusted.status.success(), "{trusted:?}");
        let (child, addr) = spawn(jp, &dir);
        Self {
            jp: jp.to_owned(),
            dir,
            child,
            addr,
        }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        (self.child, self.addr) = spawn(&self.jp, &self.dir);
    }

    /// Returns the processes that the server and its tools have, itself apart, once there are so many or the time is over.
    pub(crate) fn processes_until(&self, count: usize, most: Duration) -> Vec<String> {
        let from = Instant::now();
        loop {
            let found = self.processes();
            let is_there = if count == 0 {
                found.is_empty()
            } else {
                found.len() >= count
            };
            if is_there || from.elapsed() > most {
                return found;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns what was started with the commands of this workspace, or works in one of its directories.
    fn processes(&self) -> Vec<String> {
        let own = [std::process::id(), self.child.id()].map(|id| id.to_string());
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let ids =
            ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()) && !own.contains(id));
        ids.filter_map(|id| {
            let line = fs::read(format!("/proc/{id}/cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let is_within = fs::read_link(format!("/proc/{id}/cwd"))
                .is_ok_and(|cwd| cwd.starts_with(self.dir.path()));
            // One that has ended and waits for its parent has no line.
            let is_ours = is_within
                || line.contains(&format!("sleep {LONG}"))
                || line.contains(&*self.dir.path().to_string_lossy());
            (is_ours && !line.is_empty()).then(|| format!("{id}: {line}"))
        })
        .collect()
    }

    /// Returns how much memory the server has, in KiB.
    pub(crate) fn memory(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn log_is_intact(&self) -> bool {
        let run = command(&self.jp, &self.dir)
            .args(["audit", "verify"])
            .output();
        run.unwrap().status.success()
    }

    /// Returns how many calls the log knows.
    pub(crate) fn records(&self) -> usize {
        let mut run = command(&self.jp, &self.dir);
        let output = run
            .args(["audit", "show", "--json", "--last", "1000000"])
            .output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        text.matches("\"tool\":").count()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A server that is gone already has nothing to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(jp: &str, dir: &TempDir) -> Command {
    let mut command = Command::new(jp);
    command.arg("-C").arg(dir.path().join("workspace"));
    for part in ["CONFIG", "DATA", "CACHE", "STATE"] {
        let path: PathBuf = dir.path().join(part);
        command.env(format!("XDG_{part}_HOME"), path);
    }
    command.env("JP_KEYRING", "off").env("JP_TOKEN", TOKEN);
    command
}

fn spawn(jp: &str, dir: &TempDir) -> (Child, SocketAddr) {
    let mut child = command(jp, dir)
        .args(["serve", "--http", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let addr = line
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches("/mcp");
    (child, addr.parse().unwrap())
}
