//! Bytes of a program to tokens. Whether `/` divides or starts a regex is told by the token before it.

use jp_bash_system::{PIECE, Stop, System};

use super::number;

/// A builtin function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Func {
    And,
    Asort,
    Asorti,
    Atan2,
    Close,
    Compl,
    Cos,
    Exp,
    Fflush,
    Gensub,
    Gsub,
    Index,
    Int,
    Isarray,
    Length,
    Log,
    Lshift,
    Match,
    Mktime,
    Or,
    Patsplit,
    Rand,
    Rshift,
    Sin,
    Split,
    Sprintf,
    Sqrt,
    Srand,
    Strftime,
    Strtonum,
    Sub,
    Substr,
    System,
    Systime,
    Tolower,
    Toupper,
    Typeof,
    Xor,
}

/// Builtin functions by name, with the fewest and the most arguments.
pub(super) const FUNCS: &[(&str, Func, usize, usize)] = &[
    ("and", Func::And, 2, usize::MAX),
    ("asort", Func::Asort, 1, 3),
    ("asorti", Func::Asorti, 1, 3),
    ("atan2", Func::Atan2, 2, 2),
    ("close", Func::Close, 1, 2),
    ("compl", Func::Compl, 1, 1),
    ("cos", Func::Cos, 1, 1),
    ("exp", Func::Exp, 1, 1),
    ("fflush", Func::Fflush, 0, 1),
    ("gensub", Func::Gensub, 3, 4),
    ("gsub", Func::Gsub, 2, 3),
    ("index", Func::Index, 2, 2),
    ("int", Func::Int, 1, 1),
    ("isarray", Func::Isarray, 1, 1),
    ("length", Func::Length, 0, 1),
    ("log", Func::Log, 1, 1),
    ("lshift", Func::Lshift, 2, 2),
    ("match", Func::Match, 2, 3),
    ("mktime", Func::Mktime, 1, 2),
    ("or", Func::Or, 2, usize::MAX),
    ("patsplit", Func::Patsplit, 2, 4),
    ("rand", Func::Rand, 0, 0),
    ("rshift", Func::Rshift, 2, 2),
    ("sin", Func::Sin, 1, 1),
    ("split", Func::Split, 2, 4),
    ("sprintf", Func::Sprintf, 1, usize::MAX),
    ("sqrt", Func::Sqrt, 1, 1),
    ("srand", Func::Srand, 0, 1),
    ("strftime", Func::Strftime, 0, 3),
    ("strtonum", Func::Strtonum, 1, 1),
    ("sub", Func::Sub, 2, 3),
    ("substr", Func::Substr, 2, 3),
    ("system", Func::System, 1, 1),
    ("systime", Func::Systime, 0, 0),
    ("tolower", Func::Tolower, 1, 1),
    ("toupper", Func::Toupper, 1, 1),
    ("typeof", Func::Typeof, 1, 2),
    ("xor", Func::Xor, 2, usize::MAX),
];

/// A reserved word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Begin,
    Beginfile,
    Break,
    Case,
    Continue,
    Default,
    Delete,
    Do,
    Else,
    End,
    Endfile,
    Exit,
    For,
    Function,
    Getline,
    If,
    In,
    Next,
    Nextfile,
    Print,
    Printf,
    Return,
    Switch,
    While,
}

const WORDS: &[(&str, Word)] = &[
    ("BEGIN", Word::Begin),
    ("BEGINFILE", Word::Beginfile),
    ("END", Word::End),
    ("ENDFILE", Word::Endfile),
    ("break", Word::Break),
    ("case", Word::Case),
    ("continue", Word::Continue),
    ("default", Word::Default),
    ("delete", Word::Delete),
    ("do", Word::Do),
    ("else", Word::Else),
    ("exit", Word::Exit),
    ("for", Word::For),
    ("func", Word::Function),
    ("function", Word::Function),
    ("getline", Word::Getline),
    ("if", Word::If),
    ("in", Word::In),
    ("next", Word::Next),
    ("nextfile", Word::Nextfile),
    ("print", Word::Print),
    ("printf", Word::Printf),
    ("return", Word::Return),
    ("switch", Word::Switch),
    ("while", Word::While),
];

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tok {
    Newline,
    Eof,
    Number(f64),
    Str(Vec<u8>),
    Regex(Vec<u8>),
    Name(Vec<u8>),
    /// A name with `(` right behind it: a call of a user's function.
    Call(Vec<u8>),
    Func(Func),
    Word(Word),
    /// Operators and punctuation, by their spelling.
    Op(&'static str),
}

/// A token and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) tok: Tok,
    pub(super) line: u32,
    /// The offset of its first byte.
    pub(super) at: usize,
}

/// Why a program cannot be read.
#[derive(Debug)]
pub(super) struct LexError {
    pub(super) line: u32,
    pub(super) at: usize,
    pub(super) message: &'static str,
}

/// Longest first, so that the first match is the right one.
const OPS: &[&str] = &[
    "**=", "&&", "||", "|&", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=",
    ">=", "!=", "!~", ">>", "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^",
    "!", ">", "<", "|", "?", ":", "~", "$", "=", "@",
];

/// What differs between the awks that people call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `awk`, `mawk`, `nawk`: an unknown escape in a string keeps its backslash.
    Plain,
    /// `gawk`: it loses it, and a leading 0 is octal.
    Gnu,
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    dialect: Dialect,
    tokens: Vec<Token>,
}

/// Splits a program into tokens; the last one is [`Tok::Eof`].
pub(super) fn tokens(
    sys: &mut dyn System,
    text: &[u8],
    dialect: Dialect,
) -> Result<Result<Vec<Token>, LexError>, Stop> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line: 1,
        dialect,
        tokens: Vec::new(),
    };
    let mut asked = 0;
    loop {
        match lexer.token() {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(lexer.tokens)),
            Err(error) => return Ok(Err(error)),
        }
        while lexer.at >= asked + PIECE / 8 {
            asked += PIECE / 8;
            sys.work_bytes(PIECE)?;
        }
    }
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn push(&mut self, tok: Tok, at: usize) {
        self.tokens.push(Token {
            tok,
            line: self.line,
            at,
        });
    }

    fn error(&self, at: usize, message: &'static str) -> LexError {
        LexError {
            line: self.line,
            at,
            message,
        }
    }

    /// Skips blanks, comments and continued lines.
    fn skip(&mut self) {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'#') => {
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                Some(b'\\') if self.peek(1) == Some(b'\n') => {
                    self.at += 2;
                    self.line += 1;
                }
                Some(b'\\') if self.peek(1) == Some(b'\r') && self.peek(2) == Some(b'\n') => {
                    self.at += 3;
                    self.line += 1;
                }
                _ => break,
            }
        }
    }

    fn token(&mut self) -> Result<bool, LexError> {
        self.skip();
        let at = self.at;
        let Some(byte) = self.peek(0) else {
            self.push(Tok::Eof, at);
            return Ok(false);
        };
        match byte {
            b'\n' => {
                self.at += 1;
                self.push(Tok::Newline, at);
                self.line += 1;
            }
            b'"' => {
                let text = self.string()?;
                self.push(Tok::Str(text), at);
            }
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_some_and(|b| b.is_ascii_digit()) => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name(),
            b'/' if self.regex_may_start() => {
                let text = self.regex()?;
                self.push(Tok::Regex(text), at);
            }
            _ => {
                let rest = self.text.get(at..).unwrap_or_default();
                let op = OPS
                    .iter()
                    .find(|op| rest.starts_with(op.as_bytes()))
                    .ok_or_else(|| self.error(at, "syntax error"))?;
                self.at += op.len();
                let op = match *op {
                    "**" => "^",
                    "**=" => "^=",
                    other => other,
                };
                self.push(Tok::Op(op), at);
            }
        }
        Ok(true)
    }

    /// Tells whether an operand is expected here, so that `/` starts a regex.
    fn regex_may_start(&self) -> bool {
        let ends_operand = |tok: &Tok| match tok {
            Tok::Number(_) | Tok::Str(_) | Tok::Regex(_) | Tok::Name(_) | Tok::Func(_) => true,
            Tok::Op(op) => matches!(*op, ")" | "]"),
            _ => false,
        };
        let mut before = self.tokens.iter().rev().map(|token| &token.tok);
        match before.next() {
            // `a++ / b` divides, `x = ++ /re/` is nonsense anyway.
            Some(Tok::Op("++" | "--")) => !before.next().is_some_and(ends_operand),
            Some(tok) => !ends_operand(tok),
            None => true,
        }
    }

    fn number(&mut self) {
        let at = self.at;
        let rest = self.text.get(at..).unwrap_or_default();
        let (value, len) = self.radix(rest).unwrap_or_else(|| number::prefix(rest));
        self.at += usize::max(len, 1);
        self.push(Tok::Number(value), at);
    }

    /// Reads `0x1f`, and in gawk `017`.
    fn radix(&self, rest: &[u8]) -> Option<(f64, usize)> {
        let (radix, skip) = match rest {
            [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16.0, 2),
            [b'0', b'0'..=b'7', ..] if self.dialect == Dialect::Gnu => (8.0, 1),
            _ => return None,
        };
        let digits = rest.iter().skip(skip).take_while(|b| b.is_ascii_hexdigit());
        let mut value = 0.0;
        let mut len = skip;
        for digit in digits {
            let digit = f64::from(char::from(*digit).to_digit(16).unwrap_or(0));
            if digit >= radix {
                return None;
            }
            value = value * radix + digit;
            len += 1;
        }
        // `0.5`, `08`, `01e3` are decimal.
        (radix > 8.0 || !matches!(rest.get(len), Some(b'.' | b'e' | b'E'))).then_some((value, len))
    }

    fn name(&mut self) {
        let at = self.at;
        let rest = self.text.get(at..).unwrap_or_default();
        let len = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let name = rest.get(..len).unwrap_or_default();
        self.at += len;
        let word = WORDS.iter().find(|(word, _)| word.as_bytes() == name);
        let func = FUNCS.iter().find(|(func, ..)| func.as_bytes() == name);
        let tok = match (word, func) {
            (Some((_, word)), _) => Tok::Word(*word),
            (_, Some((_, func, ..))) => Tok::Func(*func),
            _ if self.peek(0) == Some(b'(') => Tok::Call(name.to_vec()),
            _ => Tok::Name(name.to_vec()),
        };
        self.push(tok, at);
    }

    fn string(&mut self) -> Result<Vec<u8>, LexError> {
        let start = self.at;
        self.at += 1;
        let from = self.at;
        loop {
            match self.peek(0) {
                Some(b'"') => break,
                Some(b'\\') => {
                    if self.peek(1) == Some(b'\n') {
                        self.line += 1;
                    }
                    self.at += 2;
                }
                None | Some(b'\n') => return Err(self.error(start, "unterminated string")),
                Some(_) => self.at += 1,
            }
        }
        let raw = self.text.get(from..self.at).unwrap_or_default();
        self.at += 1;
        Ok(unescape(raw, self.dialect))
    }

    /// Reads up to the closing `/`; one inside a bracket expression does not close.
    fn regex(&mut self) -> Result<Vec<u8>, LexError> {
        let start = self.at;
        self.at += 1;
        let mut text = Vec::new();
        let mut bracket = None;
        loop {
            match self.peek(0) {
                None | Some(b'\n') => return Err(self.error(start, "unterminated regexp")),
                Some(b'\\') => {
                    match self.peek(1) {
                        Some(b'/') => text.push(b'/'),
                        Some(b'\n') => self.line += 1,
                        Some(next) => text.extend_from_slice(&[b'\\', next]),
                        None => return Err(self.error(start, "unterminated regexp")),
                    }
                    self.at += 2;
                    continue;
                }
                Some(b'[') if bracket.is_none() => {
                    let negated = self.peek(1) == Some(b'^');
                    bracket = Some(self.at + 1 + usize::from(negated));
                }
                Some(b'[') if matches!(self.peek(1), Some(b':' | b'.' | b'=')) => {
                    // `[:alpha:]` holds a `]` that does not close the bracket expression.
                    let class = self.class();
                    text.extend_from_slice(
                        self.text.get(self.at..self.at + class).unwrap_or_default(),
                    );
                    self.at += class;
                    continue;
                }
                Some(b']') if bracket.is_some_and(|first| self.at != first) => bracket = None,
                Some(b'/') if bracket.is_none() => break,
                Some(_) => {}
            }
            text.extend(self.peek(0));
            self.at += 1;
        }
        self.at += 1;
        Ok(text)
    }
}

impl Lexer<'_> {
    /// Returns the length of `[:name:]` here, or 1 if it is not closed on this line.
    fn class(&self) -> usize {
        let kind = self.peek(1);
        let mut len = 2;
        loop {
            match self.peek(len) {
                None | Some(b'\n' | b'/') => return 1,
                Some(b']') if self.peek(len - 1) == kind && len > 2 => return len + 1,
                Some(_) => len += 1,
            }
        }
    }
}

/// Replaces the escapes of a string constant, of `-v` and of an assignment among the operands.
pub(super) fn unescape(raw: &[u8], dialect: Dialect) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(&next) = raw.get(at) else {
            out.push(b'\\');
            break;
        };
        at += 1;
        match next {
            b'"' | b'\\' | b'/' => out.push(next),
            b'\n' => {}
            b'0'..=b'7' | b'x' => match code(raw, at - 1) {
                Some((value, end)) => {
                    out.push(value);
                    at = end;
                }
                None => out.extend_from_slice(b"\\x"),
            },
            _ => match control(next) {
                Some(control) => out.push(control),
                None => {
                    if dialect == Dialect::Plain {
                        out.push(b'\\');
                    }
                    out.push(next);
                }
            },
        }
    }
    out
}

/// Returns the control character of `\a`, `\n` and so on.
pub(super) fn control(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        _ => return None,
    })
}

/// Reads the digits of `\101` or `\x41`, whose first character is at `at`; returns the byte and where they end.
pub(super) fn code(raw: &[u8], at: usize) -> Option<(u8, usize)> {
    let hex = raw.get(at) == Some(&b'x');
    let (radix, first, most) = if hex { (16, at + 1, 2) } else { (8, at, 3) };
    let mut value = 0_u32;
    let mut end = first;
    while end < first + most
        && let Some(digit) = raw.get(end).and_then(|b| char::from(*b).to_digit(radix))
    {
        value = value * radix + digit;
        end += 1;
    }
    // `\777` is more than a byte; awk keeps the low eight bits.
    (end > first).then(|| (u8::try_from(value & 255).unwrap_or(0), end))
}
