//! Terms: what stands between operators, with the suffixes behind it.

use super::{KEYWORDS, Parsed, Parser};
use crate::jq::ast::{Ast, Loop, Part, Suffix};
use crate::jq::lex::{Num, Token};
use crate::jq::text::Text;
use crate::jq::value::Value;

impl Parser<'_> {
    /// Reads a term with its suffixes.
    pub(in crate::jq) fn term(&mut self) -> Parsed<Ast> {
        self.deeper(|parser| {
            let (first, mut suffixes) = parser.primary()?;
            parser.suffixes(&mut suffixes)?;
            Ok(if suffixes.is_empty() {
                first
            } else {
                Ast::Path(Box::new(first), suffixes)
            })
        })
    }

    pub(super) fn suffixes(&mut self, out: &mut Vec<Suffix>) -> Parsed<()> {
        loop {
            match self.peek() {
                Token::Field(name) => {
                    let name = name.clone();
                    self.at += 1;
                    out.push(Suffix::Field(name));
                }
                Token::Mark(".") => match self.peek_at(1) {
                    Token::StringStart | Token::Format(_) => {
                        self.at += 1;
                        let key = self.dotted_string()?;
                        out.push(Suffix::Index(key));
                    }
                    Token::Mark("[") => self.at += 1,
                    _ => {
                        self.at += 1;
                        return Err(self.unexpected());
                    }
                },
                Token::Mark("[") => {
                    self.at += 1;
                    out.push(self.bracket()?);
                }
                Token::Mark("?") => {
                    self.at += 1;
                    out.push(Suffix::Try);
                }
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn dotted_string(&mut self) -> Parsed<Ast> {
        match self.peek().clone() {
            Token::Format(name) => {
                self.at += 1;
                self.string(Some(name))
            }
            _ => self.string(None),
        }
    }

    pub(super) fn bracket(&mut self) -> Parsed<Suffix> {
        if self.eat("]") {
            return Ok(Suffix::Each);
        }
        if self.eat(":") {
            let to = self.pipe()?;
            self.expect("]")?;
            return Ok(Suffix::Slice(None, Some(to)));
        }
        let from = self.pipe()?;
        if self.eat(":") {
            if self.eat("]") {
                return Ok(Suffix::Slice(Some(from), None));
            }
            let to = self.pipe()?;
            self.expect("]")?;
            return Ok(Suffix::Slice(Some(from), Some(to)));
        }
        self.expect("]")?;
        Ok(Suffix::Index(from))
    }

    pub(super) fn primary(&mut self) -> Parsed<(Ast, Vec<Suffix>)> {
        let plain = |ast| Ok((ast, Vec::new()));
        match self.peek().clone() {
            Token::Number(Num(value)) => {
                self.at += 1;
                plain(Ast::Const(value))
            }
            Token::StringStart => plain(self.string(None)?),
            Token::Format(name) => {
                self.at += 1;
                if matches!(self.peek(), Token::StringStart) {
                    plain(self.string(Some(name))?)
                } else {
                    plain(Ast::Format(name))
                }
            }
            Token::Field(name) => {
                self.at += 1;
                Ok((Ast::Identity, vec![Suffix::Field(name)]))
            }
            Token::Var(name) if *name == *b"__loc__" => {
                self.at += 1;
                plain(Ast::Location(self.line()))
            }
            Token::Var(name) => {
                self.at += 1;
                plain(Ast::Var(name, self.line()))
            }
            Token::Mark(mark) => self.primary_mark(mark),
            Token::Name(name) => Ok((self.word(&name)?, Vec::new())),
            _ => Err(self.unexpected()),
        }
    }

    pub(super) fn primary_mark(&mut self, mark: &str) -> Parsed<(Ast, Vec<Suffix>)> {
        self.at += 1;
        match mark {
            "." => match self.peek() {
                Token::StringStart | Token::Format(_) => {
                    let key = self.dotted_string()?;
                    Ok((Ast::Identity, vec![Suffix::Index(key)]))
                }
                _ => Ok((Ast::Identity, Vec::new())),
            },
            ".." => Ok((Ast::Recurse, Vec::new())),
            "(" => {
                let inner = self.pipe()?;
                self.expect(")")?;
                Ok((inner, Vec::new()))
            }
            "[" => {
                if self.eat("]") {
                    return Ok((Ast::Array(None), Vec::new()));
                }
                let inner = self.pipe()?;
                self.expect("]")?;
                Ok((Ast::Array(Some(Box::new(inner))), Vec::new()))
            }
            "{" => Ok((self.object()?, Vec::new())),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    pub(super) fn word(&mut self, name: &Text) -> Parsed<Ast> {
        match name.as_str() {
            "if" => {
                self.at += 1;
                self.condition()
            }
            "try" => {
                self.at += 1;
                let body = self.term_after_try()?;
                let handler = if self.eat_word("catch") {
                    Some(Box::new(self.term_after_try()?))
                } else {
                    None
                };
                Ok(Ast::Try(Box::new(body), handler))
            }
            "reduce" | "foreach" => {
                self.at += 1;
                self.fold(name.as_str() == "foreach")
            }
            "break" if matches!(self.peek_at(1), Token::Var(_)) => {
                self.at += 1;
                match self.advance() {
                    Token::Var(label) => Ok(Ast::Break(label)),
                    _ => Err(self.unexpected()),
                }
            }
            "def" => self.pipe(),
            word if KEYWORDS.contains(&word) => Err(self.unexpected()),
            _ => {
                self.at += 1;
                self.call(name.clone())
            }
        }
    }

    /// Reads the body or handler of `try`: a term, which may be negated.
    pub(super) fn term_after_try(&mut self) -> Parsed<Ast> {
        if self.eat("-") {
            let inner = self.deeper(Self::term_after_try)?;
            return Ok(Ast::Negate(Box::new(inner)));
        }
        self.term()
    }

    /// Returns the line of the token just read.
    pub(super) fn line(&self) -> usize {
        let at = self
            .tokens
            .get(self.at.saturating_sub(1))
            .map_or(0, |t| t.at);
        let before = self.source.get(..at).unwrap_or_default();
        memchr::memchr_iter(b'\n', before).count() + 1
    }

    pub(super) fn call(&mut self, name: Text) -> Parsed<Ast> {
        let line = self.line();
        let mut args = Vec::new();
        if self.eat("(") {
            loop {
                args.push(self.pipe()?);
                if !self.eat(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Ok(match (name.as_str(), args.len()) {
            ("true", 0) => Ast::Const(Value::Bool(true)),
            ("false", 0) => Ast::Const(Value::Bool(false)),
            ("null", 0) => Ast::Const(Value::Null),
            _ => Ast::Call(name, args, line),
        })
    }

    pub(super) fn condition(&mut self) -> Parsed<Ast> {
        let mut branches = Vec::new();
        loop {
            let test = self.pipe()?;
            self.expect_word("then")?;
            branches.push((test, self.pipe()?));
            if self.eat_word("elif") {
                continue;
            }
            let otherwise = if self.eat_word("else") {
                Some(Box::new(self.pipe()?))
            } else {
                None
            };
            self.expect_word("end")?;
            return Ok(Ast::If(branches, otherwise));
        }
    }

    pub(super) fn fold(&mut self, foreach: bool) -> Parsed<Ast> {
        let source = self.term()?;
        self.expect_word("as")?;
        let patterns = self.patterns()?;
        self.expect("(")?;
        let init = self.pipe()?;
        self.expect(";")?;
        let update = self.pipe()?;
        let extract = if foreach && self.eat(";") {
            Some(self.pipe()?)
        } else {
            None
        };
        self.expect(")")?;
        let fold = Box::new(Loop {
            source,
            patterns,
            init,
            update,
            extract,
        });
        Ok(if foreach {
            Ast::Foreach(fold)
        } else {
            Ast::Reduce(fold)
        })
    }

    /// Reads a string with its interpolations.
    pub(in crate::jq) fn string(&mut self, format: Option<Text>) -> Parsed<Ast> {
        if !matches!(self.advance(), Token::StringStart) {
            self.at -= 1;
            return Err(self.unexpected());
        }
        let mut parts = Vec::new();
        loop {
            match self.peek().clone() {
                Token::StringText(text) => {
                    self.at += 1;
                    if !text.is_empty() {
                        parts.push(Part::Text(text));
                    }
                }
                Token::Interpolate => {
                    self.at += 1;
                    parts.push(Part::Ast(self.pipe()?));
                    if !matches!(self.advance(), Token::InterpolateEnd) {
                        self.at -= 1;
                        return Err(self.unexpected());
                    }
                }
                Token::StringEnd => {
                    self.at += 1;
                    break;
                }
                _ => return Err(self.unexpected()),
            }
        }
        Ok(match parts.as_mut_slice() {
            [] => Ast::Const(Value::string(b"")),
            [Part::Text(text)] => Ast::Const(Value::String(text.clone())),
            _ => Ast::Str(format, parts),
        })
    }
}
