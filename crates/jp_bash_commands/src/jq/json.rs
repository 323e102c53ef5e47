//! Reads JSON piece by piece, with the messages of jq's own parser. No recursion: open containers are a list.

use std::sync::Arc;

use super::number;
use super::text::Text;
use super::value::{Object, Value};

/// How deep a text may nest, as in jq 1.7.
const MAX_DEPTH: usize = 10_000;

/// What reading gave.
pub(super) enum Step {
    Value(Value),
    /// The buffer ends inside a value.
    More,
    /// The text is over.
    End,
}

/// A container that is still open.
enum Open {
    Array(Vec<Value>),
    Object(Object),
    /// An object whose member has a name and waits for its value.
    Member(Object, Text),
}

/// One mark of the text.
pub(super) enum Token {
    Mark(u8),
    Scalar(Value),
    More,
    End,
}

/// Reads values, one after the other.
#[derive(Default)]
pub(super) struct Parser {
    open: Vec<Open>,
    next: Option<Value>,
}

impl Parser {
    /// Tells whether a value has begun.
    pub(super) fn inside(&self) -> bool {
        !self.open.is_empty() || self.next.is_some()
    }

    /// Reads on at `at`, up to the end of one value. After an error `at` is where jq would say it is.
    pub(super) fn read(
        &mut self,
        buf: &[u8],
        at: &mut usize,
        last: bool,
    ) -> Result<Step, &'static str> {
        loop {
            match token(buf, at, last)? {
                Token::More => return Ok(Step::More),
                Token::End => {
                    return match (self.open.is_empty(), self.next.take()) {
                        (false, _) => Err("Unfinished JSON term at EOF"),
                        (true, Some(value)) => Ok(Step::Value(value)),
                        (true, None) => Ok(Step::End),
                    };
                }
                Token::Scalar(value) => {
                    if self.next.is_some() {
                        // The real one sees the end of a word only in the byte behind it.
                        if !matches!(value, Value::String(_)) && *at < buf.len() {
                            *at += 1;
                        }
                        return Err("Expected separator between values");
                    }
                    self.next = Some(value);
                }
                Token::Mark(mark) => self.mark(mark)?,
            }
            if self.open.is_empty()
                && let Some(value) = self.next.take()
            {
                return Ok(Step::Value(value));
            }
        }
    }

    /// Returns about how many bytes the arrays take that are not closed yet.
    pub(super) fn held(&self) -> usize {
        let arrays = self.open.iter().map(|open| match open {
            Open::Array(items) => items.capacity(),
            _ => 0,
        });
        arrays.sum::<usize>().saturating_mul(size_of::<Value>())
    }

    fn mark(&mut self, mark: u8) -> Result<(), &'static str> {
        match mark {
            b'[' | b'{' => {
                if self.open.len() >= MAX_DEPTH {
                    return Err("Exceeds depth limit for parsing");
                }
                if self.next.is_some() {
                    return Err("Expected separator between values");
                }
                self.open.push(if mark == b'[' {
                    Open::Array(Vec::new())
                } else {
                    Open::Object(Object::default())
                });
                Ok(())
            }
            b':' => self.colon(),
            b',' => self.comma(),
            b']' => self.close_array(),
            _ => self.close_object(),
        }
    }

    fn colon(&mut self) -> Result<(), &'static str> {
        match (self.open.pop(), self.next.take()) {
            (None, _) => Err("':' not as part of an object"),
            (Some(_), None) => Err("Expected string key before ':'"),
            (Some(Open::Array(_)), _) => Err("':' not as part of an object"),
            (Some(Open::Object(object)), Some(Value::String(name))) => {
                self.open.push(Open::Member(object, name));
                Ok(())
            }
            (Some(Open::Object(_)), _) => Err("Object keys must be strings"),
            (Some(Open::Member(..)), _) => Err("':' should follow a key"),
        }
    }

    fn comma(&mut self) -> Result<(), &'static str> {
        let Some(value) = self.next.take() else {
            return Err("Expected value before ','");
        };
        match self.open.pop() {
            None => Err("',' not as part of an array"),
            Some(Open::Array(mut items)) => {
                items.push(value);
                self.open.push(Open::Array(items));
                Ok(())
            }
            Some(Open::Member(mut object, name)) => {
                object.put(name, value);
                self.open.push(Open::Object(object));
                Ok(())
            }
            Some(Open::Object(_)) => Err("Objects must consist of key:value pairs"),
        }
    }

    fn close_array(&mut self) -> Result<(), &'static str> {
        match self.open.pop() {
            Some(Open::Array(mut items)) => {
                match self.next.take() {
                    Some(value) => items.push(value),
                    None if !items.is_empty() => return Err("Expected another array element"),
                    None => {}
                }
                self.next = Some(Value::array(items));
                Ok(())
            }
            _ => Err("Unmatched ']'"),
        }
    }

    fn close_object(&mut self) -> Result<(), &'static str> {
        let object = match (self.open.pop(), self.next.take()) {
            (Some(Open::Member(mut object, name)), Some(value)) => {
                object.put(name, value);
                object
            }
            (Some(Open::Object(object)), None) if object.len() == 0 => object,
            (Some(Open::Object(_)), None) => return Err("Expected another key-value pair"),
            (Some(Open::Object(_)), Some(_)) => {
                return Err("Objects must consist of key:value pairs");
            }
            (_, Some(_)) => return Err("Unmatched '}'"),
            (_, None) => return Err("Unmatched '}'"),
        };
        self.next = Some(Value::Object(Arc::new(object)));
        Ok(())
    }
}

/// Reads one mark or scalar. `last` says that nothing follows the buffer.
pub(super) fn token(buf: &[u8], at: &mut usize, last: bool) -> Result<Token, &'static str> {
    let mut pos = *at;
    // The record separator of `--seq` is white space here; the reader has cut the text at it.
    while let Some(b' ' | b'\t' | b'\r' | b'\n' | 0x1e) = buf.get(pos) {
        pos += 1;
    }
    *at = pos;
    let Some(&first) = buf.get(pos) else {
        return Ok(if last { Token::End } else { Token::More });
    };
    match first {
        b'[' | b'{' | b']' | b'}' | b':' | b',' => {
            *at = pos + 1;
            Ok(Token::Mark(first))
        }
        b'"' => string(buf, at, last),
        _ => literal(buf, at, last),
    }
}

fn literal(buf: &[u8], at: &mut usize, last: bool) -> Result<Token, &'static str> {
    let rest = buf.get(*at..).unwrap_or_default();
    let len = rest.iter().position(|byte| {
        matches!(
            byte,
            b' ' | b'\t' | b'\r' | b'\n' | 0x1e | b'[' | b'{' | b']' | b'}' | b':' | b',' | b'"'
        )
    });
    let (word, ends) = match len {
        Some(len) => (rest.get(..len).unwrap_or_default(), true),
        None if last => (rest, false),
        None => return Ok(Token::More),
    };
    let value = match word {
        b"true" => Some(Value::Bool(true)),
        b"false" => Some(Value::Bool(false)),
        b"null" => Some(Value::Null),
        _ => number::parse(word),
    };
    *at += word.len();
    match value {
        Some(value) => Ok(Token::Scalar(value)),
        None => {
            let named = matches!(word.first(), Some(b't' | b'f'))
                || word.starts_with(b"nu")
                || word == b"n";
            // jq notices a bad word when it has read the byte behind it.
            if ends {
                *at += 1;
            }
            Err(match (named, ends) {
                (true, true) => "Invalid literal",
                (true, false) => "Invalid literal at EOF",
                (false, true) => "Invalid numeric literal",
                (false, false) => "Invalid numeric literal at EOF",
            })
        }
    }
}

fn string(buf: &[u8], at: &mut usize, last: bool) -> Result<Token, &'static str> {
    let body = buf.get(*at + 1..).unwrap_or_default();
    let mut escaped = false;
    let mut pos = 0;
    loop {
        let rest = body.get(pos..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            None if last => {
                *at = buf.len();
                return Err("Unfinished string at EOF");
            }
            None => return Ok(Token::More),
            Some(found) if rest.get(found) == Some(&b'"') => {
                let raw = body.get(..pos + found).unwrap_or_default();
                *at += pos + found + 2;
                let text = if escaped { unescape(raw)? } else { lossy(raw) };
                return Ok(Token::Scalar(Value::String(text)));
            }
            Some(found) => {
                escaped = true;
                pos += found + 2;
            }
        }
    }
}

/// Copies text, with a replacement for each part that is not UTF-8.
pub(super) fn lossy(raw: &[u8]) -> Text {
    if std::str::from_utf8(raw).is_ok() {
        Text::new(raw)
    } else {
        Text::owned(String::from_utf8_lossy(raw).into_owned().into_bytes())
    }
}

fn unescape(raw: &[u8]) -> Result<Text, &'static str> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(found) = memchr::memchr(b'\\', rest) {
        let (before, tail) = rest.split_at(found);
        out.extend_from_slice(before);
        let Some((&kind, tail)) = tail.get(1..).and_then(<[u8]>::split_first) else {
            return Err("Expected escape character at end of string");
        };
        rest = tail;
        match kind {
            b'"' | b'\\' | b'/' => out.push(kind),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let (char, used) = unicode_escape(rest).ok_or("Invalid escape")?;
                if used == 4 && hex4(rest).is_some_and(|code| (0xd800..0xdc00).contains(&code)) {
                    return Err("Invalid \\uXXXX\\uXXXX surrogate pair escape");
                }
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                rest = rest.get(used..).unwrap_or_default();
            }
            _ => return Err("Invalid escape"),
        }
    }
    out.extend_from_slice(rest);
    Ok(if std::str::from_utf8(&out).is_ok() {
        Text::owned(out)
    } else {
        lossy(&out)
    })
}

/// Reads what follows `\u`: four digits, or a pair of surrogates. Half a pair is the replacement character.
pub(super) fn unicode_escape(rest: &[u8]) -> Option<(char, usize)> {
    let first = hex4(rest)?;
    let replacement = char::REPLACEMENT_CHARACTER;
    if !(0xd800..0xe000).contains(&first) {
        return Some((char::from_u32(first).unwrap_or(replacement), 4));
    }
    let second = rest
        .get(4..)
        .and_then(|rest| rest.strip_prefix(b"\\u"))
        .and_then(hex4);
    match second {
        Some(second) if first < 0xdc00 && (0xdc00..0xe000).contains(&second) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            Some((char::from_u32(code).unwrap_or(replacement), 10))
        }
        _ => Some((replacement, 4)),
    }
}

fn hex4(rest: &[u8]) -> Option<u32> {
    rest.get(..4)?.iter().try_fold(0, |sum, byte| {
        Some(sum * 16 + char::from(*byte).to_digit(16)?)
    })
}

/// Why a text is not JSON, and how far it is, in jq's words.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line}, column {column}")]
pub(super) struct Invalid {
    message: &'static str,
    line: usize,
    column: usize,
}

impl Invalid {
    /// Takes what [`Parser::read`] said, and the text up to where it stopped.
    pub(super) fn new(message: &'static str, before: &[u8]) -> Self {
        Self {
            message,
            line: memchr::memchr_iter(b'\n', before).count() + 1,
            column: before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1),
        }
    }
}

/// Why a text is not exactly one value: the message of `fromjson`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotOne {
    /// There is no value.
    #[error("Expected JSON value")]
    Nothing,
    /// There is more than one.
    #[error("Unexpected extra JSON values")]
    More,
    /// It is not JSON.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Reads a text that holds exactly one value.
pub(super) fn parse_one(text: &[u8]) -> Result<Value, NotOne> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut parser = Parser::default();
    let mut at = 0;
    let invalid = |message, at| Invalid::new(message, text.get(..at).unwrap_or(text));
    let value = match parser.read(text, &mut at, true) {
        Ok(Step::Value(value)) => value,
        Ok(_) => return Err(NotOne::Nothing),
        Err(message) => return Err(invalid(message, at).into()),
    };
    match parser.read(text, &mut at, true) {
        Ok(Step::End | Step::More) => Ok(value),
        Ok(Step::Value(_)) => Err(NotOne::More),
        Err(message) => Err(invalid(message, at).into()),
    }
}
