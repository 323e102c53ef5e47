//! Repetition: `*`, `+`, `?` and intervals, which may not multiply without bound.

use super::token::Token;
use super::{MAX_COUNT, MAX_DEPTH, Parser};
use crate::Dialect;
use crate::error::RegexError;
use crate::node::Node;

impl Parser<'_, '_> {
    pub(super) fn repeats(&mut self, mut node: Node) -> Result<Node, RegexError> {
        let mut wraps = 0;
        loop {
            let (token, len) = self.peek();
            let (min, max) = match token {
                Token::Star => (0, None),
                Token::Plus => (1, None),
                Token::Question => (0, Some(1)),
                Token::OpenInterval => match self.interval(len)? {
                    Some(found) => found,
                    None => return Ok(node),
                },
                _ => return Ok(node),
            };
            if token != Token::OpenInterval {
                self.at += len;
            }
            node = if max == Some(0) {
                Node::Empty
            } else {
                node.repeat(min, max)
            };
            wraps += 1;
            if wraps > MAX_DEPTH && node.depth() > MAX_DEPTH {
                return Err(RegexError::TooBig);
            }
            let strict = !self.extended && self.flags.dialect != Dialect::Grep;
            if strict && matches!(self.peek().0, Token::Star | Token::OpenInterval) {
                return Err(RegexError::Preceding);
            }
        }
    }

    /// Reads `{n,m}`; `None`, with nothing consumed, where it is no interval and may stay text.
    pub(super) fn interval(
        &mut self,
        len: usize,
    ) -> Result<Option<(u32, Option<u32>)>, RegexError> {
        let begin = self.at;
        self.at += len;
        let (first, stop) = self.number();
        let lax = self.lax();
        let min = match (first, stop) {
            (Number::None, Stop::Comma) => Number::Is(0),
            (Number::None, _) if lax && stop == Stop::End => Number::Bad,
            (Number::None, Stop::End) => return Err(RegexError::UnmatchedBrace),
            (Number::None, _) => return Err(RegexError::Interval),
            (number, _) => number,
        };
        let (max, stop) = match (min, stop) {
            (Number::Bad, stop) => (Number::Bad, stop),
            (min, Stop::Close) => (min, Stop::Close),
            (_, Stop::Comma) => self.number(),
            (_, stop) => (Number::Bad, stop),
        };
        let (Number::Is(low), Number::Is(_) | Number::None) = (min, max) else {
            if lax {
                self.at = begin;
                return Ok(None);
            }
            return Err(if stop == Stop::End {
                RegexError::UnmatchedBrace
            } else {
                RegexError::Interval
            });
        };
        let high = match max {
            Number::Is(high) => Some(high),
            _ => None,
        };
        if stop != Stop::Close || high.is_some_and(|high| low > high) {
            return Err(RegexError::Interval);
        }
        if high.unwrap_or(low) > MAX_COUNT {
            return Err(RegexError::TooBig);
        }
        Ok(Some((low, high)))
    }

    /// Tells whether what is no interval stays text.
    fn lax(&self) -> bool {
        self.extended && matches!(self.flags.dialect, Dialect::Grep | Dialect::Awk)
    }

    /// Reads up to a comma, the closing brace or the end.
    pub(super) fn number(&mut self) -> (Number, Stop) {
        let mut number = Number::None;
        loop {
            let Some(byte) = self.byte(0) else {
                return (Number::Bad, Stop::End);
            };
            self.at += 1;
            match byte {
                b',' => return (number, Stop::Comma),
                b'}' if self.extended => return (number, Stop::Close),
                b'\\' if !self.extended && self.byte(0) == Some(b'}') => {
                    self.at += 1;
                    return (number, Stop::Close);
                }
                b'0'..=b'9' => {
                    let digit = u32::from(byte - b'0');
                    number = match number {
                        Number::Bad => Number::Bad,
                        Number::None => Number::Is(digit),
                        Number::Is(n) => Number::Is((n * 10 + digit).min(MAX_COUNT + 1)),
                    };
                }
                // Looking for the end of what stays text anyway would be quadratic.
                _ if self.lax() => return (Number::Bad, Stop::Close),
                _ => number = Number::Bad,
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    None,
    Bad,
    Is(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    End,
    Comma,
    Close,
}
