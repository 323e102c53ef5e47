//! Reads sed scripts, with GNU's messages for what is wrong with them.

mod argument;

use jp_bash_regex::{Dialect, Flags, Flavor, Regex};
use jp_bash_system::{Stop, System};
use rustc_hash::FxHashMap;

use super::script::{Action, Address, Command, Pattern, Script};

/// A piece of script: an `-e` or a file.
pub(super) struct Piece {
    pub(super) text: Vec<u8>,
    pub(super) from: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Expression(usize),
    File(Vec<u8>),
}

/// How scripts are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) extended: bool,
    pub(super) posix: bool,
    pub(super) sandbox: bool,
    pub(super) null_data: bool,
    pub(super) utf8: bool,
}

/// The deepest nesting of blocks.
const MAX_BLOCKS: usize = 1_000;

/// Something wrong, before its place is put into words.
pub(super) enum Wrong {
    /// What is wrong at a place of the script.
    At(usize, String),
    /// What is wrong with all of it.
    Whole(ScriptError),
}

/// Why a text is not a script, in GNU's words.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ScriptError {
    /// A command is wrong, in a file.
    #[error("file {name} line {line}: {message}")]
    InFile {
        name: String,
        line: usize,
        message: String,
    },
    /// A command is wrong, in an expression of the command line.
    #[error("-e expression #{number}, char {char}: {message}")]
    InExpression {
        number: usize,
        char: usize,
        message: String,
    },
    /// A block does not end.
    #[error("-e expression #1, char 0: unmatched `{{'")]
    OpenBlock,
    /// Nothing has the label that a command branches to.
    #[error("can't find label for jump to `{0}'")]
    NoLabel(String),
}

pub(super) struct Reader<'s> {
    sys: &'s mut dyn System,
    /// The run ends while a pattern is compiled.
    stopped: Option<Stop>,
    pub(super) text: Vec<u8>,
    pub(super) at: usize,
    pub(super) options: Options,
    pub(super) script: Script,
    labels: FxHashMap<Vec<u8>, usize>,
    /// Commands that branch, by label, until all labels are known.
    jumps: Vec<(usize, Vec<u8>)>,
    blocks: Vec<usize>,
}

/// Reads a script.
pub(super) fn compile(
    sys: &mut dyn System,
    pieces: &[Piece],
    options: Options,
) -> Result<Result<Script, ScriptError>, Stop> {
    let mut text = Vec::new();
    let mut starts = Vec::new();
    for piece in pieces {
        starts.push(text.len());
        text.extend_from_slice(&piece.text);
        // A file's last newline ends its last line; an expression has none.
        if text.last() != Some(&b'\n') || matches!(piece.from, Source::Expression(_)) {
            text.push(b'\n');
        }
    }
    // The end of the last piece is the end of the script, so that `a` knows nothing follows.
    if text.last() == Some(&b'\n') {
        text.pop();
    }
    let mut reader = Reader {
        sys,
        stopped: None,
        text,
        at: 0,
        options,
        script: Script::default(),
        labels: FxHashMap::default(),
        jumps: Vec::new(),
        blocks: Vec::new(),
    };
    let first = pieces.first().map(|piece| piece.text.as_slice());
    reader.script.quiet = matches!(first, Some([b'#', b'n', rest @ ..]) if rest.is_empty() || rest.first() == Some(&b'\n'));
    let read = reader.commands();
    if let Some(stop) = reader.stopped {
        return Err(stop);
    }
    Ok(match read {
        Ok(()) => Ok(reader.script),
        Err(wrong) => Err(locate(wrong, &reader.text, pieces, &starts)),
    })
}

/// Puts the position into an error.
fn locate(wrong: Wrong, text: &[u8], pieces: &[Piece], starts: &[usize]) -> ScriptError {
    let (at, message) = match wrong {
        Wrong::At(at, message) => (at, message),
        Wrong::Whole(error) => return error,
    };
    let which = starts
        .partition_point(|start| *start < at.max(1))
        .saturating_sub(1);
    let start = starts.get(which).copied().unwrap_or(0);
    match pieces.get(which).map(|piece| &piece.from) {
        Some(Source::File(name)) => {
            let before = text.get(start..at.min(text.len())).unwrap_or_default();
            ScriptError::InFile {
                name: String::from_utf8_lossy(name).into_owned(),
                line: 1 + memchr::memchr_iter(b'\n', before).count(),
                message,
            }
        }
        other => ScriptError::InExpression {
            number: match other {
                Some(Source::Expression(n)) => *n,
                _ => 1,
            },
            char: at - start,
            message,
        },
    }
}

impl Reader<'_> {
    /// Makes an error at the place reached.
    pub(super) fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong::At(self.at, message.into()))
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.text.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn skip(&mut self, also: &[u8]) {
        while self
            .peek()
            .is_some_and(|b| b == b' ' || b == b'\t' || also.contains(&b))
        {
            self.at += 1;
        }
    }

    fn commands(&mut self) -> Result<(), Wrong> {
        loop {
            self.skip(b"\n;\r\x0b\x0c");
            if self.peek().is_none() {
                break;
            }
            self.command()?;
        }
        if self.blocks.pop().is_some() {
            return Err(Wrong::Whole(ScriptError::OpenBlock));
        }
        let end = self.script.commands.len();
        for (command, label) in std::mem::take(&mut self.jumps) {
            let to = if label.is_empty() {
                end
            } else {
                match self.labels.get(&label) {
                    Some(to) => *to,
                    None => {
                        let label = String::from_utf8_lossy(&label).into_owned();
                        return Err(Wrong::Whole(ScriptError::NoLabel(label)));
                    }
                }
            };
            if let Some(
                Action::Branch(place) | Action::BranchIf(place) | Action::BranchUnless(place),
            ) = self.script.commands.get_mut(command).map(|c| &mut c.action)
            {
                *place = to;
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Result<(), Wrong> {
        let first = self.address(false)?;
        let mut second = None;
        if first.is_some() {
            self.skip(b"");
            if self.peek() == Some(b',') {
                self.at += 1;
                self.skip(b"");
                second = self.address(true)?;
                if second.is_none() {
                    self.at += 1;
                    return self.wrong("unexpected `,'");
                }
            }
        }
        if first == Some(Address::Zero)
            && (!matches!(second, Some(Address::Match(_))) || self.options.posix)
        {
            self.at += 1;
            return self.wrong("invalid usage of line address 0");
        }
        self.skip(b"");
        let mut negated = false;
        while self.peek() == Some(b'!') {
            self.at += 1;
            if negated {
                return self.wrong("multiple `!'s");
            }
            negated = true;
            self.skip(b"");
        }
        let Some(name) = self.next() else {
            return self.wrong("missing command");
        };
        let index = self.script.commands.len();
        let addresses = usize::from(first.is_some()) + usize::from(second.is_some());
        if let Some(action) = self.action(name, addresses, index)? {
            self.script.commands.push(Command {
                first,
                second,
                negated,
                action,
            });
        }
        Ok(())
    }

    /// Reads one address, if there is one.
    fn address(&mut self, second: bool) -> Result<Option<Address>, Wrong> {
        let Some(byte) = self.peek() else {
            return Ok(None);
        };
        match byte {
            b'0'..=b'9' => {
                let line = self.number();
                self.skip(b"");
                if self.peek() == Some(b'~') && !second && !self.options.posix {
                    self.at += 1;
                    self.skip(b"");
                    let step = self.number();
                    return Ok(Some(if step == 0 {
                        Address::Line(line)
                    } else {
                        Address::Step(line, step)
                    }));
                }
                Ok(Some(if line == 0 && !second {
                    Address::Zero
                } else {
                    Address::Line(line)
                }))
            }
            b'$' => {
                self.at += 1;
                Ok(Some(Address::Last))
            }
            b'+' | b'~' if second && !self.options.posix => {
                self.at += 1;
                if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    return self.wrong("expected number").or(Ok(None));
                }
                let n = self.number();
                Ok(Some(if byte == b'+' {
                    Address::Plus(n)
                } else {
                    Address::Multiple(n)
                }))
            }
            b'/' | b'\\' => {
                self.at += 1;
                let delimiter = if byte == b'\\' {
                    match self.next() {
                        Some(b) if b != b'\n' && b != b'\\' => b,
                        _ => return self.wrong("unterminated address regex"),
                    }
                } else {
                    b'/'
                };
                let Some(text) = self.delimited(delimiter, true) else {
                    return self.wrong("unterminated address regex");
                };
                let (mut ignore_case, mut multi) = (false, false);
                loop {
                    match self.peek() {
                        Some(b'I') if !self.options.posix => ignore_case = true,
                        Some(b'M') if !self.options.posix => multi = true,
                        _ => break,
                    }
                    self.at += 1;
                }
                let pattern = self.pattern(&text, ignore_case, multi)?;
                Ok(Some(Address::Match(pattern)))
            }
            _ => Ok(None),
        }
    }

    /// Compiles a pattern and keeps it.
    pub(super) fn pattern(
        &mut self,
        text: &[u8],
        ignore_case: bool,
        multi: bool,
    ) -> Result<Pattern, Wrong> {
        if text.is_empty() {
            if ignore_case || multi {
                return self.wrong("cannot specify modifiers on empty regexp");
            }
            return Ok(Pattern::Last);
        }
        let text = super::escape::in_regex(text);
        let flavor = if self.options.extended {
            Flavor::Extended
        } else {
            Flavor::Basic
        };
        let flags = Flags {
            ignore_case,
            utf8: self.options.utf8,
            // Between NULs a newline is a character like others.
            newline: multi && !self.options.null_data,
            dialect: Dialect::Sed,
            ..Flags::default()
        };
        match Regex::new(self.sys, &text, flavor, flags) {
            Err(stop) => {
                self.stopped = Some(stop);
                self.wrong("stopped")
            }
            Ok(Ok(regex)) => {
                self.script.regexes.push(regex);
                Ok(Pattern::Is(self.script.regexes.len() - 1))
            }
            Ok(Err(error)) => self.wrong(error.to_string()),
        }
    }

    fn action(
        &mut self,
        name: u8,
        addresses: usize,
        index: usize,
    ) -> Result<Option<Action>, Wrong> {
        if self.options.posix && b"eFvzQRWT".contains(&name) {
            let shown = char::from(name);
            return self.wrong(format!("unknown command: `{shown}'"));
        }
        let simple = match name {
            b'=' => Action::LineNumber,
            b'd' => Action::Delete,
            b'D' => Action::DeleteFirst,
            b'F' => Action::FileName,
            b'g' => Action::Get,
            b'G' => Action::GetAppend,
            b'h' => Action::Hold,
            b'H' => Action::HoldAppend,
            b'x' => Action::Exchange,
            b'n' => Action::Next,
            b'N' => Action::NextAppend,
            b'p' => Action::Print,
            b'P' => Action::PrintFirst,
            b'z' => Action::Zap,
            _ => return self.longer(name, addresses, index),
        };
        self.end_of_command()?;
        Ok(Some(simple))
    }

    fn longer(
        &mut self,
        name: u8,
        addresses: usize,
        index: usize,
    ) -> Result<Option<Action>, Wrong> {
        match name {
            b'{' => {
                if self.blocks.len() >= MAX_BLOCKS {
                    return self.wrong("too many nested blocks");
                }
                self.blocks.push(index);
                Ok(Some(Action::Block(0)))
            }
            b'}' => {
                let Some(open) = self.blocks.pop() else {
                    return self.wrong("unexpected `}'");
                };
                if addresses > 0 {
                    return self.wrong("} doesn't want any addresses");
                }
                if let Some(Action::Block(end)) =
                    self.script.commands.get_mut(open).map(|c| &mut c.action)
                {
                    *end = index;
                }
                self.end_of_command()?;
                Ok(Some(Action::BlockEnd))
            }
            b'#' => {
                if addresses > 0 {
                    return self.wrong("comments don't accept any addresses");
                }
                while self.next().is_some_and(|byte| byte != b'\n') {}
                Ok(None)
            }
            b':' => {
                if addresses > 0 {
                    return self.wrong(": doesn't want any addresses");
                }
                let label = self.label(b"");
                if label.is_empty() {
                    return self.wrong("\":\" lacks a label");
                }
                self.labels.insert(label, index);
                Ok(None)
            }
            b'b' | b't' | b'T' => {
                let label = self.label(b"}");
                self.jumps.push((index, label));
                self.end_of_command()?;
                Ok(Some(match name {
                    b'b' => Action::Branch(0),
                    b't' => Action::BranchIf(0),
                    _ => Action::BranchUnless(0),
                }))
            }
            b'a' | b'i' | b'c' => {
                let text = self.text_argument()?;
                Ok(Some(match name {
                    b'a' => Action::Append(text),
                    b'i' => Action::Insert(text),
                    _ => Action::Change(text),
                }))
            }
            b'q' | b'Q' => {
                if addresses > 1 {
                    return self.wrong("command only uses one address");
                }
                self.skip(b"");
                if self.options.posix {
                    self.end_of_command()?;
                    return Ok(Some(Action::Quit(0)));
                }
                let code = i32::try_from(self.number() & 0xff).unwrap_or(0);
                self.end_of_command()?;
                Ok(Some(if name == b'q' {
                    Action::Quit(code)
                } else {
                    Action::QuitSilently(code)
                }))
            }
            b'l' => {
                self.skip(b"");
                let given = self.peek().is_some_and(|b| b.is_ascii_digit());
                let given = given && !self.options.posix;
                if !given {
                    self.end_of_command()?;
                    return Ok(Some(Action::List(None)));
                }
                let n = self.number();
                self.end_of_command()?;
                Ok(Some(Action::List(given.then_some(n))))
            }
            b'v' => {
                let wanted = self.label(b"");
                let newer = wanted
                    .split(|b| *b == b'.')
                    .map(|part| std::str::from_utf8(part).ok().and_then(|p| p.parse().ok()))
                    .collect::<Option<Vec<u64>>>();
                if newer.is_some_and(|version| version > vec![4, 9]) {
                    return self.wrong("expected newer version of sed");
                }
                self.end_of_command()?;
                Ok(None)
            }
            b'r' | b'R' | b'w' | b'W' | b'e' => self.with_file(name),
            b's' => super::subst::read(self).map(Some),
            b'y' => self.translate().map(Some),
            _ => {
                let shown = String::from_utf8_lossy(&[name]).into_owned();
                self.wrong(format!("unknown command: `{shown}'"))
            }
        }
    }
}
