//! What the arguments of grep ask for.

use jp_bash_regex::{Dialect, Flags, Flavor, Regex, Whole};
use jp_bash_system::io::{Input, complain};
use jp_bash_system::{OpenHow, Stop, System, failed};

use crate::options::{Order, parse_with_usage};

const USAGE: &[u8] = b"Usage: grep [OPTION]... PATTERNS [FILE]...\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Report,
    Text,
    WithoutMatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directories {
    Read,
    Skip,
    Recurse { follow: bool },
}

/// What is printed for each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    Lines,
    Matches,
    Count,
    /// `-l`.
    WithMatch,
    /// `-L`.
    WithoutMatch,
    Quiet,
}

/// Everything that was asked for.
pub(super) struct Config {
    pub(super) regex: Option<Regex>,
    /// Lines must be searched one at a time: the pattern may match a newline.
    pub(super) line_by_line: bool,
    pub(super) eol: u8,
    pub(super) utf8: bool,
    pub(super) invert: bool,
    pub(super) show: Show,
    pub(super) max_count: Option<u64>,
    pub(super) byte_offset: bool,
    pub(super) line_number: bool,
    pub(super) with_filename: Option<bool>,
    pub(super) label: Vec<u8>,
    pub(super) binary: Binary,
    pub(super) directories: Directories,
    pub(super) skip_devices: Option<bool>,
    pub(super) no_messages: bool,
    pub(super) line_buffered: bool,
    pub(super) initial_tab: bool,
    pub(super) null_after_name: bool,
    pub(super) before: u64,
    pub(super) after: u64,
    /// Context was asked for, even if of no lines: groups are then separated.
    pub(super) groups: bool,
    pub(super) separator: Option<Vec<u8>>,
    pub(super) color: bool,
    /// `--include` (true) and `--exclude` (false) in order.
    pub(super) globs: Vec<(bool, Vec<u8>)>,
    pub(super) exclude_dirs: Vec<Vec<u8>>,
    pub(super) files: Vec<Vec<u8>>,
}

/// What is still to be decided while options are read.
struct Draft {
    config: Config,
    flavor: Flavor,
    /// The syntax was named, so it may not be named otherwise.
    chosen: bool,
    flags: Flags,
    patterns: Option<Vec<Vec<u8>>>,
    count: bool,
    list: Option<Show>,
    only_matching: bool,
    quiet: bool,
    context: Option<u64>,
    before: Option<u64>,
    after: Option<u64>,
    digits: Option<u64>,
}

/// Reads the arguments; `Err` is the exit status after a message.
pub(super) fn read(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<Result<Config, i32>, Stop> {
    let parsed = match parse_with_usage(sys, args, super::OPTIONS, Order::Permute, USAGE)? {
        Ok(parsed) => parsed,
        Err(_) => return Ok(Err(2)),
    };
    let mut draft = Draft::new(sys, args);
    for (id, value) in parsed.options {
        let value = value.unwrap_or_default();
        if let Err(status) = draft.option(sys, id, value)? {
            return Ok(Err(status));
        }
    }
    let mut operands = parsed.operands.into_iter();
    if draft.patterns.is_none() {
        match operands.next() {
            Some(pattern) => draft.add_patterns(&pattern),
            None => {
                let usage = [USAGE, b"Try 'grep --help' for more information.\n"].concat();
                failed(sys.write(2, &usage))?.ok();
                return Ok(Err(2));
            }
        }
    }
    draft.config.files = operands.collect();
    draft.finish(sys)
}

impl Draft {
    fn new(sys: &mut dyn System, args: &[Vec<u8>]) -> Self {
        let utf8 = sys.utf8();
        let called = args.first().map_or(&b"grep"[..], |name| name.as_slice());
        let called = called.rsplit(|byte| *byte == b'/').next().unwrap_or(called);
        Self {
            config: Config {
                regex: None,
                line_by_line: false,
                eol: b'\n',
                utf8,
                invert: false,
                show: Show::Lines,
                max_count: None,
                byte_offset: false,
                line_number: false,
                with_filename: None,
                label: b"(standard input)".to_vec(),
                binary: Binary::Report,
                directories: Directories::Read,
                skip_devices: None,
                no_messages: false,
                line_buffered: false,
                initial_tab: false,
                null_after_name: false,
                before: 0,
                after: 0,
                groups: false,
                separator: Some(b"--".to_vec()),
                color: false,
                globs: Vec::new(),
                exclude_dirs: Vec::new(),
                files: Vec::new(),
            },
            flavor: match called {
                b"egrep" => Flavor::Extended,
                b"fgrep" => Flavor::Fixed,
                _ => Flavor::Basic,
            },
            chosen: matches!(called, b"egrep" | b"fgrep"),
            flags: Flags {
                utf8,
                dialect: Dialect::Grep,
                ..Flags::default()
            },
            patterns: None,
            count: false,
            list: None,
            only_matching: false,
            quiet: false,
            context: None,
            before: None,
            after: None,
            digits: None,
        }
    }

    fn add_patterns(&mut self, text: &[u8]) {
        self.patterns
            .get_or_insert_with(Vec::new)
            .extend(text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }

    fn option(
        &mut self,
        sys: &mut dyn System,
        id: char,
        value: Vec<u8>,
    ) -> Result<Result<(), i32>, Stop> {
        let config = &mut self.config;
        match id {
            'E' => return self.matcher(sys, Flavor::Extended),
            'F' => return self.matcher(sys, Flavor::Fixed),
            'G' => return self.matcher(sys, Flavor::Basic),
            'P' => return self.matcher(sys, Flavor::Perl),
            'e' => self.add_patterns(&value),
            'f' => return self.pattern_file(sys, &value),
            'i' | 'y' => self.flags.ignore_case = true,
            '\u{100}' => self.flags.ignore_case = false,
            'w' if self.flags.whole != Whole::Line => self.flags.whole = Whole::Word,
            'x' => self.flags.whole = Whole::Line,
            'z' => config.eol = 0,
            's' => config.no_messages = true,
            'v' => config.invert = true,
            'b' => config.byte_offset = true,
            'n' => config.line_number = true,
            '\u{102}' => config.line_buffered = true,
            'H' => config.with_filename = Some(true),
            'h' => config.with_filename = Some(false),
            '\u{103}' => config.label = value,
            'o' => self.only_matching = true,
            'q' => self.quiet = true,
            'a' => config.binary = Binary::Text,
            'I' => config.binary = Binary::WithoutMatch,
            'r' => config.directories = Directories::Recurse { follow: false },
            'R' => config.directories = Directories::Recurse { follow: true },
            '\u{105}' => config.globs.push((true, value)),
            '\u{106}' => config.globs.push((false, value)),
            '\u{108}' => config.exclude_dirs.push(strip_slashes(value)),
            'L' => self.list = Some(Show::WithoutMatch),
            'l' => self.list = Some(Show::WithMatch),
            'c' => self.count = true,
            'T' => config.initial_tab = true,
            'Z' => config.null_after_name = true,
            '\u{109}' => config.separator = Some(value),
            '\u{10a}' => config.separator = None,
            '0'..='9' => {
                let digit = u64::from(id.to_digit(10).unwrap_or(0));
                let so_far = self.digits.unwrap_or(0);
                self.digits = Some(so_far.saturating_mul(10).saturating_add(digit));
            }
            _ => return self.valued(sys, id, &value),
        }
        Ok(Ok(()))
    }

    fn matcher(&mut self, sys: &mut dyn System, flavor: Flavor) -> Result<Result<(), i32>, Stop> {
        if self.chosen && self.flavor != flavor {
            complain(sys, b"grep", b"conflicting matchers specified")?;
            return Ok(Err(2));
        }
        self.chosen = true;
        self.flavor = flavor;
        Ok(Ok(()))
    }

    /// Options whose argument can be wrong, and those that print and end.
    fn valued(
        &mut self,
        sys: &mut dyn System,
        id: char,
        value: &[u8],
    ) -> Result<Result<(), i32>, Stop> {
        let config = &mut self.config;
        let mut wrong: Option<Vec<u8>> = None;
        match id {
            'A' | 'B' | 'C' => match number(value) {
                Some(n) if id == 'A' => self.after = Some(n),
                Some(n) if id == 'B' => self.before = Some(n),
                Some(n) => self.context = Some(n),
                None => wrong = Some([value, b": invalid context length argument"].concat()),
            },
            'm' => match (number(value), value.first()) {
                (Some(n), _) => config.max_count = Some(n),
                (None, Some(b'-')) if number(value.get(1..).unwrap_or_default()).is_some() => {
                    config.max_count = None;
                }
                _ => wrong = Some(b"invalid max count".to_vec()),
            },
            'D' => match value {
                b"read" => config.skip_devices = Some(false),
                b"skip" => config.skip_devices = Some(true),
                _ => wrong = Some(b"unknown devices method".to_vec()),
            },
            'd' => match value {
                b"" => return bad_directories(sys, value),
                value if b"read".starts_with(value) && value.len() > 2 => {
                    config.directories = Directories::Read;
                }
                value if b"skip".starts_with(value) => config.directories = Directories::Skip,
                value if b"recurse".starts_with(value) && value.len() > 2 => {
                    config.directories = Directories::Recurse { follow: false }
                }
                _ => return bad_directories(sys, value),
            },
            '\u{104}' => match value {
                b"binary" => config.binary = Binary::Report,
                b"text" => config.binary = Binary::Text,
                b"without-match" => config.binary = Binary::WithoutMatch,
                _ => wrong = Some(b"unknown binary-files type".to_vec()),
            },
            '\u{10b}' => match value {
                b"always" | b"yes" | b"force" => config.color = true,
                // Nothing here is a terminal, so `auto` is never.
                b"" | b"auto" | b"tty" | b"if-tty" | b"never" | b"no" | b"none" => {
                    config.color = false;
                }
                _ => return bad_color(sys),
            },
            '\u{107}' => return self.exclude_from(sys, value),
            'V' => {
                failed(sys.write(1, b"grep (jp, like GNU grep) 3.8\n"))?.ok();
                return Ok(Err(0));
            }
            '\u{101}' => {
                failed(sys.write(1, &help()))?.ok();
                return Ok(Err(0));
            }
            _ => {}
        }
        match wrong {
            None => Ok(Ok(())),
            Some(message) => {
                complain(sys, b"grep", &message)?;
                Ok(Err(2))
            }
        }
    }

    fn pattern_file(&mut self, sys: &mut dyn System, path: &[u8]) -> Result<Result<(), i32>, Stop> {
        let mut all = match slurp(sys, path)? {
            Ok(all) => all,
            Err(status) => return Ok(Err(status)),
        };
        if all.last() == Some(&b'\n') {
            all.pop();
        } else if all.is_empty() {
            self.patterns.get_or_insert_with(Vec::new);
            return Ok(Ok(()));
        }
        // Each pattern is a text of its own, however short.
        let lines = memchr::memchr_iter(b'\n', &all).count() + 1;
        let needed =
            all.len()
                .saturating_add(lines.saturating_mul(4 * size_of::<Vec<u8>>())) as u64;
        sys.reserve(needed)?;
        sys.release(needed);
        self.add_patterns(&all);
        Ok(Ok(()))
    }

    fn exclude_from(&mut self, sys: &mut dyn System, path: &[u8]) -> Result<Result<(), i32>, Stop> {
        let all = match slurp(sys, path)? {
            Ok(all) => all,
            Err(status) => return Ok(Err(status)),
        };
        let lines = all
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        self.config
            .globs
            .extend(lines.map(|line| (false, line.to_vec())));
        Ok(Ok(()))
    }

    fn finish(mut self, sys: &mut dyn System) -> Result<Result<Config, i32>, Stop> {
        let context = self.context.or(self.digits).unwrap_or(0);
        self.config.groups = [self.context, self.digits, self.before, self.after]
            .iter()
            .any(Option::is_some);
        self.config.before = self.before.unwrap_or(context);
        self.config.after = self.after.unwrap_or(context);
        self.config.show = match (self.quiet, self.list) {
            (true, _) => Show::Quiet,
            (_, Some(list)) => list,
            _ if self.count => Show::Count,
            _ if self.only_matching => Show::Matches,
            _ => Show::Lines,
        };
        if !matches!(self.config.show, Show::Lines | Show::Matches) {
            self.config.before = 0;
            self.config.after = 0;
        }
        let perl = self.flavor == Flavor::Perl;
        self.config.line_by_line = perl;
        if !perl {
            self.flags.lines = Some(self.config.eol);
        }
        self.flags.newline = perl && self.config.eol == 0;
        let patterns = self.patterns.take().unwrap_or_default();
        let size: usize = patterns.iter().map(|pattern| pattern.len() * 8 + 192).sum();
        // What is made of them takes several times their length.
        sys.reserve(size as u64)?;
        let mut views: Vec<&[u8]> = patterns.iter().map(Vec::as_slice).collect();
        if !perl && views.len() > 1 {
            let mut seen = rustc_hash::FxHashSet::default();
            views.retain(|view| seen.insert(*view));
        }
        let nothing = self.config.max_count == Some(0) || (views.is_empty() && !self.config.invert);
        if nothing && self.config.show != Show::WithoutMatch {
            // Nothing can be selected, so GNU reads nothing and prints not even counts.
            return Ok(Err(1));
        }
        if views.is_empty() {
            return Ok(Ok(self.config));
        }
        match Regex::any_of(sys, &views, self.flavor, self.flags)? {
            Ok(regex) => {
                // Debian's grep is silent about stray backslashes.
                let said = regex.warnings().iter();
                for warning in said.filter(|warning| !warning.starts_with("stray")) {
                    let text = format!("warning: {warning}");
                    complain(sys, b"grep", text.as_bytes())?;
                }
                self.config.regex = Some(regex);
                Ok(Ok(self.config))
            }
            Err(error) => {
                complain(sys, b"grep", error.to_string().as_bytes())?;
                Ok(Err(2))
            }
        }
    }
}

fn strip_slashes(mut value: Vec<u8>) -> Vec<u8> {
    while value.len() > 1 && value.last() == Some(&b'/') {
        value.pop();
    }
    value
}

fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0_u64, |n, digit| {
        n.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    }))
}

/// Reads a whole small file; its bytes stay counted.
fn slurp(sys: &mut dyn System, path: &[u8]) -> Result<Result<Vec<u8>, i32>, Stop> {
    let fd = if path == b"-" {
        0
    } else {
        match failed(sys.open(path, OpenHow::READ))? {
            Ok(fd) => fd,
            Err(errno) => {
                let message = [path, b": ", errno.text().as_bytes()].concat();
                complain(sys, b"grep", &message)?;
                return Ok(Err(2));
            }
        }
    };
    let mut input = Input::new(fd);
    let mut all = Vec::new();
    loop {
        let piece = match failed(input.fill(sys))? {
            Ok(piece) => piece.to_vec(),
            Err(errno) => {
                let message = [path, b": ", errno.text().as_bytes()].concat();
                complain(sys, b"grep", &message)?;
                return Ok(Err(2));
            }
        };
        if piece.is_empty() {
            break;
        }
        sys.reserve(piece.len() as u64)?;
        input.consume(piece.len());
        all.extend_from_slice(&piece);
    }
    if fd != 0 {
        sys.close(fd);
    }
    Ok(Ok(all))
}

fn bad_directories(sys: &mut dyn System, value: &[u8]) -> Result<Result<(), i32>, Stop> {
    let (open, close) = if sys.utf8() {
        ("\u{2018}", "\u{2019}")
    } else {
        ("'", "'")
    };
    let what = if b"recurse".starts_with(value) {
        "ambiguous"
    } else {
        "invalid"
    };
    let value = String::from_utf8_lossy(value);
    let list: String = ["read", "recurse", "skip"]
        .iter()
        .map(|name| format!("\n  - {open}{name}{close}"))
        .collect();
    let text = format!(
        "{what} argument {open}{value}{close} for {open}--directories{close}\nValid arguments are:{list}"
    );
    complain(sys, b"grep", text.as_bytes())?;
    let usage = [USAGE, b"Try 'grep --help' for more information.\n"].concat();
    failed(sys.write(2, &usage))?.ok();
    // GNU's `argmatch` always exits with 1, whatever the command's own status for trouble is.
    Ok(Err(1))
}

fn bad_color(sys: &mut dyn System) -> Result<Result<(), i32>, Stop> {
    let usage = [USAGE, b"Try 'grep --help' for more information.\n"].concat();
    failed(sys.write(2, &usage))?.ok();
    Ok(Err(2))
}

/// Lists the options from the table.
fn help() -> Vec<u8> {
    let mut text = USAGE.to_vec();
    text.extend_from_slice(b"Search for PATTERNS in each FILE.\n\nOptions:\n");
    for option in super::OPTIONS {
        let short = option
            .short
            .map_or("   ".to_owned(), |s| format!("-{} ", char::from(s)));
        let long = option.long.map_or(String::new(), |l| format!("--{l}"));
        text.extend_from_slice(format!("  {short} {long}\n").as_bytes());
    }
    text
}
