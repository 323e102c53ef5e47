//! The parts of the grammar with members: object construction and the patterns of `as`.

use super::ast::{Ast, Binary, Member, Pattern};
use super::lex::{Num, Token};
use super::parse::{Parsed, Parser};
use super::text::Text;
use super::value::Value;

impl Parser<'_> {
    /// Reads `{…}` behind its brace.
    pub(super) fn object(&mut self) -> Parsed<Ast> {
        let mut members = Vec::new();
        while !self.eat("}") {
            members.push(self.member()?);
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Ast::Object(members))
    }

    fn member(&mut self) -> Parsed<(Ast, Ast)> {
        let field = |key: &Text| {
            Ast::Path(
                Box::new(Ast::Identity),
                vec![super::ast::Suffix::Field(key.clone())],
            )
        };
        let key = match self.peek().clone() {
            Token::Var(name) => {
                let value = self.term()?;
                let key = Ast::Const(Value::String(name.clone()));
                // `{$x: 1}` takes the value of the variable as the key.
                if self.eat(":") {
                    return Ok((value, self.member_value()?));
                }
                return Ok((key, value));
            }
            Token::Name(name) => {
                self.advance();
                if !self.is(":") {
                    return Ok((Ast::Const(Value::String(name.clone())), field(&name)));
                }
                Ast::Const(Value::String(name))
            }
            Token::Number(Num(value)) => {
                self.advance();
                Ast::Const(value)
            }
            Token::StringStart => {
                let key = self.string(None)?;
                if !self.is(":") {
                    return Ok((self.repeat_key(&key)?, key_value(key)));
                }
                key
            }
            Token::Format(name) => {
                self.advance();
                let key = self.string(Some(name))?;
                if !self.is(":") {
                    return Ok((self.repeat_key(&key)?, key_value(key)));
                }
                key
            }
            Token::Mark("(") => {
                self.advance();
                let key = self.pipe()?;
                self.expect(")")?;
                key
            }
            _ => return Err(self.unexpected()),
        };
        self.expect(":")?;
        Ok((key, self.member_value()?))
    }

    /// `{"a b"}` is `{"a b": .["a b"]}`; with an interpolation the text would have to be evaluated twice.
    fn repeat_key(&mut self, key: &Ast) -> Parsed<Ast> {
        match key {
            Ast::Const(value) => Ok(Ast::Const(value.clone())),
            _ => Err(self.unexpected()),
        }
    }

    /// Reads the value of a member: terms joined by `|`, as jq's grammar has it; sums and the like are taken too.
    fn member_value(&mut self) -> Parsed<Ast> {
        let mut stages = Vec::new();
        loop {
            stages.push(self.member_term()?);
            if !self.eat("|") {
                break;
            }
        }
        Ok(if stages.len() == 1 {
            stages.pop().unwrap_or(Ast::Identity)
        } else {
            Ast::Pipe(stages)
        })
    }

    fn member_term(&mut self) -> Parsed<Ast> {
        if self.eat("-") {
            return Ok(Ast::Chain(
                Box::new(Ast::Const(Value::Number(0.0))),
                vec![(Binary::Subtract, self.term()?)],
            ));
        }
        self.term()
    }

    /// Reads patterns, with their alternatives.
    pub(super) fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        let mut patterns = vec![self.pattern(0)?];
        while self.eat("?//") {
            patterns.push(self.pattern(0)?);
        }
        Ok(patterns)
    }

    fn pattern(&mut self, depth: u32) -> Parsed<Pattern> {
        if depth > 64 {
            return Err(self.error("the pattern is nested too deeply".to_owned()));
        }
        match self.advance() {
            Token::Var(name) => Ok(Pattern::Var(name)),
            Token::Mark("[") => {
                let mut items = vec![self.pattern(depth + 1)?];
                while self.eat(",") {
                    items.push(self.pattern(depth + 1)?);
                }
                self.expect("]")?;
                Ok(Pattern::Array(items))
            }
            Token::Mark("{") => {
                let mut members = vec![self.pattern_member(depth)?];
                while self.eat(",") {
                    members.push(self.pattern_member(depth)?);
                }
                self.expect("}")?;
                Ok(Pattern::Object(members))
            }
            _ => {
                self.back();
                Err(self.unexpected())
            }
        }
    }

    fn pattern_member(&mut self, depth: u32) -> Parsed<Member> {
        let (key, var) = match self.advance() {
            Token::Var(name) => (Ast::Const(Value::String(name.clone())), Some(name)),
            Token::Name(name) => (Ast::Const(Value::String(name)), None),
            Token::StringStart => {
                self.back();
                (self.string(None)?, None)
            }
            Token::Mark("(") => {
                let key = self.pipe()?;
                self.expect(")")?;
                (key, None)
            }
            _ => {
                self.back();
                return Err(self.unexpected());
            }
        };
        let pattern = if self.eat(":") {
            Some(self.pattern(depth + 1)?)
        } else if var.is_some() {
            None
        } else {
            return Err(self.unexpected());
        };
        Ok(Member { key, var, pattern })
    }
}

fn key_value(key: Ast) -> Ast {
    Ast::Path(
        Box::new(Ast::Identity),
        vec![super::ast::Suffix::Index(key)],
    )
}
