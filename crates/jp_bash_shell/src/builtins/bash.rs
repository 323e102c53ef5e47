//! `bash` and `sh` as commands: a fresh shell inside this one.

use std::sync::Arc;

use jp_bash_syntax::error::SyntaxErrorKind;
use jp_bash_syntax::parser::Parser;
use jp_bash_system::{SysError, System, Whence};

use crate::args::Args;
use crate::flow::Flow;
use crate::kernel::file::Object;
use crate::options::{Opt, by_letter, by_set_name, by_shopt_name};
use crate::run::Found;
use crate::run::script::Text;
use crate::{Shell, Source};

/// What the command line asked for.
#[derive(Default)]
struct Line {
    command: bool,
    input: bool,
    options: Vec<(Opt, bool)>,
    rest: Vec<Vec<u8>>,
}

/// What to print instead of running anything.
enum Answer {
    Text(&'static str),
    Bad(Vec<u8>),
}

const VERSION: &str = "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\nThis is jp's virtual bash, compatible with that version.\n";

const USAGE: &[u8] =
    b"Usage:\tbash [GNU long option] [option] ...\n\tbash [GNU long option] [option] script-file ...\n";

impl<'y> Shell<'y> {
    /// Runs `bash …` or `sh …`.
    pub(crate) fn run_shell_command(&mut self, words: &[Vec<u8>]) -> Result<i32, Flow> {
        let name = words.first().cloned().unwrap_or_default();
        let line = match parse(words) {
            Ok(line) => line,
            Err(Answer::Text(text)) => return self.print(&name, text.as_bytes()),
            Err(Answer::Bad(text)) => {
                self.print_error(&[&name, &b": "[..], &text, b"\n", USAGE].concat())?;
                return Ok(2);
            }
        };
        let env = self.exported()?;
        let mut shell = self.fresh(&env)?;
        shell.arg0 = Arc::from(name.as_slice());
        if name.ends_with(b"sh") && !name.ends_with(b"bash") {
            shell.set_option(Opt::Posix, true);
        }
        for (opt, on) in &line.options {
            if (*opt, *on) == (Opt::Posix, true) {
                let name = shell.intern(b"POSIXLY_CORRECT")?;
                let _set = shell.set_var(name, crate::vars::Bytes::from(&b"y"[..]))?;
            }
            shell.set_option(*opt, *on);
        }
        self.run_fresh(shell, |shell| shell.run_line(line))
    }

    fn run_line(&mut self, line: Line) -> Result<i32, Flow> {
        let mut rest = line.rest.into_iter();
        if line.command {
            let Some(text) = rest.next() else {
                let name = Arc::clone(&self.arg0);
                self.print_error(&[&*name, b": -c: option requires an argument\n"].concat())?;
                return Ok(2);
            };
            if let Some(name) = rest.next() {
                self.arg0 = Arc::from(name);
            }
            self.args = Args::new(rest.collect());
            self.source = Source::Text;
            let whole = self.intern(b"BASH_EXECUTION_STRING")?;
            let _set = self.set_var(whole, crate::vars::Bytes::from(text.as_slice()))?;
            self.run_start_file()?;
            return self.run_main(&text);
        }
        let file = if line.input { None } else { rest.next() };
        let Some(file) = file else {
            self.args = Args::new(rest.collect());
            return self.run_input();
        };
        self.run_script_file(&file, rest.collect())
    }

    /// Runs a file of the session, as `bash FILE` does.
    pub(crate) fn run_script_file(&mut self, file: &[u8], args: Vec<Vec<u8>>) -> Result<i32, Flow> {
        let path = self.script_path(file)?;
        let text = match self.read_script(&path)? {
            Ok(text) => text,
            Err(errno) => {
                let name = Arc::clone(&self.arg0);
                let text = if errno == jp_bash_system::Errno::IsDir {
                    [file, b": ", file, b": Is a directory\n"].concat()
                } else {
                    [&*name, b": ", file, b": ", errno.text().as_bytes(), b"\n"].concat()
                };
                self.print_error(&text)?;
                let missing = errno == jp_bash_system::Errno::NoEnt;
                return Ok(if missing { 127 } else { 126 });
            }
        };
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if !first.starts_with(b"#!") && first.contains(&0) {
            let text = [file, b": ", file, b": cannot execute binary file\n"].concat();
            self.print_error(&text)?;
            return Ok(126);
        }
        self.become_script(file, args);
        self.run_start_file()?;
        self.run_main(&text)
    }

    /// Sources the file that `BASH_ENV` names, if there is one.
    fn run_start_file(&mut self) -> Result<(), Flow> {
        if self.options.has(Opt::Posix) {
            return Ok(());
        }
        let name = self.intern(b"BASH_ENV")?;
        let Some(value) = self
            .var_text(name)?
            .filter(|value| !value.as_slice().is_empty())
        else {
            return Ok(());
        };
        let path = self.expand_text(value.as_slice())?;
        if let Ok(text) = self.read_script(&path)? {
            self.run_text(&crate::run::script::Text {
                text: &text,
                source: Arc::from(path),
                first_line: 1,
                part: "source",
            })?;
        }
        Ok(())
    }

    /// Finds a script: in the working directory, else on the PATH.
    fn script_path(&mut self, file: &[u8]) -> Result<Vec<u8>, Flow> {
        use jp_bash_system::Follow;
        if file.contains(&b'/') || self.stat(file, Follow::Yes).is_ok() {
            return Ok(file.to_vec());
        }
        Ok(match self.find_program(file)? {
            Found::File(path) => path,
            _ => file.to_vec(),
        })
    }

    /// Runs standard input line by line, so that its commands can read from it too.
    pub(crate) fn run_input(&mut self) -> Result<i32, Flow> {
        self.source = Source::Input;
        let source = Arc::clone(&self.arg0);
        let mut chunk = Vec::new();
        let mut first_line = 1;
        let mut status = 0;
        loop {
            let more = self.input_line(&mut chunk)?;
            if more && (chunk.ends_with(b"\\\n") || self.is_unfinished(&mut chunk)?) {
                continue;
            }
            if !chunk.is_empty() {
                status = self.run_text(&Text {
                    text: &chunk,
                    source: Arc::clone(&source),
                    first_line,
                    part: "",
                })?;
                let lines = memchr::memchr_iter(b'\n', &chunk).count();
                first_line += u32::try_from(lines).unwrap_or(0);
                self.kernel.budget.release(chunk.len() as u64);
                chunk.clear();
            }
            if !more {
                return Ok(status);
            }
        }
    }

    /// Adds a line of standard input and not a byte more: the script's commands share the descriptor.
    fn input_line(&mut self, chunk: &mut Vec<u8>) -> Result<bool, Flow> {
        // Commands may close or replace the descriptor, so it is looked at for each line.
        let input = match self.fds.get(0).map(|file| &file.object) {
            Some(Object::Input(input)) => Some(input.clone()),
            _ => None,
        };
        let seekable = self.seek(0, Whence::Current(0)).is_ok();
        let mut buf = [0; 512];
        loop {
            let room = if seekable || input.is_some() {
                buf.len()
            } else {
                1
            };
            let got = match self.read(0, buf.get_mut(..room).unwrap_or_default()) {
                Ok(got) => got,
                Err(SysError::Errno(_)) => 0,
                Err(SysError::Stop(stop)) => return Err(stop.into()),
            };
            let bytes = buf.get(..got).unwrap_or_default();
            if bytes.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr(b'\n', bytes).map_or(got, |at| at + 1);
            self.kernel.budget.reserve(end as u64)?;
            chunk.extend_from_slice(bytes.get(..end).unwrap_or_default());
            if end < got {
                match &input {
                    Some(input) => input.unread(bytes.get(end..).unwrap_or_default()),
                    None => {
                        let back = i64::try_from(got - end).unwrap_or(0);
                        let _moved = self.seek(0, Whence::Current(-back));
                    }
                }
            }
            if chunk.ends_with(b"\n") {
                return Ok(true);
            }
        }
    }

    /// Tells whether more lines belong to the command in `text`. Those of a here-document are added at once:
    /// reading the command again for each of them would take a time that grows with its square.
    fn is_unfinished(&mut self, text: &mut Vec<u8>) -> Result<bool, Flow> {
        loop {
            match self.look_for_end(text) {
                End::Here => return Ok(false),
                End::Later => return Ok(true),
                End::Document(end) => {
                    if !self.read_document(text, &end)? {
                        // The input ended first, which the parser warns about.
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Adds lines up to the one that ends a here-document; `false` if the input ends first.
    fn read_document(&mut self, text: &mut Vec<u8>, end: &[u8]) -> Result<bool, Flow> {
        loop {
            let start = text.len();
            if !self.input_line(text)? {
                return Ok(false);
            }
            let line = text.get(start..).unwrap_or_default();
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let tabs = line.iter().take_while(|byte| **byte == b'\t').count();
            if line == end || line.get(tabs..) == Some(end) {
                return Ok(true);
            }
        }
    }

    fn look_for_end(&self, text: &[u8]) -> End {
        let mut parser = Parser::new(text, self.parse_options());
        let expand = self.options.has(Opt::ExpandAliases) && !self.aliases.is_empty();
        let lookup = |name: &[u8]| {
            if expand {
                self.aliases.get(name).cloned()
            } else {
                None
            }
        };
        loop {
            let next = parser.next(&mut self.kernel.names.borrow_mut(), &lookup);
            if let Some((_, warning)) = parser.take_warnings().first() {
                // A here-document without its end.
                return match document_end(warning) {
                    Some(end) => End::Document(end),
                    None => End::Later,
                };
            }
            match next {
                Ok(Some(_)) => {}
                Ok(None) => return End::Here,
                Err(error) if error.kind == SyntaxErrorKind::Incomplete => return End::Later,
                Err(_) => return End::Here,
            }
        }
    }
}

/// Where the command that is read from standard input ends.
enum End {
    /// With the lines read so far.
    Here,
    /// With some later line.
    Later,
    /// Behind the here-document that this line ends.
    Document(Vec<u8>),
}

/// Returns the line that a here-document wants, out of the parser's warning that it is missing.
fn document_end(warning: &[u8]) -> Option<Vec<u8>> {
    let at = memchr::memmem::rfind(warning, b"(wanted `")?;
    let rest = warning.get(at + b"(wanted `".len()..)?;
    rest.strip_suffix(b"')").map(<[u8]>::to_vec)
}

fn parse(words: &[Vec<u8>]) -> Result<Line, Answer> {
    let mut line = Line::default();
    let mut rest = words.iter().skip(1).peekable();
    while let Some(word) = rest.peek().map(|word| word.as_slice()) {
        match word {
            b"--" | b"-" => {
                rest.next();
                break;
            }
            b"--version" => return Err(Answer::Text(VERSION)),
            b"--help" => {
                return Err(Answer::Text(
                    "Usage:\tbash [option] ...\n\tbash [option] script-file ...\n",
                ));
            }
            b"--posix" => line.options.push((Opt::Posix, true)),
            b"--verbose" => line.options.push((Opt::Verbose, true)),
            b"--login" => line.options.push((Opt::LoginShell, true)),
            b"--norc" | b"--noprofile" | b"--noediting" | b"--debugger" | b"--restricted" => {}
            b"--rcfile" | b"--init-file" => {
                rest.next();
            }
            [b'-', b'-', ..] => {
                return Err(Answer::Bad([word, b": invalid option"].concat()));
            }
            [sign @ (b'-' | b'+'), letters @ ..] if !letters.is_empty() => {
                let on = *sign == b'-';
                let letters = letters.to_vec();
                rest.next();
                for letter in letters {
                    match letter {
                        b'c' => line.command = true,
                        b's' => line.input = true,
                        b'l' => line.options.push((Opt::LoginShell, on)),
                        b'i' | b'r' | b'D' => {}
                        b'o' | b'O' => {
                            let Some(name) = rest.next() else { continue };
                            let opt = if letter == b'o' {
                                by_set_name(name)
                            } else {
                                by_shopt_name(name)
                            };
                            match opt {
                                Some(opt) => line.options.push((opt, on)),
                                None => {
                                    let text: &[u8] = if letter == b'o' {
                                        b": invalid option name"
                                    } else {
                                        b": invalid shell option name"
                                    };
                                    return Err(Answer::Bad([name, text].concat()));
                                }
                            }
                        }
                        letter => match by_letter(letter) {
                            Some(opt) => line.options.push((opt, on)),
                            None => {
                                let text = [&[*sign, letter][..], b": invalid option"].concat();
                                return Err(Answer::Bad(text));
                            }
                        },
                    }
                }
                continue;
            }
            _ => break,
        }
        rest.next();
    }
    line.rest = rest.cloned().collect();
    Ok(line)
}
