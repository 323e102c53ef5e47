//! Reads JSON, with comments and trailing commas where a client has them, and remembers where everything is.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;

use super::{
    super::error::{EditError, Place},
    node::{Kind, Member, Node},
};

/// How deep values may be nested.
const MAX_DEPTH: usize = 128;
/// How many values a file may have.
const MAX_VALUES: usize = 500_000;

/// Reads a document. Nothing is returned for one that holds no value.
pub(super) fn parse(text: &str, comments: bool) -> Result<Option<Node>, EditError> {
    let mut parser = Parser {
        text,
        at: 0,
        comments,
        values: 0,
    };
    parser.trivia()?;
    if parser.peek().is_none() {
        return Ok(None);
    }
    let root = parser.value(0)?;
    parser.trivia()?;
    match parser.peek() {
        None => Ok(Some(root)),
        Some(_) => Err(parser.expected("the end of the file")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    comments: bool,
    values: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn place(&self) -> Place {
        Place::of(self.text, self.at)
    }

    fn expected(&self, expected: &'static str) -> EditError {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = match rest.chars().next() {
            None => "the end of the file".to_owned(),
            Some(_) if rest.starts_with("//") || rest.starts_with("/*") => "a comment".to_owned(),
            Some(found) => format!("`{found}`"),
        };
        EditError::Syntax {
            place: self.place(),
            expected,
            found,
        }
    }

    /// Passes white space and comments.
    fn trivia(&mut self) -> Result<(), EditError> {
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let blank = rest.trim_start_matches([' ', '\t', '\n', '\r']);
            self.at += rest.len() - blank.len();
            if !self.comments {
                return Ok(());
            }
            if blank.starts_with("//") {
                self.at += blank.find('\n').unwrap_or(blank.len());
            } else if let Some(inside) = blank.strip_prefix("/*") {
                let Some(end) = inside.find("*/") else {
                    return Err(self.expected("a comment that ends with `*/`"));
                };
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, EditError> {
        self.values += 1;
        let place = || self.place();
        if depth > MAX_DEPTH {
            return Err(EditError::Deep { place: place() });
        }
        if self.values > MAX_VALUES {
            return Err(EditError::Many { place: place() });
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.object(depth)?),
            Some(b'[') => Kind::Array(self.array(depth)?),
            _ => {
                self.scalar()?;
                Kind::Scalar
            }
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, EditError> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        let mut known = BTreeSet::new();
        loop {
            self.trivia()?;
            let separated = members.last().is_none_or(|last| last.comma.is_some());
            match self.peek() {
                Some(b'}') if self.may_end(members.last().and_then(|last| last.comma)) => break,
                Some(b'"') if separated => {}
                _ if separated => return Err(self.expected("a key in double quotes")),
                _ => return Err(self.expected("`,` or `}`")),
            }
            let member = self.one_member(depth)?;
            if !known.insert(member.key.clone()) {
                return Err(EditError::Duplicate {
                    place: Place::of(self.text, member.start),
                    key: member.key,
                });
            }
            members.push(member);
        }
        self.at += 1;
        Ok(members)
    }

    fn one_member(&mut self, depth: usize) -> Result<Member, EditError> {
        let start = self.at;
        let key = self.string()?;
        self.trivia()?;
        if self.peek() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        self.trivia()?;
        let value = self.value(depth + 1)?;
        let comma = self.comma()?;
        Ok(Member {
            key,
            start,
            value,
            comma,
        })
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, EditError> {
        self.at += 1;
        let mut items = Vec::new();
        let mut comma = None;
        loop {
            self.trivia()?;
            let separated = items.is_empty() || comma.is_some();
            match self.peek() {
                Some(b']') if self.may_end(comma) => break,
                _ if separated => {}
                _ => return Err(self.expected("`,` or `]`")),
            }
            items.push(self.value(depth + 1)?);
            comma = self.comma()?;
        }
        self.at += 1;
        Ok(items)
    }

    /// Says whether a list may end here: after a comma only where comments are allowed too.
    const fn may_end(&self, comma: Option<usize>) -> bool {
        comma.is_none() || self.comments
    }

    fn comma(&mut self) -> Result<Option<usize>, EditError> {
        let behind = self.at;
        self.trivia()?;
        if self.peek() != Some(b',') {
            self.at = behind;
            return Ok(None);
        }
        let comma = self.at;
        self.at += 1;
        Ok(Some(comma))
    }

    fn scalar(&mut self) -> Result<(), EditError> {
        if self.peek() == Some(b'"') {
            return self.string().map(drop);
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let word = rest.split(|c| !word(c)).next().unwrap_or_default();
        if serde_json::from_str::<IgnoredAny>(word).is_err() {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(())
    }

    fn string(&mut self) -> Result<String, EditError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut escaped = false;
        let end = rest.bytes().skip(1).position(|byte| {
            let end = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            end
        });
        let Some(end) = end else {
            return Err(self.expected("a string that ends with `\"`"));
        };
        let raw = rest.get(..end + 2).unwrap_or_default();
        let text = serde_json::from_str(raw);
        let text =
            text.map_err(|_| self.expected("a string without raw line ends or wrong escapes"))?;
        self.at += raw.len();
        Ok(text)
    }
}
