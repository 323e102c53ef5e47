//! A server on standard input and output, talked to line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::process::Run;

/// A server that was started for a talk, and ends with it.
pub(crate) struct Talk {
    child: Child,
    /// Nothing once the talk is over.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Talk {
    /// Starts a server.
    pub(crate) fn start(run: &Run) -> Result<Self> {
        let mut child = run.start_with_input()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Ok(Self {
            input: Some(input.context("a program without input")?),
            output: BufReader::new(output.context("a program without output")?),
            child,
            asked: 0,
        })
    }

    /// Asks for something and returns the result; what else the server says meanwhile is passed over.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the server ended at {method}");
            }
            let mut message: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
            if message["id"] != id {
                continue;
            }
            ensure!(message.get("error").is_none(), "{method}: {message}");
            return Ok(message["result"].take());
        }
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, method: &str) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method}))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("the talk is over")?;
        writeln!(input, "{message}").context("cannot write to the server")
    }

    /// Closes the connection, after which the server has to end by itself.
    pub(crate) fn end(mut self) -> Result<()> {
        drop(self.input.take());
        let status = self.child.wait()?;
        ensure!(status.success(), "the server failed: {status}");
        Ok(())
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // One that has ended by itself cannot be ended again.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A server that answers every line with these lines.
    fn server(answers: &str, status: u8) -> Run {
        let script =
            format!("while read -r line; do printf '%s\\n' {answers}; done; exit {status}");
        Run::new("sh", Path::new("/")).args(["-c", &script])
    }

    #[test]
    fn an_answer_is_found_among_what_else_is_said() {
        let lines = r#"'{"method":"x"}' '{"id":1,"result":{"a":2}}'"#;
        let mut talk = Talk::start(&server(lines, 0)).unwrap();
        assert_eq!(talk.ask("m", &json!({})).unwrap()["a"], 2);
        talk.end().unwrap();
    }

    #[test]
    fn errors_and_failing_servers_are_failures() {
        let mut talk = Talk::start(&server(r#"'{"id":1,"error":{"code":7}}'"#, 0)).unwrap();
        let error = talk.ask("m", &json!({})).unwrap_err().to_string();
        assert!(error.contains("\"code\":7"), "{error}");
        let talk = Talk::start(&server("x", 3)).unwrap();
        assert!(talk.end().unwrap_err().to_string().contains('3'));
        let silent = Run::new("true", Path::new("/"));
        assert!(Talk::start(&silent).unwrap().ask("m", &json!({})).is_err());
    }
}
