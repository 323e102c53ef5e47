//! Cuts a program into tokens. Strings become tokens of their own, so that the parser sees interpolations.

use super::json;
use super::number;
use super::text::Text;
use super::value::Value;

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    End,
    /// Operators, brackets.
    Mark(&'static str),
    /// A name, possibly a keyword, possibly with `::`.
    Name(Text),
    /// `.name`
    Field(Text),
    /// `$name`
    Var(Text),
    /// `@name`
    Format(Text),
    Number(Num),
    /// `"`: then texts, `\(` … `)`, and [`Token::StringEnd`].
    StringStart,
    StringText(Text),
    Interpolate,
    InterpolateEnd,
    StringEnd,
    Bad,
}

/// A number, which has no useful equality.
#[derive(Debug, Clone)]
pub(super) struct Num(pub(super) Value);

impl PartialEq for Num {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// A token and where it begins.
#[derive(Debug, Clone)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) at: usize,
}

/// Longer marks come first.
const MARKS: &[&str] = &[
    "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", "..", "?", "|",
    ",", ".", "[", "]", "(", ")", "{", "}", ":", ";", "=", "<", ">", "+", "-", "*", "/", "%", "$",
];

/// Cuts the whole text.
pub(super) fn tokens(source: &[u8]) -> Vec<Spanned> {
    let mut lexer = Lexer {
        source,
        at: 0,
        out: Vec::new(),
        nests: Vec::new(),
        in_string: false,
    };
    while lexer.at < source.len() {
        if lexer.in_string {
            lexer.string();
        } else {
            lexer.plain();
        }
    }
    lexer.push(Token::End, source.len());
    lexer.out
}

struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    out: Vec<Spanned>,
    /// For each open interpolation, the brackets that are open inside it.
    nests: Vec<usize>,
    in_string: bool,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a> Lexer<'a> {
    fn push(&mut self, token: Token, at: usize) {
        self.out.push(Spanned { token, at });
    }

    fn rest(&self) -> &'a [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Takes bytes while a test holds.
    fn take(&mut self, test: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().take_while(|byte| test(**byte)).count();
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    /// Takes `a::b::c`.
    fn qualified(&mut self) -> &'a [u8] {
        let from = self.at;
        self.take(is_name);
        while self.rest().starts_with(b"::")
            && self
                .rest()
                .get(2)
                .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        {
            self.at += 2;
            self.take(is_name);
        }
        self.source.get(from..self.at).unwrap_or_default()
    }

    fn plain(&mut self) {
        let from = self.at;
        let rest = self.rest();
        let second = rest.get(1).copied().unwrap_or(0);
        match rest.first().copied().unwrap_or(0) {
            b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
            b'#' => self.comment(),
            b'"' => {
                self.at += 1;
                self.push(Token::StringStart, from);
                self.in_string = true;
            }
            b'.' if second.is_ascii_alphabetic() || second == b'_' => {
                self.at += 1;
                let name = Text::new(self.take(is_name));
                self.push(Token::Field(name), from);
            }
            b'$' if second.is_ascii_alphabetic() || second == b'_' => {
                self.at += 1;
                let name = Text::new(self.qualified());
                self.push(Token::Var(name), from);
            }
            b'@' if is_name(second) => {
                self.at += 1;
                let name = Text::new(self.take(is_name));
                self.push(Token::Format(name), from);
            }
            b'0'..=b'9' => self.number(),
            b'.' if second.is_ascii_digit() => self.number(),
            first if first.is_ascii_alphabetic() || first == b'_' => {
                let name = Text::new(self.qualified());
                self.push(Token::Name(name), from);
            }
            _ => self.mark(),
        }
    }

    /// Skips a comment; an odd number of backslashes before the line's end continues it.
    fn comment(&mut self) {
        loop {
            let line = self.take(|byte| byte != b'\n');
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let slashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
            if slashes % 2 == 0 || self.at >= self.source.len() {
                return;
            }
            self.at += 1;
        }
    }

    fn number(&mut self) {
        let from = self.at;
        self.take(|byte| byte.is_ascii_digit());
        if self.rest().first() == Some(&b'.') {
            self.at += 1;
            self.take(|byte| byte.is_ascii_digit());
        }
        if matches!(self.rest().first(), Some(b'e' | b'E')) {
            let back = self.at;
            self.at += 1;
            if matches!(self.rest().first(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.take(|byte| byte.is_ascii_digit()).is_empty() {
                self.at = back;
            }
        }
        let text = self.source.get(from..self.at).unwrap_or_default();
        let token = number::parse(text).map_or(Token::Bad, |value| Token::Number(Num(value)));
        self.push(token, from);
    }

    fn mark(&mut self) {
        let from = self.at;
        let rest = self.rest();
        let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())) else {
            self.at += 1;
            self.push(Token::Bad, from);
            return;
        };
        self.at += mark.len();
        match *mark {
            "(" => {
                if let Some(open) = self.nests.last_mut() {
                    *open += 1;
                }
            }
            ")" => match self.nests.last_mut() {
                Some(0) => {
                    self.nests.pop();
                    self.in_string = true;
                    self.push(Token::InterpolateEnd, from);
                    return;
                }
                Some(open) => *open -= 1,
                None => {}
            },
            _ => {}
        }
        self.push(Token::Mark(mark), from);
    }

    /// Reads on inside a string, up to its end or an interpolation.
    fn string(&mut self) {
        let from = self.at;
        let mut text = Vec::new();
        loop {
            let plain = self.take(|byte| byte != b'"' && byte != b'\\');
            text.extend_from_slice(plain);
            match (self.rest().first(), self.rest().get(1).copied()) {
                (Some(b'"'), _) => {
                    self.at += 1;
                    self.in_string = false;
                    self.push(Token::StringText(json::lossy(&text)), from);
                    self.push(Token::StringEnd, self.at - 1);
                    return;
                }
                (Some(_), Some(b'(')) => {
                    self.at += 2;
                    self.in_string = false;
                    self.nests.push(0);
                    self.push(Token::StringText(json::lossy(&text)), from);
                    self.push(Token::Interpolate, self.at - 2);
                    return;
                }
                (Some(_), Some(kind)) if self.escape(kind, &mut text) => {}
                (Some(_), _) => {
                    self.at += 1;
                    self.push(Token::Bad, from);
                    return;
                }
                (None, _) => return,
            }
        }
    }

    fn escape(&mut self, kind: u8, text: &mut Vec<u8>) -> bool {
        let byte = match kind {
            b'"' | b'\\' | b'/' => kind,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let rest = self.rest().get(2..).unwrap_or_default();
                let Some((char, used)) = json::unicode_escape(rest) else {
                    return false;
                };
                text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                self.at += 2 + used;
                return true;
            }
            _ => return false,
        };
        text.push(byte);
        self.at += 2;
        true
    }
}
