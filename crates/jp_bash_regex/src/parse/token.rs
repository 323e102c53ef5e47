//! Tells the tokens of a pattern apart, by flavor. Knows nothing of what they mean together.

use regex_automata::util::look::Look;

use super::Parser;
use crate::set;

impl Parser<'_, '_> {
    /// Returns the token here and how many bytes it has.
    pub(super) fn peek(&self) -> (Token, usize) {
        let Some(byte) = self.byte(0) else {
            return (Token::End, 0);
        };
        let ext = self.extended;
        match byte {
            b'\\' => self.peek_escaped(),
            b'[' => (Token::Bracket, 1),
            b'.' => (Token::Any, 1),
            b'*' => (Token::Star, 1),
            b'^' => (Token::Caret, 1),
            b'$' => (Token::Dollar, 1),
            b'(' if ext => (Token::Open, 1),
            b')' if ext => (Token::Close, 1),
            b'|' if ext => (Token::Alt, 1),
            b'+' if ext => (Token::Plus, 1),
            b'?' if ext => (Token::Question, 1),
            b'{' if ext => (Token::OpenInterval, 1),
            _ => (Token::Char, self.char_len()),
        }
    }

    pub(super) fn peek_escaped(&self) -> (Token, usize) {
        let Some(byte) = self.byte(1) else {
            return (Token::TrailingBackslash, 1);
        };
        let utf8 = self.flags.utf8;
        let pick = |unicode: Look, ascii: Look| Token::Look(if utf8 { unicode } else { ascii });
        let basic = !self.extended;
        let token = match byte {
            b'(' if basic => Token::Open,
            b')' if basic => Token::Close,
            b'|' if basic => Token::Alt,
            b'+' if basic => Token::Plus,
            b'?' if basic => Token::Question,
            b'{' if basic => Token::OpenInterval,
            b'1'..=b'9' => Token::BackRef(u32::from(byte - b'0')),
            b'<' => pick(Look::WordStartUnicode, Look::WordStartAscii),
            b'>' => pick(Look::WordEndUnicode, Look::WordEndAscii),
            b'b' => pick(Look::WordUnicode, Look::WordAscii),
            b'B' => pick(Look::WordUnicodeNegate, Look::WordAsciiNegate),
            b'w' => Token::Shorthand(Shorthand::Word, false),
            b'W' => Token::Shorthand(Shorthand::Word, true),
            b's' => Token::Shorthand(Shorthand::Space, false),
            b'S' => Token::Shorthand(Shorthand::Space, true),
            b'`' => Token::Look(self.start_of_text()),
            b'\'' => Token::Look(self.end_of_text()),
            _ => {
                let rest = self.text.get(self.at + 1..).unwrap_or_default();
                let len = if utf8 {
                    set::decode(rest).map_or(1, |(_, len)| len)
                } else {
                    1
                };
                return (Token::Escaped, 1 + len);
            }
        };
        (token, 2)
    }

    pub(super) fn char_len(&self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if self.flags.utf8 {
            set::decode(rest).map_or(1, |(_, len)| len)
        } else {
            1
        }
    }

    pub(super) fn start_of_text(&self) -> Look {
        if self.flags.lines.is_some() {
            Look::StartLF
        } else {
            Look::Start
        }
    }

    pub(super) fn end_of_text(&self) -> Look {
        if self.flags.lines.is_some() {
            Look::EndLF
        } else {
            Look::End
        }
    }
}

/// One token, as `peek_token` tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Char,
    /// A backslash and a character that is just itself.
    Escaped,
    TrailingBackslash,
    Any,
    Bracket,
    Open,
    Close,
    Alt,
    Star,
    Plus,
    Question,
    OpenInterval,
    Caret,
    Dollar,
    Look(Look),
    BackRef(u32),
    /// `\w \W \s \S`: which, and whether it is negated.
    Shorthand(Shorthand, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shorthand {
    Word,
    Space,
}
