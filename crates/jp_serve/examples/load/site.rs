//! A server with a workspace and places of its own.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

pub(crate) const TOKEN: &str = "load-load-load-load-load-load-load";

const CONFIG: &str = "\
[conversation.tools.task]
source = \"builtin.bash\"
task = \"always\"
";

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
        fs::create_dir_all(&workspace).unwrap();
        fs::write(workspace.join("config.toml"), CONFIG).unwrap();
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
