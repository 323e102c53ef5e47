//! Builds the tree of a program, with the messages of jq's grammar. Depth is bounded; chains are loops.

mod term;

use std::sync::Arc;

use super::ast::{Assign, Ast, Binary, Def, Import, Param, Source};
use super::lex::{self, Spanned, Token};
use super::value::Value;

/// How deep brackets may nest; jq's own limit is that of its generated parser.
const MAX_DEPTH: u32 = 128;

/// Words that cannot name a function.
const KEYWORDS: &[&str] = &[
    "def", "if", "then", "elif", "else", "end", "as", "reduce", "foreach", "try", "catch", "label",
    "import", "include", "__loc__", "and", "or",
];

/// A message, and where in the program.
pub(super) struct SyntaxError {
    pub(super) message: String,
    pub(super) at: usize,
}

pub(super) type Parsed<T> = Result<T, SyntaxError>;

/// Reads a program, or a module (which has no body).
pub(super) fn parse(source: &[u8]) -> Parsed<Source> {
    let mut parser = Parser {
        source,
        tokens: lex::tokens(source),
        at: 0,
        depth: 0,
    };
    parser.module()?;
    let mut imports = Vec::new();
    while let Some(import) = parser.import()? {
        imports.push(import);
    }
    let defs = parser.defs()?;
    let body = match parser.peek() {
        Token::End => None,
        _ => Some(parser.pipe()?),
    };
    match parser.peek() {
        Token::End => Ok(Source {
            imports,
            defs,
            body,
        }),
        _ => Err(parser.unexpected()),
    }
}

pub(super) struct Parser<'a> {
    source: &'a [u8],
    tokens: Vec<Spanned>,
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |t| &t.token)
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens
            .get(self.at + ahead)
            .map_or(&Token::End, |t| &t.token)
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// Steps back by one token.
    pub(super) fn back(&mut self) {
        self.at -= 1;
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(found) if *found == mark)
    }

    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if **name == *word.as_bytes())
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    /// Makes the error for the token at hand.
    pub(super) fn unexpected(&self) -> SyntaxError {
        let name = match self.peek() {
            Token::End => "end of file".to_owned(),
            Token::Mark(mark) if mark.len() == 1 => format!("'{mark}'"),
            Token::Mark(mark) => (*mark).to_owned(),
            Token::Name(name) if KEYWORDS.contains(&name.as_str()) => name.as_str().to_owned(),
            Token::Name(_) => "IDENT".to_owned(),
            Token::Field(_) => "FIELD".to_owned(),
            Token::Var(_) => "BINDING".to_owned(),
            Token::Format(_) => "FORMAT".to_owned(),
            Token::Number(_) => "LITERAL".to_owned(),
            Token::StringStart => "QQSTRING_START".to_owned(),
            Token::StringText(_) => "QQSTRING_TEXT".to_owned(),
            Token::Interpolate => "QQSTRING_INTERP_START".to_owned(),
            Token::InterpolateEnd => "QQSTRING_INTERP_END".to_owned(),
            Token::StringEnd => "QQSTRING_END".to_owned(),
            Token::Bad => "INVALID_CHARACTER".to_owned(),
        };
        self.error(format!(
            "syntax error, unexpected {name} (Unix shell quoting issues?)"
        ))
    }

    pub(super) fn error(&self, message: String) -> SyntaxError {
        let at = self.tokens.get(self.at).map_or(self.source.len(), |t| t.at);
        SyntaxError { message, at }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error("the program is nested too deeply".to_owned()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Passes over `module {…};`, which must be constant.
    fn module(&mut self) -> Parsed<()> {
        if !self.is_word("module") || !matches!(self.peek_at(1), Token::Mark("{")) {
            return Ok(());
        }
        self.at += 1;
        let meta = self.term()?;
        self.expect(";")?;
        constant(&meta)
            .map(|_| ())
            .ok_or_else(|| self.error("Module metadata must be constant".to_owned()))
    }

    fn import(&mut self) -> Parsed<Option<Import>> {
        let include = self.is_word("include");
        if !include && !self.is_word("import") {
            return Ok(None);
        }
        self.at += 1;
        let Ast::Const(Value::String(path)) = self.string(None)? else {
            return Err(self.error("Import path must be constant".to_owned()));
        };
        let mut alias = None;
        let mut data = false;
        if !include {
            self.expect_word("as")?;
            match self.advance() {
                Token::Name(name) => alias = Some(name),
                Token::Var(name) => {
                    alias = Some(name);
                    data = true;
                }
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            }
        }
        let mut search = None;
        if self.is("{") {
            let meta = self.term()?;
            let meta = constant(&meta)
                .ok_or_else(|| self.error("Module metadata must be constant".to_owned()))?;
            if let Value::Object(object) = &meta
                && let Some(Value::String(path)) = object.get(b"search")
            {
                search = Some(path.clone());
            }
        }
        self.expect(";")?;
        Ok(Some(Import {
            path,
            alias,
            data,
            search,
        }))
    }

    fn defs(&mut self) -> Parsed<Vec<Arc<Def>>> {
        let mut defs = Vec::new();
        while self.eat_word("def") {
            defs.push(Arc::new(self.deeper(Self::def)?));
        }
        Ok(defs)
    }

    fn def(&mut self) -> Parsed<Def> {
        let Token::Name(name) = self.advance() else {
            self.at -= 1;
            return Err(self.unexpected());
        };
        let mut params = Vec::new();
        if self.eat("(") {
            loop {
                let (name, value) = match self.advance() {
                    Token::Name(name) => (name, false),
                    Token::Var(name) => (name, true),
                    _ => {
                        self.at -= 1;
                        return Err(self.unexpected());
                    }
                };
                params.push(Param { name, value });
                if !self.eat(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        let body = self.pipe()?;
        self.expect(";")?;
        Ok(Def { name, params, body })
    }

    /// Reads a whole expression: definitions, then commas and pipes.
    pub(super) fn pipe(&mut self) -> Parsed<Ast> {
        self.deeper(|parser| {
            let defs = parser.defs()?;
            let mut stages = vec![parser.comma()?];
            while parser.eat("|") {
                if parser.is_word("def") {
                    stages.push(parser.pipe()?);
                    break;
                }
                stages.push(parser.comma()?);
            }
            let body = single(stages, Ast::Pipe);
            Ok(if defs.is_empty() {
                body
            } else {
                Ast::Defs(defs, Box::new(body))
            })
        })
    }

    fn comma(&mut self) -> Parsed<Ast> {
        let mut items = vec![self.binary(0)?];
        while self.eat(",") {
            items.push(self.binary(0)?);
        }
        Ok(single(items, Ast::Comma))
    }

    /// Reads operators that bind at least as tightly as `level`: 0 `//`, 1 assignment, 2 `or`, 3 `and`,
    /// 4 comparison, 5 sum, 6 product.
    fn binary(&mut self, level: u32) -> Parsed<Ast> {
        if level > 6 {
            return self.operand();
        }
        let first = self.binary(level + 1)?;
        match level {
            0 if self.is("//") || self.is("?//") => {
                let optional = self.is("?//");
                self.at += 1;
                let rest = self.deeper(|parser| parser.binary(0))?;
                let first = if optional {
                    Ast::Try(Box::new(first), None)
                } else {
                    first
                };
                Ok(Ast::Alternative(Box::new(first), Box::new(rest)))
            }
            1 => match self.assignment() {
                Some(assign) => {
                    let value = self.binary(2)?;
                    Ok(Ast::Assign(assign, Box::new(first), Box::new(value)))
                }
                None => Ok(first),
            },
            2 | 3 => {
                let word = if level == 2 { "or" } else { "and" };
                let mut items = vec![first];
                while self.eat_word(word) {
                    items.push(self.binary(level + 1)?);
                }
                Ok(single(items, if level == 2 { Ast::Or } else { Ast::And }))
            }
            4..=6 => self.chain(level, first),
            _ => Ok(first),
        }
    }

    fn chain(&mut self, level: u32, first: Ast) -> Parsed<Ast> {
        let mut items = Vec::new();
        while let Token::Mark(mark) = *self.peek() {
            let Some((found, binary)) = operator(mark) else {
                break;
            };
            if found != level || (level == 4 && !items.is_empty()) {
                break;
            }
            self.at += 1;
            items.push((binary, self.binary(level + 1)?));
        }
        Ok(if items.is_empty() {
            first
        } else {
            Ast::Chain(Box::new(first), items)
        })
    }

    fn assignment(&mut self) -> Option<Assign> {
        let Token::Mark(mark) = *self.peek() else {
            return None;
        };
        let assign = match mark {
            "=" => Assign::Set,
            "|=" => Assign::Update,
            "//=" => Assign::Alternative,
            "+=" => Assign::Arithmetic(Binary::Add),
            "-=" => Assign::Arithmetic(Binary::Subtract),
            "*=" => Assign::Arithmetic(Binary::Multiply),
            "/=" => Assign::Arithmetic(Binary::Divide),
            "%=" => Assign::Arithmetic(Binary::Modulo),
            _ => return None,
        };
        self.at += 1;
        Some(assign)
    }

    /// Reads a term, `-` term, `term as $x | …` or `label $x | …`.
    fn operand(&mut self) -> Parsed<Ast> {
        if self.eat("-") {
            let inner = self.deeper(Self::operand)?;
            return Ok(Ast::Negate(Box::new(inner)));
        }
        if self.is_word("def") {
            return self.pipe();
        }
        if self.is_word("label") && matches!(self.peek_at(1), Token::Var(_)) {
            self.at += 1;
            let Token::Var(name) = self.advance() else {
                return Err(self.unexpected());
            };
            self.expect("|")?;
            return Ok(Ast::Label(name, Box::new(self.pipe()?)));
        }
        let term = self.term()?;
        if !self.eat_word("as") {
            return Ok(term);
        }
        let patterns = self.patterns()?;
        self.expect("|")?;
        let body = self.pipe()?;
        Ok(Ast::Bind(Box::new(term), patterns, Box::new(body)))
    }
}

fn single(mut items: Vec<Ast>, many: impl FnOnce(Vec<Ast>) -> Ast) -> Ast {
    match items.len() {
        1 => items.pop().unwrap_or(Ast::Identity),
        _ => many(items),
    }
}

fn operator(mark: &str) -> Option<(u32, Binary)> {
    Some(match mark {
        "==" => (4, Binary::Equal),
        "!=" => (4, Binary::NotEqual),
        "<" => (4, Binary::Less),
        "<=" => (4, Binary::LessEqual),
        ">" => (4, Binary::Greater),
        ">=" => (4, Binary::GreaterEqual),
        "+" => (5, Binary::Add),
        "-" => (5, Binary::Subtract),
        "*" => (6, Binary::Multiply),
        "/" => (6, Binary::Divide),
        "%" => (6, Binary::Modulo),
        _ => return None,
    })
}

/// Returns the value of an expression that is written out.
pub(super) fn constant(ast: &Ast) -> Option<Value> {
    match ast {
        Ast::Const(value) => Some(value.clone()),
        Ast::Array(None) => Some(Value::array(Vec::new())),
        Ast::Array(Some(items)) => match &**items {
            Ast::Comma(items) => Some(Value::array(
                items.iter().map(constant).collect::<Option<_>>()?,
            )),
            one => Some(Value::array(vec![constant(one)?])),
        },
        Ast::Object(members) => {
            let mut all = Vec::new();
            for (key, value) in members {
                let Value::String(key) = constant(key)? else {
                    return None;
                };
                all.push((key, constant(value)?));
            }
            Some(Value::object(all))
        }
        _ => None,
    }
}
