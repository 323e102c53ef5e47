//! A program that runs beside us, says where it is reached, and is ended when nobody needs it any more.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};

use anyhow::{Context, Result, bail};

use crate::process::Run;

/// Ends with this.
pub(crate) struct Started {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Started {
    pub(crate) fn of(run: &Run) -> Result<Self> {
        let mut child = run.start()?;
        let output = child.stdout.take().context("a program without output")?;
        Ok(Self {
            child,
            output: BufReader::new(output),
        })
    }

    /// Waits for the next line of its output.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("a program ended too early; what it said of it stands above");
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // One that has ended by itself cannot be ended again.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
