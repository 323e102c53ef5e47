//! `--stream`: a text as events `[path, leaf]` and `[path]`, given out while it is being read.

use std::collections::VecDeque;

use super::json::{Step, Token, token};
use super::text::Text;
use super::value::Value;

/// A container that is still open: where in it we are.
enum Open {
    Array(usize),
    /// The name of the member, and whether one was read at all.
    Object(Option<Text>, bool),
}

/// Turns tokens into events.
#[derive(Default)]
pub(super) struct Events {
    open: Vec<Open>,
    ready: VecDeque<Value>,
    /// A value has just ended: only a comma or a closing bracket may follow.
    ended: bool,
    /// A name was read and waits for its colon.
    name: Option<Text>,
    after_colon: bool,
    after_comma: bool,
}

/// How deep a text may nest.
const MAX_DEPTH: usize = 10_000;

impl Events {
    /// Reads on, up to the next event.
    pub(super) fn read(
        &mut self,
        buf: &[u8],
        at: &mut usize,
        last: bool,
    ) -> Result<Step, &'static str> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Step::Value(event));
            }
            match token(buf, at, last)? {
                Token::More => return Ok(Step::More),
                Token::End if self.open.is_empty() => return Ok(Step::End),
                Token::End => return Err("Unfinished JSON term at EOF"),
                Token::Scalar(value) => self.scalar(value)?,
                Token::Mark(mark) => self.mark(mark)?,
            }
        }
    }

    /// Returns the event that `--stream-errors` gives for a text that does not parse.
    pub(super) fn failed(&mut self, message: &str) -> Value {
        let path = self.path(self.open.len());
        *self = Self::default();
        Value::array(vec![Value::string(message.as_bytes()), path])
    }

    fn path(&self, depth: usize) -> Value {
        let keys = self.open.iter().take(depth).map(|open| match open {
            Open::Array(at) => Value::count(*at),
            Open::Object(name, _) => name.clone().map(Value::String).unwrap_or_default(),
        });
        Value::array(keys.collect())
    }

    fn leaf(&mut self, value: Value) {
        let path = self.path(self.open.len());
        self.ready.push_back(Value::array(vec![path, value]));
        self.ended = !self.open.is_empty();
        self.after_colon = false;
        self.after_comma = false;
    }

    fn expects_name(&self) -> bool {
        matches!(self.open.last(), Some(Open::Object(..))) && !self.after_colon
    }

    fn scalar(&mut self, value: Value) -> Result<(), &'static str> {
        if self.ended || self.name.is_some() {
            return Err("Expected separator between values");
        }
        if self.expects_name() {
            let Value::String(name) = value else {
                return Err("Object keys must be strings");
            };
            self.name = Some(name);
            return Ok(());
        }
        self.leaf(value);
        Ok(())
    }

    fn mark(&mut self, mark: u8) -> Result<(), &'static str> {
        match mark {
            b'[' | b'{' => {
                if self.ended || self.name.is_some() {
                    return Err("Expected separator between values");
                }
                if self.expects_name() {
                    return Err("Expected string key after '{', not '['");
                }
                if self.open.len() >= MAX_DEPTH {
                    return Err("Exceeds depth limit for parsing");
                }
                self.open.push(if mark == b'[' {
                    Open::Array(0)
                } else {
                    Open::Object(None, false)
                });
                self.after_colon = false;
                self.after_comma = false;
                Ok(())
            }
            b':' => match (self.open.last_mut(), self.name.take()) {
                (Some(Open::Object(name, _)), Some(read)) => {
                    *name = Some(read);
                    self.after_colon = true;
                    Ok(())
                }
                (Some(Open::Object(..)), None) => Err("Expected string key before ':'"),
                _ => Err("':' not as part of an object"),
            },
            b',' => {
                if !self.ended {
                    return Err("Expected value before ','");
                }
                match self.open.last_mut() {
                    Some(Open::Array(at)) => *at += 1,
                    Some(Open::Object(_, any)) => *any = true,
                    None => return Err("',' not as part of an object"),
                }
                self.ended = false;
                self.after_comma = true;
                Ok(())
            }
            _ => self.close(mark),
        }
    }

    fn close(&mut self, mark: u8) -> Result<(), &'static str> {
        let fits = match self.open.last() {
            Some(Open::Array(_)) => mark == b']',
            Some(Open::Object(..)) => mark == b'}',
            None => false,
        };
        if !fits {
            return Err(if mark == b']' {
                "Unmatched ']'"
            } else {
                "Unmatched '}'"
            });
        }
        if self.name.is_some() || self.after_colon {
            return Err("Objects must consist of key:value pairs");
        }
        if self.after_comma {
            return Err(if mark == b']' {
                "Expected another array element"
            } else {
                "Expected another key:value pair"
            });
        }
        if self.ended {
            let path = self.path(self.open.len());
            self.ready.push_back(Value::array(vec![path]));
            self.open.pop();
            self.ended = !self.open.is_empty();
        } else {
            self.open.pop();
            self.leaf(if mark == b']' {
                Value::array(Vec::new())
            } else {
                Value::object([])
            });
        }
        Ok(())
    }
}
