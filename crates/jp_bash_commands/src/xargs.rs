//! `xargs`: words from input become arguments. Commands run one after the other, whatever `-P` says.

mod items;

use jp_bash_system::io::{Input, complain};
use jp_bash_system::{Ended, Errno, Fd, OpenHow, Spawn, Stop, System, failed};

use super::Spec;
use super::numbers::signed;
use super::options::{Order, Takes, opt, parse, refused};
use super::say::{self, HELP, VERSION};
use items::{Item, Items, Style};

/// `xargs`
pub(crate) const SPEC: Spec = Spec {
    name: "xargs",
    about: "run a command with arguments from input",
    run,
    options: &[
        opt('0', Some(b'0'), Some("null"), Takes::Nothing),
        opt('a', Some(b'a'), Some("arg-file"), Takes::Required),
        opt('d', Some(b'd'), Some("delimiter"), Takes::Required),
        opt('E', Some(b'E'), None, Takes::Required),
        opt('e', Some(b'e'), Some("eof"), Takes::Optional),
        opt('I', Some(b'I'), None, Takes::Required),
        opt('i', Some(b'i'), Some("replace"), Takes::Optional),
        opt('L', Some(b'L'), Some("max-lines"), Takes::Required),
        opt('l', Some(b'l'), None, Takes::Optional),
        opt('n', Some(b'n'), Some("max-args"), Takes::Required),
        opt('P', Some(b'P'), Some("max-procs"), Takes::Required),
        opt('V', None, Some("process-slot-var"), Takes::Required),
        opt('r', Some(b'r'), Some("no-run-if-empty"), Takes::Nothing),
        opt('s', Some(b's'), Some("max-chars"), Takes::Required),
        opt('S', None, Some("show-limits"), Takes::Nothing),
        opt('t', Some(b't'), Some("verbose"), Takes::Nothing),
        opt('x', Some(b'x'), Some("exit"), Takes::Nothing),
        refused(Some(b'o'), Some("open-tty"), Takes::Nothing, "no terminal"),
        refused(
            Some(b'p'),
            Some("interactive"),
            Takes::Nothing,
            "no terminal",
        ),
        HELP,
        VERSION,
    ],
};

/// The most bytes of one command line, as GNU takes without `-s`.
const MOST_CHARS: usize = 131_072;

struct Call {
    style: Style,
    file: Option<Vec<u8>>,
    eof: Option<Vec<u8>>,
    replace: Option<Vec<u8>>,
    lines: Option<usize>,
    args: Option<usize>,
    chars: usize,
    slot: Option<Vec<u8>>,
    skip_empty: bool,
    exit: bool,
    verbose: bool,
    limits: bool,
    command: Vec<Vec<u8>>,
}

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Stop)? else {
        return Ok(1);
    };
    if let Some(status) = say::answered(
        sys,
        &parsed.options,
        "xargs",
        "xargs [OPTION]... COMMAND [INITIAL-ARGS]...",
    )? {
        return Ok(status);
    }
    let mut call = Call {
        style: Style::Words,
        file: None,
        eof: None,
        replace: None,
        lines: None,
        args: None,
        chars: MOST_CHARS,
        slot: None,
        skip_empty: false,
        exit: false,
        verbose: false,
        limits: false,
        command: parsed.operands,
    };
    for (id, value) in &parsed.options {
        if let Some(status) = call.option(sys, *id, value.as_deref())? {
            return Ok(status);
        }
    }
    if call.command.is_empty() {
        call.command.push(b"echo".to_vec());
    }
    if call.limits {
        show_limits(sys, &call)?;
    }
    let fd = match &call.file {
        Some(file) => match failed(sys.open(file, OpenHow::READ))? {
            Ok(fd) => fd,
            Err(errno) => {
                let shown = say::quoted(sys, file);
                let message = [
                    b"Cannot open input file ",
                    shown.as_slice(),
                    b": ",
                    errno.text().as_bytes(),
                ]
                .concat();
                complain(sys, b"xargs", &message)?;
                return Ok(1);
            }
        },
        None => 0,
    };
    Runner::new(sys, call, fd).go()
}

impl Call {
    /// Takes one option; returns a status if it is wrong.
    fn option(
        &mut self,
        sys: &mut dyn System,
        id: char,
        value: Option<&[u8]>,
    ) -> Result<Option<i32>, Stop> {
        let text = value.unwrap_or_default().to_vec();
        match id {
            '0' => self.style = Style::Delimited(0),
            'd' => match delimiter(&text) {
                Some(byte) => self.style = Style::Delimited(byte),
                None => {
                    let message = [
                        b"Invalid input delimiter specification ",
                        text.as_slice(),
                        b": the delimiter must be either a single character or an escape sequence starting with \\.",
                    ];
                    complain(sys, b"xargs", &message.concat())?;
                    return Ok(Some(1));
                }
            },
            'a' => self.file = Some(text),
            'E' | 'e' => self.eof = Some(text).filter(|text| !text.is_empty()),
            'I' | 'i' if value == Some(b"") => {
                complain(sys, b"xargs", b"command too long")?;
                return Ok(Some(1));
            }
            'I' | 'i' => {
                self.replace = Some(if value.is_some() {
                    text
                } else {
                    b"{}".to_vec()
                });
                self.exclude(sys, "-I", true, true, false)?;
            }
            'L' | 'l' if value.is_none() => {
                self.lines = Some(1);
                self.exclude(sys, "-L", true, false, true)?;
            }
            'L' | 'l' | 'n' | 's' | 'P' => {
                let Some(number) = number(&text) else {
                    return bad_number(sys, id, &text).map(Some);
                };
                let Some(number) = within(sys, id, &text, number)? else {
                    return Ok(Some(1));
                };
                match id {
                    'n' => {
                        self.args = Some(number);
                        // `-I` with `-n 1` is what it does anyway.
                        if self.replace.is_none() || number != 1 {
                            self.exclude(sys, "--max-args", false, true, true)?;
                        } else {
                            self.args = None;
                        }
                    }
                    's' => self.chars = usize::min(number, MOST_CHARS),
                    'P' => {}
                    _ => {
                        self.lines = Some(number);
                        self.exclude(sys, "-L", true, false, true)?;
                    }
                }
            }
            'V' if text.is_empty() || text.contains(&b'=') => {
                let what = b"failed to unset environment variable ";
                let message = [&what[..], &text, b": Invalid argument"].concat();
                complain(sys, b"xargs", &message)?;
                return Ok(Some(1));
            }
            'V' => self.slot = Some(text),
            'r' => self.skip_empty = true,
            'S' => self.limits = true,
            't' => self.verbose = true,
            'x' => self.exit = true,
            _ => {}
        }
        Ok(None)
    }

    /// The last of `-n`, `-L` and `-I` counts; forgets the others, with a warning.
    fn exclude(
        &mut self,
        sys: &mut dyn System,
        by: &str,
        args: bool,
        lines: bool,
        replace: bool,
    ) -> Result<(), Stop> {
        let mut lost = Vec::new();
        if args && self.args.take().is_some() {
            lost.push("--max-args");
        }
        if lines && self.lines.take().is_some() {
            lost.push("--max-lines");
        }
        if replace && self.replace.take().is_some() {
            lost.push("--replace");
        }
        for name in lost {
            let message = format!(
                "warning: options {name} and {by} are mutually exclusive, ignoring previous {name} value"
            );
            complain(sys, b"xargs", message.as_bytes())?;
        }
        Ok(())
    }
}

/// Reads a number as `strtol` does: one that is too large is the largest.
fn number(text: &[u8]) -> Option<i64> {
    match signed(text, i64::MIN, i64::MAX) {
        Ok(number) => Some(number),
        Err(b"") => None,
        Err(_) if text.trim_ascii_start().starts_with(b"-") => Some(i64::MIN),
        Err(_) => Some(i64::MAX),
    }
}

/// Holds a number to what the option allows; nothing after a message that ends the run.
fn within(sys: &mut dyn System, id: char, text: &[u8], number: i64) -> Result<Option<usize>, Stop> {
    let least = i64::from(id != 'P');
    let most = match id {
        's' => i64::try_from(MOST_CHARS).unwrap_or(i64::MAX),
        'P' => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    let (sign, bound) = match number {
        number if number < least => (">=", least),
        number if number > most => ("<=", most),
        number => return Ok(usize::try_from(number).ok()),
    };
    let text = String::from_utf8_lossy(text).into_owned();
    let message = format!("value {text} for -{id} option should be {sign} {bound}");
    if id == 's' {
        // Such a size is only a warning.
        complain(sys, b"xargs", message.as_bytes())?;
        return Ok(usize::try_from(bound).ok());
    }
    say::misused(sys, b"xargs", message.as_bytes(), 1)?;
    Ok(None)
}

fn bad_number(sys: &mut dyn System, id: char, text: &[u8]) -> Result<i32, Stop> {
    let text = String::from_utf8_lossy(text).into_owned();
    let message = format!("invalid number \"{text}\" for -{id} option");
    say::misused(sys, b"xargs", message.as_bytes(), 1)
}

/// Reads the argument of `-d`: a character or an escape.
fn delimiter(text: &[u8]) -> Option<u8> {
    match text {
        [byte] => Some(*byte),
        [b'\\', letter] => Some(match letter {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' => b'\\',
            b'0'..=b'7' => letter - b'0',
            _ => return None,
        }),
        [b'\\', b'x', digits @ ..] => {
            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        }
        [b'\\', digits @ ..] => u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok(),
        _ => None,
    }
}

fn show_limits(sys: &mut dyn System, call: &Call) -> Result<(), Stop> {
    let environ: usize = sys
        .environ()?
        .iter()
        .map(|(name, value)| name.len() + value.len() + 2)
        .sum();
    let most = 2_097_152_usize.saturating_sub(2048).saturating_sub(environ);
    let text = format!(
        "Your environment variables take up {environ} bytes\n\
         POSIX upper limit on argument length (this system): {most}\n\
         POSIX smallest allowable upper limit on argument length (all systems): 4096\n\
         Maximum length of command we could actually use: {most}\n\
         Size of command buffer we are actually using: {}\n\
         Maximum parallelism (--max-procs must be no greater): 2147483647\n",
        call.chars
    );
    failed(sys.write(2, text.as_bytes()))?.ok();
    Ok(())
}

struct Runner<'s> {
    sys: &'s mut dyn System,
    call: Call,
    items: Items,
    null: Option<Fd>,
    status: i32,
    ran: bool,
}

/// Whether to go on after a command.
enum After {
    Go,
    Stop(i32),
}

impl<'s> Runner<'s> {
    fn new(sys: &'s mut dyn System, call: Call, fd: Fd) -> Self {
        let style = match (call.style, &call.replace) {
            (Style::Words, Some(_)) => Style::Lines,
            (style, _) => style,
        };
        let items = Items::new(Input::new(fd), style, call.eof.clone());
        Self {
            sys,
            call,
            items,
            null: None,
            status: 0,
            ran: false,
        }
    }

    fn go(mut self) -> Result<i32, Stop> {
        if self.call.file.is_none() {
            // The commands must not read our input.
            self.null = failed(self.sys.open(b"/dev/null", OpenHow::READ))?.ok();
        }
        let result = match self.call.replace.clone() {
            Some(pattern) => self.each(&pattern)?,
            None => self.batches()?,
        };
        Ok(match result {
            After::Go => self.status,
            After::Stop(status) => status,
        })
    }

    /// Reads an item; an error in the input is reported and ends the run.
    fn item(&mut self) -> Result<Result<Option<Item>, i32>, Stop> {
        match self.items.next(self.sys)? {
            Ok(item) => Ok(Ok(item)),
            Err(message) => {
                complain(self.sys, b"xargs", &message)?;
                Ok(Err(1))
            }
        }
    }

    /// Runs the command once for each item, which replaces the pattern.
    fn each(&mut self, pattern: &[u8]) -> Result<After, Stop> {
        loop {
            let item = match self.item()? {
                Ok(Some(item)) => item,
                Ok(None) => return Ok(After::Go),
                Err(status) => return Ok(After::Stop(status)),
            };
            let mut argv: Vec<Vec<u8>> = Vec::with_capacity(self.call.command.len());
            let mut size = 0;
            for word in &self.call.command {
                // A word full of patterns and a long item multiply: count before building.
                let times = if pattern.is_empty() {
                    0
                } else {
                    memchr::memmem::find_iter(word, pattern).count()
                };
                size += word.len() + times * item.text.len() + 1;
                if size > self.call.chars.saturating_mul(8) {
                    break;
                }
                argv.push(replace(word, pattern, &item.text));
            }
            let exact: usize = argv.iter().map(|word| word.len() + 1).sum();
            if argv.len() < self.call.command.len() || exact > self.call.chars {
                complain(self.sys, b"xargs", b"argument list too long")?;
                return Ok(After::Stop(1));
            }
            if let After::Stop(status) = self.execute(argv)? {
                return Ok(After::Stop(status));
            }
        }
    }

    /// Runs the command with as many items as fit.
    fn batches(&mut self) -> Result<After, Stop> {
        let base: usize = self.call.command.iter().map(|word| word.len() + 1).sum();
        if base >= self.call.chars {
            let message = b"cannot fit single argument within argument list size limit";
            complain(self.sys, b"xargs", message)?;
            return Ok(After::Stop(1));
        }
        let mut batch: Vec<Vec<u8>> = Vec::new();
        let (mut size, mut lines) = (base, 0);
        loop {
            let item = match self.item()? {
                Ok(item) => item,
                Err(status) => {
                    // What was read before the mistake still runs.
                    if !batch.is_empty() {
                        self.batch(&mut batch)?;
                    }
                    return Ok(After::Stop(status));
                }
            };
            let Some(item) = item else { break };
            let more = item.text.len() + 1;
            if size + more > self.call.chars {
                if batch.is_empty()
                    || (self.call.exit && (self.call.args.is_some() || self.call.lines.is_some()))
                    || base + more > self.call.chars
                {
                    if !batch.is_empty()
                        && !self.call.exit
                        && let After::Stop(status) = self.batch(&mut batch)?
                    {
                        return Ok(After::Stop(status));
                    }
                    let alone = base + more > self.call.chars;
                    let what: &[u8] = if alone { b"line" } else { b"list" };
                    complain(
                        self.sys,
                        b"xargs",
                        &[b"argument ", what, b" too long"].concat(),
                    )?;
                    return Ok(After::Stop(1));
                }
                if let After::Stop(status) = self.batch(&mut batch)? {
                    return Ok(After::Stop(status));
                }
                (size, lines) = (base, 0);
            }
            size += more;
            lines += usize::from(item.ends_line);
            batch.push(item.text);
            let full = self.call.args.is_some_and(|most| batch.len() >= most)
                || self.call.lines.is_some_and(|most| lines >= most);
            if full {
                if let After::Stop(status) = self.batch(&mut batch)? {
                    return Ok(After::Stop(status));
                }
                (size, lines) = (base, 0);
            }
        }
        if !batch.is_empty() || (!self.ran && !self.call.skip_empty) {
            return self.batch(&mut batch);
        }
        Ok(After::Go)
    }

    fn batch(&mut self, batch: &mut Vec<Vec<u8>>) -> Result<After, Stop> {
        let mut argv = self.call.command.clone();
        argv.append(batch);
        self.execute(argv)
    }

    fn execute(&mut self, argv: Vec<Vec<u8>>) -> Result<After, Stop> {
        self.ran = true;
        self.sys.turns(1)?;
        let name = argv.first().cloned().unwrap_or_default();
        if self.call.verbose {
            let shown: Vec<Vec<u8>> = argv.iter().map(|word| shell_word(word)).collect();
            let mut line = shown.join(&b' ');
            line.push(b'\n');
            failed(self.sys.write(2, &line))?.ok();
        }
        let env = match self.call.slot.clone() {
            Some(slot) => {
                let mut environ = self.sys.environ()?;
                environ.retain(|(known, _)| *known != slot);
                environ.push((slot, b"0".to_vec()));
                Some(environ)
            }
            None => None,
        };
        let spawned = self.sys.spawn(Spawn {
            argv,
            env,
            fds: self.null.map(|fd| (0, fd)).into_iter().collect(),
            cwd: None,
            ..Spawn::default()
        });
        let ended = match failed(spawned)? {
            Ok(child) => failed(self.sys.wait(child))?,
            Err(errno) => Err(errno),
        };
        self.judge(&name, ended)
    }

    fn judge(&mut self, name: &[u8], ended: Result<Ended, Errno>) -> Result<After, Stop> {
        Ok(match ended {
            Ok(Ended::Exit(0)) => After::Go,
            Ok(Ended::Exit(255)) => {
                complain(
                    self.sys,
                    b"xargs",
                    &[name, b": exited with status 255; aborting"].concat(),
                )?;
                After::Stop(124)
            }
            Ok(Ended::Exit(_)) => {
                self.status = 123;
                After::Go
            }
            Ok(Ended::Signal(signal)) => {
                let message = [
                    name,
                    b": terminated by signal ",
                    signal.to_string().as_bytes(),
                ]
                .concat();
                complain(self.sys, b"xargs", &message)?;
                After::Stop(125)
            }
            Err(errno) => {
                complain(
                    self.sys,
                    b"xargs",
                    &[name, b": ", errno.text().as_bytes()].concat(),
                )?;
                After::Stop(say::not_run(errno))
            }
        })
    }
}

fn replace(word: &[u8], pattern: &[u8], with: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut at = 0;
    if !pattern.is_empty() {
        for found in memchr::memmem::find_iter(word, pattern) {
            out.extend_from_slice(word.get(at..found).unwrap_or_default());
            out.extend_from_slice(with);
            at = found + pattern.len();
        }
    }
    out.extend_from_slice(word.get(at..).unwrap_or_default());
    out
}

/// Quotes a word for `-t` where a shell would need it.
fn shell_word(word: &[u8]) -> Vec<u8> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_-./=,:@%+".contains(b) || *b > 127;
    if !word.is_empty() && word.iter().all(plain) {
        return word.to_vec();
    }
    let mut out = vec![b'\''];
    for byte in word {
        if *byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(*byte);
        }
    }
    out.push(b'\'');
    out
}
