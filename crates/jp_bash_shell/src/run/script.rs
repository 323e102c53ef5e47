//! Text to run: scripts, `eval`, sourced files, programs with `#!`.

use std::rc::Rc;
use std::sync::Arc;

use jp_bash_syntax::error::{SyntaxError, SyntaxErrorKind};
use jp_bash_syntax::parser::{Asked, NODE, ParseOptions, Parser, Patience};
use jp_bash_system::{Budget, Errno, Limit, OpenHow, PIECE, Stop, SysError, System};

use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::redirect::read_whole;
use crate::run::Found;

/// Parts of one command line at most, whatever the memory limit is.
const MAX_NODES: u32 = 1_000_000;

/// A run that is asked, while a text is read, whether there is time to read on.
struct Reads(Rc<Budget>);

impl Patience for Reads {
    fn goes_on(&self) -> bool {
        self.0.work_bytes(PIECE).is_ok()
    }
}

/// How a text is run.
pub(crate) struct Text<'a> {
    pub(crate) text: &'a [u8],
    /// Where its functions say they come from.
    pub(crate) source: Arc<[u8]>,
    pub(crate) first_line: u32,
    /// What stands before `line N` in a syntax error: `-c`, `eval`, or nothing.
    pub(crate) part: &'static str,
}

impl Shell<'_> {
    /// Runs a text as `eval` does.
    pub(crate) fn eval_text(&mut self, text: &[u8]) -> Result<i32, Flow> {
        let source = match self.frames.last() {
            Some(frame) => Arc::clone(&frame.source),
            None => Arc::from(&b"environment"[..]),
        };
        let first_line = self.line;
        self.trace_level = self.trace_level.wrapping_add(1);
        self.kernel.budget.enter()?;
        let result = self.with_room(|shell| {
            shell.run_text(&Text {
                text,
                source,
                first_line: u32::max(first_line, 1),
                part: "eval",
            })
        });
        self.kernel.budget.leave();
        self.trace_level = self.trace_level.wrapping_sub(1);
        result
    }

    /// Returns the options the parser reads with now.
    pub(crate) fn parse_options(&self) -> ParseOptions {
        ParseOptions {
            extglob: self.options.has(Opt::ExtGlob),
            braces: self.options.has(Opt::BraceExpand),
            posix: self.options.has(Opt::Posix),
            max_stack: self.parser_stack(),
            asked: self.asked(),
            ..ParseOptions::default()
        }
    }

    /// Returns what the parser asks whether there is time to read on.
    pub(crate) fn asked(&self) -> Asked {
        Asked(Some(Rc::new(Reads(Rc::clone(&self.kernel.budget)))))
    }

    /// Runs a text line by line, whose lines count from its own first one.
    pub(crate) fn run_text(&mut self, text: &Text<'_>) -> Result<i32, Flow> {
        let shift = std::mem::take(&mut self.line_shift);
        let result = self.run_lines(text);
        self.line_shift = shift;
        result
    }

    /// Runs a text line by line: what a line sets counts for the next, and an error only spoils what follows.
    fn run_lines(&mut self, text: &Text<'_>) -> Result<i32, Flow> {
        let mut parser = Parser::new(
            text.text,
            ParseOptions {
                source: Arc::clone(&text.source),
                first_line: text.first_line,
                ..self.parse_options()
            },
        );
        self.shows_command |= memchr::memmem::find(text.text, b"BASH_COMMAND").is_some();
        let mut status = 0;
        let mut read = 0;
        loop {
            let options = parser.options_mut();
            options.extglob = self.options.has(Opt::ExtGlob);
            options.braces = self.options.has(Opt::BraceExpand);
            options.posix = self.options.has(Opt::Posix);
            let expand = self.options.has(Opt::ExpandAliases) && !self.aliases.is_empty();
            let aliases = Arc::clone(&self.aliases);
            let lookup = |name: &[u8]| {
                if expand {
                    aliases.get(name).cloned()
                } else {
                    None
                }
            };
            let most = self.kernel.budget.memory_left() / NODE;
            parser.options_mut().max_nodes =
                u32::try_from(most).unwrap_or(MAX_NODES).min(MAX_NODES);
            let kernel = Rc::clone(&self.kernel);
            let known = kernel.names.borrow().cost();
            let next = self.with_command_room(|shell| {
                parser.options_mut().max_stack = shell.parser_stack();
                parser.next(&mut kernel.names.borrow_mut(), &lookup)
            });
            let held = u64::from(parser.nodes()) * NODE;
            let new_names = kernel.names.borrow().cost() - known;
            if new_names > 0 {
                kernel.budget.reserve_kept(new_names)?;
            }
            for (line, message) in parser.take_warnings() {
                let outer = std::mem::replace(&mut self.line, line);
                self.complain(&message)?;
                self.line = outer;
            }
            let end = parser.position().min(text.text.len());
            let shown = text.text.get(read..end).unwrap_or_default();
            if self.options.has(Opt::Verbose) && !shown.is_empty() {
                self.print_error(shown)?;
                if !shown.ends_with(b"\n") {
                    self.print_error(b"\n")?;
                }
            }
            read = parser.position();
            let list = match next {
                Ok(Some(list)) => {
                    if self.options.has(Opt::History) && text.part.is_empty() {
                        self.note_line(shown)?;
                    }
                    list
                }
                Ok(None) => return Ok(status),
                Err(error) => return self.syntax_error(&error, text.part),
            };
            self.kernel.budget.reserve(held)?;
            self.kernel.sinks.executing();
            let result = self.run_list(&list);
            self.kernel.budget.release(held);
            drop(list);
            status = match result {
                Err(Flow::Abandon(status)) => {
                    self.status = status;
                    status
                }
                result => result?,
            };
            if self.options.has(Opt::OneCmd) {
                return Err(Flow::Exit(status));
            }
        }
    }

    /// Adds a line to the history; one of several lines becomes one.
    fn note_line(&mut self, shown: &[u8]) -> Result<(), Flow> {
        let lines = shown.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
        let mut whole: Vec<u8> = Vec::new();
        for line in lines {
            let joint: &[u8] = match whole.last() {
                None => b"",
                Some(b';' | b'|' | b'&' | b'{' | b'(') => b" ",
                _ if [&b" do"[..], b"then", b"else"]
                    .iter()
                    .any(|word| whole.ends_with(word)) =>
                {
                    b" "
                }
                Some(_) => b"; ",
            };
            whole.extend_from_slice(joint);
            whole.extend_from_slice(line);
        }
        if whole.is_empty() || whole.starts_with(b"#") {
            return Ok(());
        }
        self.add_history(&whole)
    }

    fn syntax_error(&mut self, error: &SyntaxError, part: &str) -> Result<i32, Flow> {
        // The parser may have stopped because the run must.
        self.kernel.budget.look()?;
        self.print_syntax_error(error, part)?;
        let limit = match error.kind {
            SyntaxErrorKind::Limit => Some(Limit::Depth),
            SyntaxErrorKind::Memory => Some(Limit::Memory),
            _ => None,
        };
        if let Some(limit) = limit {
            return Err(Flow::Stop(Stop::Limit(limit)));
        }
        match part {
            // A sourced or evaluated text fails alone.
            "eval" | "source" => {
                self.status = error.status().unwrap_or(2);
                Ok(self.status)
            }
            _ => {
                self.status = match error.in_substitution && part == "-c" {
                    true => 127,
                    false => error.status().unwrap_or(self.status),
                };
                Err(Flow::Exit(self.status))
            }
        }
    }

    /// Prints a syntax error, each message with its own line.
    fn print_syntax_error(&mut self, error: &SyntaxError, part: &str) -> Result<(), Flow> {
        let name = self
            .frames
            .last()
            .map(|frame| Arc::clone(&frame.source))
            .filter(|source| !source.is_empty())
            .unwrap_or_else(|| Arc::clone(&self.arg0));
        let part = match part {
            "source" | "" => String::new(),
            part => format!(" {part}:"),
        };
        for (line, message) in &error.messages {
            let mut text = name.to_vec();
            text.extend_from_slice(format!(":{part} line {line}: ").as_bytes());
            text.extend_from_slice(message);
            text.push(b'\n');
            self.print_error(&text)?;
        }
        Ok(())
    }

    /// Reports an error in a command substitution.
    pub(super) fn report_syntax_error(
        &mut self,
        error: &SyntaxError,
        _substitution: bool,
    ) -> Result<(), Flow> {
        self.print_syntax_error(error, "command substitution")
    }

    /// Reads a whole file of the file system.
    pub(crate) fn read_script(&mut self, path: &[u8]) -> Result<Result<Vec<u8>, Errno>, Flow> {
        let fd = match self.open(path, OpenHow::READ) {
            Ok(fd) => fd,
            Err(SysError::Errno(errno)) => return Ok(Err(errno)),
            Err(SysError::Stop(stop)) => return Err(stop.into()),
        };
        let mut probe = [0; 1];
        let first = self.read(fd, &mut probe);
        let bytes = match first {
            Ok(0) => Ok(Vec::new()),
            Ok(_) => match read_whole(self, fd) {
                Ok(rest) => {
                    let mut bytes = probe.to_vec();
                    bytes.extend(rest);
                    Ok(bytes)
                }
                Err(flow) => {
                    self.close(fd);
                    return Err(flow);
                }
            },
            Err(SysError::Errno(errno)) => Err(errno),
            Err(SysError::Stop(stop)) => return Err(stop.into()),
        };
        self.close(fd);
        Ok(bytes)
    }

    /// Runs a file as a program: by its `#!` line, or as a script.
    pub(super) fn run_file(&mut self, path: &[u8], words: Vec<Vec<u8>>) -> Result<i32, Flow> {
        let text = match self.read_script(path)? {
            Ok(text) => text,
            Err(errno) => {
                self.complain(&[path, b": ", errno.text().as_bytes()].concat())?;
                return Ok(126);
            }
        };
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let Some(rest) = line.strip_prefix(b"#!") else {
            if line.iter().take(80).any(|byte| *byte == 0) {
                self.complain(
                    &[path, b": cannot execute binary file: Exec format error"].concat(),
                )?;
                return Ok(126);
            }
            return self.run_nested_script(path, &text, words);
        };
        let rest = rest.trim_ascii();
        let (program, argument) = match rest.iter().position(|byte| matches!(byte, b' ' | b'\t')) {
            Some(at) => (
                rest.get(..at).unwrap_or_default(),
                Some(rest.get(at..).unwrap_or_default().trim_ascii()),
            ),
            None => (rest, None),
        };
        self.run_by(path, program, argument, words)
    }

    /// Runs a script by the program its first line names.
    fn run_by(
        &mut self,
        path: &[u8],
        program: &[u8],
        argument: Option<&[u8]>,
        words: Vec<Vec<u8>>,
    ) -> Result<i32, Flow> {
        let found = match self.program_at(program)? {
            // Scripts name the places of a real machine; ours are all in one directory.
            Found::Missing => {
                let base = program
                    .rsplit(|byte| *byte == b'/')
                    .next()
                    .unwrap_or_default();
                let known = matches!(
                    program.strip_suffix(base),
                    Some(b"/usr/local/bin/" | b"/bin/" | b"/usr/bin/")
                );
                if known {
                    self.find_program(base)?
                } else {
                    Found::Missing
                }
            }
            found => found,
        };
        let mut call = vec![program.to_vec()];
        call.extend(argument.map(<[u8]>::to_vec));
        call.push(path.to_vec());
        call.extend(words.into_iter().skip(1));
        if matches!(found, Found::Missing | Found::NotExecutable(..)) {
            let text = [path, b": cannot execute: required file not found"].concat();
            self.complain(&text)?;
            return Ok(127);
        }
        self.kernel.budget.enter()?;
        let result = self.with_room(|shell| shell.run_program(call, found));
        self.kernel.budget.leave();
        result
    }
}
