//! `wc`: counts lines, words, characters and bytes.

use jp_bash_system::io::{Input, Output, called, fail, say};
use jp_bash_system::{Errno, FileKind, Follow, Stop, SysError, System, Whence, failed};
use unicode_width::UnicodeWidthChar;

use super::Spec;
use super::options::{Front, HELP, Opt, Order, Takes, VERSION, begin, hint, opt};
use super::quote::{first_char, quote_name, quote_name_if_odd};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "wc",
    about: "Counts lines, words and bytes of each file, with a total if there are several.",
    run,
    options: OPTIONS,
};

const FILES0_FROM: char = '\u{200}';

const OPTIONS: &[Opt] = &[
    opt('c', Some(b'c'), Some("bytes"), Takes::Nothing),
    opt('m', Some(b'm'), Some("chars"), Takes::Nothing),
    opt('l', Some(b'l'), Some("lines"), Takes::Nothing),
    opt(FILES0_FROM, None, Some("files0-from"), Takes::Required),
    opt('L', Some(b'L'), Some("max-line-length"), Takes::Nothing),
    opt('w', Some(b'w'), Some("words"), Takes::Nothing),
    HELP,
    VERSION,
];

const FRONT: Front = Front {
    spec: &SPEC,
    usage: "[OPTION]... [FILE]...",
    usage_status: 1,
    order: Order::Permute,
};

/// The columns to print.
#[derive(Debug, Clone, Copy, Default)]
struct Columns {
    lines: bool,
    words: bool,
    chars: bool,
    bytes: bool,
    width: bool,
}

impl Columns {
    fn number(self) -> usize {
        [self.lines, self.words, self.chars, self.bytes, self.width]
            .iter()
            .filter(|column| **column)
            .count()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    lines: u64,
    words: u64,
    chars: u64,
    bytes: u64,
    width: u64,
}

/// Runs `wc`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let parsed = match begin(sys, args, &FRONT)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut columns = Columns::default();
    let mut from = None;
    for (id, value) in &parsed.options {
        match id {
            'c' => columns.bytes = true,
            'm' => columns.chars = true,
            'l' => columns.lines = true,
            'L' => columns.width = true,
            'w' => columns.words = true,
            _ => from = value.as_deref(),
        }
    }
    if columns.number() == 0 {
        columns = Columns {
            lines: true,
            words: true,
            bytes: true,
            ..columns
        };
    }
    let mut job = Job {
        args,
        columns,
        utf8: sys.utf8(),
        digits: 1,
        total: Counts::default(),
        files: 0,
        status: 0,
        out: Output::new(1),
    };
    match from {
        None => job.operands(sys, &parsed.operands)?,
        Some(from) => {
            if let Some(extra) = parsed.operands.first() {
                let name = quote_name(job.utf8, extra);
                fail(sys, args, 1, &[b"extra operand ", &name])?;
                say(
                    sys,
                    &[b"file operands cannot be combined with --files0-from\n"],
                )?;
                hint(sys, called(args))?;
                return Ok(1);
            }
            if let Some(status) = job.listed(sys, from)? {
                return Ok(status);
            }
        }
    }
    if job.files > 1 {
        let total = job.total;
        job.print(sys, &total, Some(b"total"))?;
    }
    let status = job.status;
    match job.out.finish(sys)? {
        Ok(()) => Ok(status),
        Err(_) => fail(sys, args, 1, &[b"write error"]),
    }
}

struct Job<'a> {
    args: &'a [Vec<u8>],
    columns: Columns,
    utf8: bool,
    digits: usize,
    total: Counts,
    files: u64,
    status: i32,
    out: Output,
}

impl Job<'_> {
    fn complain(&mut self, sys: &mut dyn System, parts: &[&[u8]]) -> Result<(), Stop> {
        self.out.flush(sys)?;
        self.status = fail(sys, self.args, 1, parts)?;
        Ok(())
    }

    /// Counts the files named on the command line.
    fn operands(&mut self, sys: &mut dyn System, operands: &[Vec<u8>]) -> Result<(), Stop> {
        if operands.is_empty() {
            self.digits = self.width(sys, &[b"-".to_vec()]);
            return self.file(sys, b"-", None);
        }
        self.digits = self.width(sys, operands);
        for operand in operands {
            if operand.is_empty() {
                self.files += 1;
                self.complain(sys, &[b"invalid zero-length file name"])?;
                continue;
            }
            self.file(sys, operand, Some(operand))?;
        }
        Ok(())
    }

    /// Counts the files whose names, each ending in NUL, are in a file.
    fn listed(&mut self, sys: &mut dyn System, from: &[u8]) -> Result<Option<i32>, Stop> {
        let mut list = match failed(Input::open(sys, from))? {
            Ok(list) => list,
            Err(errno) => {
                let name = quote_name(self.utf8, from);
                let text = errno.text().as_bytes();
                let parts: &[&[u8]] = &[b"cannot open ", &name, b" for reading: ", text];
                return fail(sys, self.args, 1, parts).map(Some);
            }
        };
        let regular = failed(sys.fstat(list.fd()))?
            .is_ok_and(|stat| stat.kind == FileKind::Regular && stat.size <= 10 << 20);
        let mut names = Vec::new();
        let mut number = 0u64;
        loop {
            let name = match failed(list.record(sys, 0))? {
                Ok(Some(name)) => name.strip_suffix(b"\0").unwrap_or(name).to_vec(),
                Ok(None) => break,
                Err(errno) => {
                    let name = quote_name_if_odd(self.utf8, from);
                    self.complain(sys, &[&name, b": read error: ", errno.text().as_bytes()])?;
                    break;
                }
            };
            number += 1;
            // The widths need all names at once; a stream is taken one by one, as GNU does.
            if regular {
                names.push(name);
            } else {
                self.listed_one(sys, from, number, &name)?;
            }
        }
        list.close(sys);
        if regular && !names.is_empty() {
            self.digits = self.width(sys, &names);
        }
        for (name, number) in names.iter().zip(1..) {
            self.listed_one(sys, from, number, name)?;
        }
        Ok(None)
    }

    fn listed_one(
        &mut self,
        sys: &mut dyn System,
        from: &[u8],
        number: u64,
        name: &[u8],
    ) -> Result<(), Stop> {
        if name.is_empty() {
            self.files += 1;
            let list = quote_name_if_odd(self.utf8, from);
            let number = number.to_string();
            let text = b": invalid zero-length file name";
            return self.complain(sys, &[&list, b":", number.as_bytes(), text]);
        }
        if from == b"-" && name == b"-" {
            self.files += 1;
            let text = b"when reading file names from stdin, no file name of '-' allowed";
            return self.complain(sys, &[text]);
        }
        self.file(sys, name, Some(name))
    }

    /// Returns how wide the columns must be, from the sizes of the files.
    fn width(&self, sys: &mut dyn System, files: &[Vec<u8>]) -> usize {
        if files.len() == 1 && self.columns.number() == 1 {
            return 1;
        }
        let mut least = 1;
        let mut sum = 0u64;
        for (at, file) in files.iter().enumerate() {
            let stat = if file == b"-" {
                sys.fstat(0)
            } else {
                sys.stat(file, Follow::Yes)
            };
            match stat {
                Ok(stat) if stat.kind == FileKind::Regular => sum = sum.saturating_add(stat.size),
                Ok(_) => least = 7,
                // GNU gives up on widths when the very first file is missing.
                Err(SysError::Errno(Errno::NoEnt)) if at == 0 => return 1,
                Err(_) if file == b"-" => least = 7,
                Err(_) => {}
            }
        }
        usize::max(least, sum.to_string().len())
    }

    fn file(
        &mut self,
        sys: &mut dyn System,
        path: &[u8],
        shown: Option<&[u8]>,
    ) -> Result<(), Stop> {
        self.files += 1;
        let mut input = match failed(Input::open(sys, path))? {
            Ok(input) => input,
            Err(errno) => {
                let name = quote_name_if_odd(self.utf8, path);
                return self.complain(sys, &[&name, b": ", errno.text().as_bytes()]);
            }
        };
        let mut counts = Counts::default();
        let done = count(sys, &mut input, self.columns, self.utf8, &mut counts);
        input.close(sys);
        if let Err(errno) = failed(done)? {
            let name: &[u8] = if shown.is_some() {
                path
            } else {
                b"standard input"
            };
            let name = quote_name_if_odd(self.utf8, name);
            self.complain(sys, &[&name, b": ", errno.text().as_bytes()])?;
        }
        self.total.lines += counts.lines;
        self.total.words += counts.words;
        self.total.chars += counts.chars;
        self.total.bytes += counts.bytes;
        self.total.width = u64::max(self.total.width, counts.width);
        self.print(sys, &counts, shown)
    }

    fn print(
        &mut self,
        sys: &mut dyn System,
        counts: &Counts,
        name: Option<&[u8]>,
    ) -> Result<(), Stop> {
        let columns = [
            (self.columns.lines, counts.lines),
            (self.columns.words, counts.words),
            (self.columns.chars, counts.chars),
            (self.columns.bytes, counts.bytes),
            (self.columns.width, counts.width),
        ];
        let mut line = String::new();
        for (_, count) in columns.iter().filter(|(wanted, _)| *wanted) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&format!("{count:>width$}", width = self.digits));
        }
        let mut line = line.into_bytes();
        if let Some(name) = name {
            line.push(b' ');
            // A name with a newline would fake a line of its own.
            if name.contains(&b'\n') {
                line.extend_from_slice(&quote_name_if_odd(self.utf8, name));
            } else {
                line.extend_from_slice(name);
            }
        }
        line.push(b'\n');
        self.out.put(sys, &line)
    }
}

fn count(
    sys: &mut dyn System,
    input: &mut Input,
    columns: Columns,
    utf8: bool,
    counts: &mut Counts,
) -> Result<(), SysError> {
    let chars_are_bytes = columns.chars && !utf8;
    let slow = columns.words || columns.width || columns.chars && utf8;
    if !slow
        && !columns.lines
        && let Some(bytes) = by_size(sys, input)?
    {
        counts.bytes = bytes;
        counts.chars = bytes;
        return Ok(());
    }
    let mut walk = Walk::default();
    // A character cut off by the end of the file is no character: what is left in here is not counted.
    let mut rest = Vec::new();
    loop {
        let bytes = input.fill(sys)?;
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        counts.bytes += len as u64;
        if !slow {
            counts.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        } else if utf8 {
            walk.utf8(bytes, &mut rest, counts);
        } else {
            walk.plain(bytes, counts);
        }
        input.consume(len);
        sys.work(32)?;
    }
    walk.end(counts);
    if chars_are_bytes {
        counts.chars = counts.bytes;
    }
    Ok(())
}

/// Takes the number of bytes from a regular file's size, and moves to its end as if they had been read.
fn by_size(sys: &mut dyn System, input: &Input) -> Result<Option<u64>, SysError> {
    match failed(sys.fstat(input.fd()))? {
        Ok(stat) if stat.kind == FileKind::Regular && stat.size > 0 => {
            let Ok(from) = failed(sys.seek(input.fd(), Whence::Current(0)))? else {
                return Ok(None);
            };
            if from < stat.size {
                sys.seek(input.fd(), Whence::End(0))?;
            }
            Ok(Some(stat.size.saturating_sub(from)))
        }
        _ => Ok(None),
    }
}

/// What a byte below 128 does: nothing to see, part of a word, a blank, or one of the special ones.
const HIDDEN: u8 = 0;
const WORD: u8 = 1;
const SPECIAL: u8 = 2;
const KINDS: [u8; 256] = kinds();

const fn kinds() -> [u8; 256] {
    let mut kinds = [HIDDEN; 256];
    let mut at = 0x21;
    while at < 0x7f {
        kinds[at] = WORD;
        at += 1;
    }
    let mut at = 9;
    while at <= 13 {
        kinds[at] = SPECIAL;
        at += 1;
    }
    kinds[0x20] = SPECIAL;
    kinds
}

/// Where in a line and word the counting stands.
#[derive(Default)]
struct Walk {
    in_word: bool,
    column: u64,
}

impl Walk {
    fn blank(&mut self, byte: u8, counts: &mut Counts) {
        match byte {
            b'\n' => {
                counts.lines += 1;
                self.new_line(counts);
            }
            b'\r' | 12 => self.new_line(counts),
            b'\t' => self.column += 8 - self.column % 8,
            b' ' => self.column += 1,
            _ => {}
        }
        counts.words += u64::from(self.in_word);
        self.in_word = false;
    }

    fn new_line(&mut self, counts: &mut Counts) {
        counts.width = u64::max(counts.width, self.column);
        self.column = 0;
    }

    #[inline]
    fn byte(&mut self, byte: u8, counts: &mut Counts) {
        match KINDS[usize::from(byte)] {
            WORD => {
                self.in_word = true;
                self.column += 1;
            }
            SPECIAL => self.blank(byte, counts),
            _ => {}
        }
    }

    fn plain(&mut self, bytes: &[u8], counts: &mut Counts) {
        for &byte in bytes {
            self.byte(byte, counts);
        }
    }

    /// Counts UTF-8 text; the beginning of a character that is not complete yet stays in `rest`.
    fn utf8(&mut self, bytes: &[u8], rest: &mut Vec<u8>, counts: &mut Counts) {
        let joined;
        let mut bytes = bytes;
        if !rest.is_empty() {
            joined = [rest.as_slice(), bytes].concat();
            rest.clear();
            bytes = &joined;
        }
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte < 0x80 {
                counts.chars += 1;
                self.byte(byte, counts);
                at += 1;
                continue;
            }
            let here = bytes.get(at..).unwrap_or_default();
            if let Some((ch, len)) = first_char(here) {
                counts.chars += 1;
                self.wide(ch, counts);
                at += len;
            } else if here.len() < 4 && could_continue(here) {
                rest.extend_from_slice(here);
                return;
            } else {
                at += 1;
            }
        }
    }

    fn wide(&mut self, ch: char, counts: &mut Counts) {
        let space = matches!(
            ch,
            '\u{1680}' | '\u{2000}'
                ..='\u{200a}' | '\u{205f}' | '\u{3000}' | '\u{a0}' | '\u{202f}' | '\u{2060}'
        );
        if ch.is_control() || matches!(ch, '\u{2028}' | '\u{2029}') {
            return;
        }
        self.column += ch.width().unwrap_or(0) as u64;
        if space {
            counts.words += u64::from(self.in_word);
            self.in_word = false;
        } else {
            self.in_word = true;
        }
    }

    fn end(&mut self, counts: &mut Counts) {
        counts.width = u64::max(counts.width, self.column);
        counts.words += u64::from(self.in_word);
    }
}

/// Tells whether these bytes are the beginning of a character.
fn could_continue(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => false,
        Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
    }
}
