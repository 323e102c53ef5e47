//! `.` and `source`.

use std::sync::Arc;

use jp_bash_system::{FileKind, Follow, System};

use super::args::{Getopt, operand};
use crate::Shell;
use crate::args::Args;
use crate::flow::Flow;
use crate::frames::{Frame, FrameKind};
use crate::options::Opt;
use crate::run::script::Text;
use crate::signals;
use crate::vars::known;

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let name = operand(args, 0).to_vec();
    let usage = [&*name, b" filename [arguments]"].concat();
    let usage = String::from_utf8_lossy(&usage).into_owned();
    let mut options = Getopt::new(args, "");
    if let Err(bad) = options.next() {
        return shell.bad_option(&name, &bad, &usage);
    }
    let rest = options.rest();
    let Some(file) = rest.first() else {
        shell.complain_as(&name, b"filename argument required")?;
        return shell.usage(&name, &usage);
    };
    let path = find(shell, file)?;
    let text = match shell.read_script(&path)? {
        Ok(text) => text,
        Err(errno) => {
            if shell.options.has(Opt::Posix) {
                shell.complain_as(&name, &[file, &b": file not found"[..]].concat())?;
                return Err(Flow::Exit(1));
            }
            let text = if errno == jp_bash_system::Errno::IsDir {
                [&name, &b": "[..], file, b": is a directory"].concat()
            } else {
                [file, &b": "[..], errno.text().as_bytes()].concat()
            };
            shell.complain(&text)?;
            return Ok(1);
        }
    };
    let given = (rest.len() > 1).then(|| Args::new(rest.get(1..).unwrap_or_default().to_vec()));
    shell.source_text(&path, &text, given)
}

/// Finds a file without a slash on the PATH, then in the working directory.
fn find(shell: &mut Shell<'_>, file: &[u8]) -> Result<Vec<u8>, Flow> {
    if file.contains(&b'/') || !shell.options.has(Opt::SourcePath) {
        return Ok(file.to_vec());
    }
    let path = shell.var_text(known::PATH)?;
    let path = path.map_or(Vec::new(), |path| path.as_slice().to_vec());
    for dir in path.split(|byte| *byte == b':') {
        let candidate = match dir {
            b"" => file.to_vec(),
            dir => [dir, b"/", file].concat(),
        };
        if shell
            .stat(&candidate, Follow::Yes)
            .is_ok_and(|stat| stat.kind == FileKind::Regular)
        {
            return Ok(candidate);
        }
    }
    Ok(file.to_vec())
}

impl Shell<'_> {
    /// Runs the text of a sourced file in this shell.
    pub(crate) fn source_text(
        &mut self,
        path: &[u8],
        text: &[u8],
        args: Option<Args>,
    ) -> Result<i32, Flow> {
        self.kernel.budget.enter()?;
        let source: Arc<[u8]> = Arc::from(path);
        self.frames.push(Frame {
            kind: FrameKind::Source,
            name: Arc::from(&b"source"[..]),
            source: Arc::clone(&source),
            call_line: self.line,
            args: Vec::new(),
            options: None,
        });
        let line = self.line;
        let given = args.clone();
        let outer = args.map(|args| std::mem::replace(&mut self.args, args));
        self.trace_level += 1;
        let result = self.with_room(|shell| {
            shell.run_text(&Text {
                text,
                source,
                first_line: 1,
                part: "source",
            })
        });
        self.trace_level -= 1;
        if self.traps.get(signals::RETURN).is_some()
            && matches!(result, Ok(_) | Err(Flow::Return(_)))
        {
            self.run_return_trap()?;
        }
        self.frames.pop();
        self.line = line;
        if let Some(outer) = outer {
            // `set --` in the file stays, outside functions; `shift` does not.
            let changed = given.is_some_and(|given| !given.same_list(&self.args));
            if !changed || self.vars.function_scope().is_some() {
                self.args = outer;
            }
        }
        self.kernel.budget.leave();
        match result {
            Err(Flow::Return(status)) => Ok(status),
            other => other,
        }
    }
}
