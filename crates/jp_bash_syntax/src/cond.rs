//! `[[ … ]]`, which has a grammar of its own.

use crate::ast::{CommandKind, Test, TestOp, Word};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::reader::{Parse, Reader, is_meta};
use crate::word::{How, Tilde};

/// A word, as written and parsed.
struct Operand {
    word: Word,
    start: usize,
    end: usize,
}

impl Reader<'_> {
    /// Reads `[[ … ]]`.
    #[inline(never)]
    pub(super) fn test_command(&mut self) -> Parse<CommandKind> {
        self.pos += 2;
        let test = self.test_or()?;
        self.skip_blanks();
        if self.bare_word() != b"]]" {
            return Err(self.bad_test("syntax error in conditional expression"));
        }
        self.pos += 2;
        Ok(CommandKind::Test(Box::new(test)))
    }

    /// `||` and `&&` group from the right, as in bash; the depth bounds how many.
    #[inline(never)]
    fn test_or(&mut self) -> Parse<Test> {
        self.enter(1)?;
        let mut left = self.test_and()?;
        let mut height = 0;
        loop {
            self.skip_newlines()?;
            if !(self.here() == b'|' && self.ahead(1) == b'|') {
                break;
            }
            self.pos += 2;
            height += 1;
            self.check_height(height)?;
            let right = self.test_and()?;
            left = Test::Or(Box::new(left), Box::new(right));
        }
        self.leave(1);
        Ok(left)
    }

    #[inline(never)]
    fn test_and(&mut self) -> Parse<Test> {
        let mut left = self.test_term()?;
        let mut height = 0;
        loop {
            self.skip_newlines()?;
            if !(self.here() == b'&' && self.ahead(1) == b'&') {
                return Ok(left);
            }
            self.pos += 2;
            height += 1;
            self.check_height(height)?;
            let right = self.test_term()?;
            left = Test::And(Box::new(left), Box::new(right));
        }
    }

    /// A chain of operators is a tree as high as it is long.
    fn check_height(&mut self, height: usize) -> Parse<()> {
        if height > self.levels_left() {
            return Err(self.limit("constructs are nested too deeply"));
        }
        Ok(())
    }

    #[inline(never)]
    fn test_term(&mut self) -> Parse<Test> {
        self.skip_newlines()?;
        if self.here() == b'(' {
            self.pos += 1;
            let inner = self.test_or()?;
            self.skip_newlines()?;
            if self.here() != b')' {
                return Err(self.bad_token("', expected `)'"));
            }
            self.pos += 1;
            return Ok(inner);
        }
        match self.bare_word() {
            b"]]" => return Err(self.bad_test("")),
            b"!" => {
                self.enter(1)?;
                self.pos += 1;
                let inner = self.test_term()?;
                self.leave(1);
                return Ok(Test::Not(Box::new(inner)));
            }
            _ => {}
        }
        if self.at_word_end() {
            return Err(self.bad_token("' in conditional command"));
        }
        self.test_words()
    }

    /// Reads one word, `-f word` or `word op word`.
    #[inline(never)]
    fn test_words(&mut self) -> Parse<Test> {
        let left = self.operand_word(How {
            tilde: Tilde::Start,
            ..How::default()
        })?;
        let is_unary = match self.slice(left.start, left.end) {
            [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter) => Some(*letter),
            _ => None,
        };
        self.skip_blanks();
        if let Some(letter) = is_unary {
            return self.unary_test(letter);
        }
        let Some((op, length)) = self.test_op() else {
            if self.bare_word() == b"]]"
                || matches!(
                    (self.here(), self.ahead(1)),
                    (b')', _) | (b'&', b'&') | (b'|', b'|')
                )
            {
                return Ok(Test::Word(left.word));
            }
            return Err(if self.at_word_end() {
                self.bad_token("', conditional binary operator expected")
            } else {
                self.bad_test("conditional binary operator expected")
            });
        };
        self.pos += length;
        self.skip_blanks();
        if self.at_word_end() && !(op == TestOp::Regex && self.here() == b'(') {
            return Err(self.bad_argument("binary"));
        }
        let is_pattern = matches!(op, TestOp::Match | TestOp::Equals | TestOp::NoMatch);
        let start = self.pos;
        let right = self.operand_word(How {
            tilde: Tilde::Start,
            extglob: is_pattern,
            regex: op == TestOp::Regex,
            ..How::default()
        })?;
        if self.slice(right.start, right.end) == b"]]" {
            self.pos = start;
            return Err(self.bad_argument("binary"));
        }
        Ok(Test::Binary(op, left.word, right.word))
    }

    fn unary_test(&mut self, letter: u8) -> Parse<Test> {
        let is_end = self.bare_word() == b"]]";
        if is_end || self.at_word_end() {
            return Err(self.bad_argument("unary"));
        }
        let operand = self.operand_word(How {
            tilde: Tilde::Start,
            ..How::default()
        })?;
        Ok(Test::Unary(letter, operand.word))
    }

    fn operand_word(&mut self, how: How) -> Parse<Operand> {
        let start = self.pos;
        let word = self.word_in(how)?;
        Ok(Operand {
            word,
            start,
            end: self.pos,
        })
    }

    /// Returns the operator here and its length.
    fn test_op(&self) -> Option<(TestOp, usize)> {
        let word = match self.here() {
            b'<' if self.ahead(1) != b'(' => return Some((TestOp::Before, 1)),
            b'>' if self.ahead(1) != b'(' => return Some((TestOp::After, 1)),
            byte if is_meta(byte) => return None,
            _ => self.bare_word(),
        };
        let op = match word {
            b"==" => TestOp::Match,
            b"=" => TestOp::Equals,
            b"!=" => TestOp::NoMatch,
            b"=~" => TestOp::Regex,
            b"-eq" => TestOp::Eq,
            b"-ne" => TestOp::Ne,
            b"-lt" => TestOp::Lt,
            b"-le" => TestOp::Le,
            b"-gt" => TestOp::Gt,
            b"-ge" => TestOp::Ge,
            b"-nt" => TestOp::NewerThan,
            b"-ot" => TestOp::OlderThan,
            b"-ef" => TestOp::SameFile,
            _ => return None,
        };
        Some((op, word.len()))
    }

    /// Makes an error after which bash goes on as if the script ended here.
    fn bad_test(&mut self, message: &str) -> Box<SyntaxError> {
        let mut error = self.error(message);
        error.kind = SyntaxErrorKind::Conditional;
        if message.is_empty() {
            error.messages.clear();
        }
        error
    }

    fn bad_token(&mut self, after: &str) -> Box<SyntaxError> {
        let token = self.token_text();
        let mut message = b"unexpected token `".to_vec();
        message.extend_from_slice(&token);
        message.extend_from_slice(after.as_bytes());
        self.bad_test_bytes(message)
    }

    fn bad_argument(&mut self, arity: &str) -> Box<SyntaxError> {
        let token = self.token_text();
        let mut message = b"unexpected argument `".to_vec();
        message.extend_from_slice(&token);
        message.extend_from_slice(b"' to conditional ");
        message.extend_from_slice(arity.as_bytes());
        message.extend_from_slice(b" operator");
        self.bad_test_bytes(message)
    }

    fn bad_test_bytes(&mut self, message: Vec<u8>) -> Box<SyntaxError> {
        let mut error = self.error(message);
        error.kind = SyntaxErrorKind::Conditional;
        error
    }

    fn token_text(&mut self) -> Vec<u8> {
        if matches!(self.here(), 0 | b'\n') {
            return b"newline".to_vec();
        }
        let start = self.pos;
        match self.token_end() {
            Ok(end) => self.slice(start, end).to_vec(),
            Err(_) => b"newline".to_vec(),
        }
    }
}
