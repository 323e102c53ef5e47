//! Runs a sed script: one cycle for each line.

mod queue;
mod select;
mod substitute;

use jp_bash_regex::MatchError;
use jp_bash_system::io::{Input, complain};
use jp_bash_system::{Errno, OpenHow, Stop, System, failed};

use super::files::{Files, Sink};
use super::script::{Action, Command, Script};

/// What can end a run early, beside a [`Stop`].
#[derive(Debug)]
pub(super) enum Fault {
    Stop(Stop),
    /// A message, and the exit status.
    Fatal(String, i32),
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<MatchError> for Fault {
    fn from(error: MatchError) -> Self {
        match error {
            MatchError::Stop(stop) => Self::Stop(stop),
            error => Self::Fatal(error.to_string(), 4),
        }
    }
}

/// What happens after a command.
enum Go {
    On,
    To(usize),
    /// The cycle ends: with the pattern space printed, or not.
    End,
    EndSilently,
    /// `D`: again, without reading.
    Again,
    Quit(i32),
    QuitSilently(i32),
}

/// What waits for the end of a cycle.
enum Queued {
    Text(Vec<u8>),
    File(Vec<u8>),
    Line(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Range {
    Closed,
    /// Until a line number, or until the second address matches.
    Until(Option<u64>),
}

/// Settings of a run.
pub(super) struct Settings {
    pub(super) quiet: bool,
    pub(super) posix: bool,
    pub(super) unbuffered: bool,
    pub(super) utf8: bool,
    pub(super) end: u8,
    pub(super) width: u64,
}

/// A run.
pub(super) struct Run<'s> {
    script: &'s Script,
    settings: Settings,
    files: Files,
    out: Sink,
    outputs: Vec<Output>,
    inputs: Vec<Option<Input>>,
    line: Vec<u8>,
    /// Whether the line had its end in the input; moves with the text between the spaces.
    has_end: bool,
    hold: Vec<u8>,
    hold_has_end: bool,
    spare: Vec<u8>,
    groups: Vec<Option<(usize, usize)>>,
    number: u64,
    ranges: Vec<Range>,
    queue: Vec<Queued>,
    replaced: bool,
    last: Option<usize>,
    /// Bytes counted for the spaces.
    held: u64,
}

/// A file of `w`.
enum Output {
    Standard,
    Error(Sink),
    File(Sink),
}

impl<'s> Run<'s> {
    /// Opens the files that the script writes.
    pub(super) fn new(
        sys: &mut dyn System,
        script: &'s Script,
        settings: Settings,
        files: Files,
    ) -> Result<Self, Fault> {
        let mut outputs = Vec::new();
        for name in &script.outputs {
            outputs.push(match name.as_slice() {
                b"/dev/stdout" => Output::Standard,
                b"/dev/stderr" => Output::Error(Sink::new(2)),
                _ => match failed(sys.open(name, OpenHow::WRITE))? {
                    Ok(fd) => Output::File(Sink::new(fd)),
                    Err(errno) => {
                        let name = String::from_utf8_lossy(name);
                        let text = format!("couldn't open file {name}: {}", errno.text());
                        return Err(Fault::Fatal(text, 4));
                    }
                },
            });
        }
        Ok(Self {
            script,
            settings,
            files,
            out: Sink::new(1),
            outputs,
            inputs: script.inputs.iter().map(|_| None).collect(),
            line: Vec::new(),
            has_end: true,
            hold: Vec::new(),
            hold_has_end: true,
            spare: Vec::new(),
            groups: Vec::new(),
            number: 0,
            ranges: vec![Range::Closed; script.commands.len()],
            queue: Vec::new(),
            replaced: false,
            last: None,
            held: 0,
        })
    }

    /// Runs the script over all lines; the exit status.
    pub(super) fn run(mut self, sys: &mut dyn System) -> Result<i32, Fault> {
        let done = self.cycles(sys);
        // What was printed before a fault stays printed.
        let written = self.finish(sys);
        let status = done?;
        match written? {
            Ok(()) => Ok(status),
            Err(errno) => Err(Fault::Fatal(
                format!("couldn't flush stdout: {}", errno.text()),
                4,
            )),
        }
    }

    fn cycles(&mut self, sys: &mut dyn System) -> Result<i32, Fault> {
        let mut status = 0;
        let mut again = false;
        loop {
            if !again && !self.read_line(sys)? {
                break;
            }
            again = false;
            let (print, quit) = match self.cycle(sys)? {
                Go::Quit(code) => (true, Some(code)),
                Go::QuitSilently(code) => {
                    status = code;
                    self.files.leave(sys)?;
                    return Ok(status);
                }
                Go::EndSilently => (false, None),
                Go::Again => {
                    again = true;
                    sys.turns(1)?;
                    (false, None)
                }
                _ => (true, None),
            };
            if print && !self.settings.quiet {
                self.print_line(sys)?;
            }
            self.dump_queue(sys)?;
            if let Some(code) = quit {
                status = code;
                let end = self.settings.end;
                self.sink().text(sys, b"", end)?;
                self.files.leave(sys)?;
                return Ok(status);
            }
            if self.settings.unbuffered {
                self.out.out.flush(sys)?;
            }
            if self.out.out.failed() {
                break;
            }
        }
        self.files.close(sys)?;
        if self.files.status != 0 {
            status = self.files.status;
        }
        Ok(status)
    }

    fn finish(mut self, sys: &mut dyn System) -> Result<Result<(), Errno>, Fault> {
        sys.release(self.held);
        for output in self.outputs.drain(..) {
            if let Output::File(sink) | Output::Error(sink) = output {
                let fd = sink.fd;
                sink.out.finish(sys)?.ok();
                if fd > 2 {
                    sys.close(fd);
                }
            }
        }
        Ok(self.out.out.finish(sys)?)
    }

    fn read_line(&mut self, sys: &mut dyn System) -> Result<bool, Fault> {
        self.line.clear();
        self.append_line(sys)
    }

    fn append_line(&mut self, sys: &mut dyn System) -> Result<bool, Fault> {
        // `t` asks about replacements since a line was read, also by `n` and `N`.
        self.replaced = false;
        match self.files.next_line(sys, &mut self.line)? {
            Some(has_end) => {
                self.has_end = has_end;
                if std::mem::take(&mut self.files.new_file) && self.files.mode.separate {
                    self.number = 0;
                    self.ranges.fill(Range::Closed);
                    // A separate file starts from nothing, `R` files included.
                    self.hold.clear();
                    self.hold_has_end = true;
                    self.inputs.iter_mut().for_each(|input| *input = None);
                }
                self.number += 1;
                self.account(sys)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Counts what the spaces have grown to.
    fn account(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        let total = (self.line.capacity() + self.hold.capacity() + self.spare.capacity()) as u64;
        if total > self.held {
            sys.reserve(total - self.held)?;
            self.held = total;
        }
        Ok(())
    }

    fn cycle(&mut self, sys: &mut dyn System) -> Result<Go, Fault> {
        let script = self.script;
        let mut at = 0;
        while let Some(command) = script.commands.get(at) {
            let plain = command.first.is_none();
            if !plain && self.selects(sys, command, at)? == command.negated
                || plain && command.negated
            {
                at = match command.action {
                    Action::Block(end) => end + 1,
                    _ => at + 1,
                };
                continue;
            }
            match self.act(sys, command, at)? {
                Go::On => at += 1,
                Go::To(next) => {
                    sys.turns(1)?;
                    at = next;
                }
                other => return Ok(other),
            }
        }
        Ok(Go::End)
    }

    fn sink(&mut self) -> &mut Sink {
        match self.files.sink() {
            Some(sink) => sink,
            None => &mut self.out,
        }
    }

    /// Writes the text of `i` or `c`, whose last newline is the end of a line.
    fn put_text(&mut self, sys: &mut dyn System, text: &[u8]) -> Result<(), Stop> {
        let end = self.settings.end;
        match text.strip_suffix(b"\n") {
            Some(text) => self.sink().line(sys, text, end, true),
            None => self.sink().text(sys, text, end),
        }
    }

    fn print_line(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        let sink = match self.files.sink() {
            Some(sink) => sink,
            None => &mut self.out,
        };
        sink.line(sys, &self.line, self.settings.end, self.has_end)
    }

    fn write_to(&mut self, sys: &mut dyn System, index: usize, first: bool) -> Result<(), Stop> {
        let end = self.settings.end;
        let (line, has_end) = match memchr::memchr(end, &self.line) {
            Some(at) if first => (self.line.get(..at).unwrap_or_default(), true),
            _ => (self.line.as_slice(), self.has_end),
        };
        let sink = match self.outputs.get_mut(index) {
            Some(Output::Error(sink) | Output::File(sink)) => sink,
            _ => &mut self.out,
        };
        sink.line(sys, line, end, has_end)?;
        // Readers of the file (`r`, `cat`) see the line at once.
        if sink.fd != 1 {
            sink.out.flush(sys)?;
        }
        Ok(())
    }

    fn act(&mut self, sys: &mut dyn System, command: &Command, at: usize) -> Result<Go, Fault> {
        let end = self.settings.end;
        match &command.action {
            Action::Block(_) | Action::BlockEnd => {}
            Action::Subst(subst) => self.substitute(sys, subst)?,
            Action::Delete => return Ok(Go::EndSilently),
            Action::DeleteFirst => {
                let Some(newline) = memchr::memchr(end, &self.line) else {
                    return Ok(Go::EndSilently);
                };
                self.line.drain(..=newline);
                return Ok(Go::Again);
            }
            Action::Print => self.print_line(sys)?,
            Action::PrintFirst => {
                let first = memchr::memchr(end, &self.line);
                let has_end = first.is_some() || self.has_end;
                let len = first.unwrap_or(self.line.len());
                let line = std::mem::take(&mut self.line);
                let shown = line.get(..len).unwrap_or_default();
                let done = self.sink().line(sys, shown, end, has_end);
                self.line = line;
                done?;
            }
            Action::Branch(to) => return Ok(Go::To(*to)),
            Action::BranchIf(to) => {
                if std::mem::take(&mut self.replaced) {
                    return Ok(Go::To(*to));
                }
            }
            Action::BranchUnless(to) => {
                if !std::mem::take(&mut self.replaced) {
                    return Ok(Go::To(*to));
                }
            }
            Action::Next => return self.next(sys),
            Action::NextAppend => return self.next_append(sys),
            Action::Quit(code) => return Ok(Go::Quit(*code)),
            Action::QuitSilently(code) => return Ok(Go::QuitSilently(*code)),
            Action::Change(text) => {
                let range_goes_on = command.second.is_some()
                    && !command.negated
                    && self.ranges.get(at).is_some_and(|r| *r != Range::Closed);
                if !range_goes_on {
                    self.put_text(sys, text)?;
                }
                return Ok(Go::EndSilently);
            }
            Action::Translate(table) => self.translate(sys, table)?,
            Action::Zap => self.line.clear(),
            Action::Get
            | Action::GetAppend
            | Action::Hold
            | Action::HoldAppend
            | Action::Exchange => self.move_text(&command.action),
            other => self.act_on_files(sys, other)?,
        }
        if self.line.capacity() + self.hold.capacity() > 1 << 16 {
            self.account(sys)?;
        }
        Ok(Go::On)
    }

    /// Moves text between the pattern space and the hold space.
    fn move_text(&mut self, action: &Action) {
        match action {
            Action::Get => {
                self.line.clone_from(&self.hold);
                self.has_end = self.hold_has_end;
            }
            Action::GetAppend => {
                self.line.push(self.settings.end);
                self.line.extend_from_slice(&self.hold);
                self.has_end = self.hold_has_end;
            }
            Action::Hold => {
                self.hold.clone_from(&self.line);
                self.hold_has_end = self.has_end;
            }
            Action::HoldAppend => {
                self.hold.push(self.settings.end);
                self.hold.extend_from_slice(&self.line);
                self.hold_has_end = self.has_end;
            }
            _ => {
                std::mem::swap(&mut self.line, &mut self.hold);
                std::mem::swap(&mut self.has_end, &mut self.hold_has_end);
            }
        }
    }

    fn act_on_files(&mut self, sys: &mut dyn System, action: &Action) -> Result<(), Fault> {
        let end = self.settings.end;
        match action {
            Action::LineNumber => {
                let text = self.number.to_string();
                self.sink().line(sys, text.as_bytes(), end, true)?;
            }
            Action::FileName => {
                let mut text = self.files.name.clone();
                text.push(end);
                self.sink().text(sys, &text, end)?;
            }
            Action::Append(text) => {
                sys.reserve(text.len() as u64)?;
                self.held += text.len() as u64;
                self.queue.push(Queued::Text(text.clone()));
            }
            Action::Insert(text) => self.put_text(sys, text)?,
            Action::Read(name) => self.queue.push(Queued::File(name.clone())),
            Action::ReadLine(index) => self.queue.push(Queued::Line(*index)),
            Action::Write(index) => self.write_to(sys, *index, false)?,
            Action::WriteFirst(index) => self.write_to(sys, *index, true)?,
            Action::List(width) => {
                let width = width.unwrap_or(self.settings.width);
                let text = super::list::render(&self.line, width, end);
                self.sink().text(sys, &text, end)?;
            }
            Action::Execute(text) => {
                if text.is_empty() {
                    let command = std::mem::take(&mut self.line);
                    let mut made = self.shell(sys, &command)?;
                    if made.last() == Some(&b'\n') {
                        made.pop();
                    }
                    self.line = made;
                } else {
                    let made = self.shell(sys, text)?;
                    self.sink().text(sys, &made, end)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn next(&mut self, sys: &mut dyn System) -> Result<Go, Fault> {
        if self.files.at_end(sys)? {
            // GNU prints the pattern space and ends; POSIX ends without it.
            return Ok(if self.settings.posix {
                Go::EndSilently
            } else {
                Go::End
            });
        }
        if !self.settings.quiet {
            self.print_line(sys)?;
        }
        self.dump_queue(sys)?;
        self.read_line(sys)?;
        Ok(Go::On)
    }

    fn next_append(&mut self, sys: &mut dyn System) -> Result<Go, Fault> {
        if self.files.at_end(sys)? {
            return Ok(if self.settings.posix {
                Go::EndSilently
            } else {
                Go::End
            });
        }
        self.dump_queue(sys)?;
        self.line.push(self.settings.end);
        self.append_line(sys)?;
        Ok(Go::On)
    }
}

/// Reports a fault; the exit status.
pub(super) fn report(sys: &mut dyn System, fault: Fault) -> Result<i32, Stop> {
    match fault {
        Fault::Stop(stop) => Err(stop),
        Fault::Fatal(text, status) => {
            let text = if text == "no previous regular expression" {
                format!("-e expression #1, char 0: {text}")
            } else {
                text
            };
            complain(sys, b"sed", text.as_bytes())?;
            Ok(status)
        }
    }
}
