//! Arithmetic expressions: text in, operations out. Evaluates nothing but constants.

use crate::arith::Flat;
use crate::ast::{Arith, Expr, LValue, Part, Subscript, SubscriptKind, UnaryOp, Word};
use crate::error::ArithError;
use crate::names::Names;
use crate::number::parse_number;
use crate::operators::{Op, POWER, fold, operator_at};
use crate::parser::ParseOptions;
use crate::reader::{Reader, in_name, starts_name};

/// Height of an expression at most: evaluating and dropping it recurse.
const MAX_HEIGHT: u16 = 250;

/// Subscripts within subscripts at most, as each holds the text of those inside.
const MAX_SUBSCRIPTS: u16 = 12;

const OPERAND: &str = "syntax error: operand expected";
const IN_EXPRESSION: &str = "syntax error in expression";
const BAD_OPERATOR: &str = "syntax error: invalid arithmetic operator";

/// Parses arithmetic in which NULs stand for expansions.
pub(super) fn parse_flat(
    flat: &Flat,
    names: &mut Names,
    options: &ParseOptions,
) -> Result<Expr, ArithError> {
    parse_nested(&flat.text, &flat.parts, names, options, 0)
}

fn parse_nested(
    text: &[u8],
    parts: &[Part],
    names: &mut Names,
    options: &ParseOptions,
    subscripts: u16,
) -> Result<Expr, ArithError> {
    let mut reader = ExprReader {
        text,
        pos: 0,
        token: 0,
        parts: parts.iter(),
        names,
        options,
        depth: 0,
        subscripts,
        operands: 0,
    };
    reader.skip_blanks();
    if reader.pos >= text.len() {
        return Ok(Expr::Number(0));
    }
    let expr = *reader.comma()?.expr;
    reader.skip_blanks();
    if reader.pos < text.len() {
        reader.token = reader.pos;
        let byte = reader.here();
        let message = if in_name(byte) || b"()?:=!~+-*/%<>&|^,".contains(&byte) {
            IN_EXPRESSION
        } else {
            BAD_OPERATOR
        };
        return Err(reader.error(message));
    }
    Ok(expr)
}

/// An expression with its height. Boxed, to keep the frames of the recursion small.
struct Node {
    expr: Box<Expr>,
    height: u16,
}

impl Node {
    fn leaf(expr: Expr) -> Self {
        Self {
            expr: Box::new(expr),
            height: 1,
        }
    }
}

struct ExprReader<'a> {
    text: &'a [u8],
    pos: usize,
    /// Start of the token that an error would name.
    token: usize,
    parts: std::slice::Iter<'a, Part>,
    names: &'a mut Names,
    options: &'a ParseOptions,
    depth: u16,
    subscripts: u16,
    /// Numbers and variables read so far.
    operands: u32,
}

impl ExprReader<'_> {
    fn here(&self) -> u8 {
        self.text.get(self.pos).copied().unwrap_or(0)
    }

    fn ahead(&self, ahead: usize) -> u8 {
        self.text.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.here(), b' ' | b'\t' | b'\n' | b'\r') {
            self.pos += 1;
        }
    }

    fn error(&self, message: &'static str) -> ArithError {
        ArithError {
            message,
            token: self.text.get(self.token..).unwrap_or_default().to_vec(),
        }
    }

    fn enter(&mut self) -> Result<(), ArithError> {
        self.depth += 1;
        if self.depth > MAX_HEIGHT {
            return Err(self.error("expression recursion level exceeded"));
        }
        Ok(())
    }

    /// Counts a number or a variable.
    fn count_operand(&mut self) -> Result<(), ArithError> {
        self.operands = self.operands.wrapping_add(1);
        if self.options.asked.stops(self.operands) {
            return Err(self.error("no time is left to read the expression"));
        }
        Ok(())
    }

    fn node(&self, expr: Expr, below: u16) -> Result<Node, ArithError> {
        if below >= MAX_HEIGHT {
            return Err(self.error("expression recursion level exceeded"));
        }
        Ok(Node {
            expr: Box::new(expr),
            height: below + 1,
        })
    }

    fn comma(&mut self) -> Result<Node, ArithError> {
        let mut left = self.assignment()?;
        while self.operator(Op::Comma) {
            let right = self.assignment()?;
            let height = left.height.max(right.height);
            let expr = Expr::Comma(left.expr, right.expr);
            left = self.node(expr, height)?;
        }
        Ok(left)
    }

    /// Passes an operator if it comes next.
    fn operator(&mut self, wanted: Op) -> bool {
        match self.peek() {
            Some((op, length)) if op == wanted => {
                self.token = self.pos;
                self.pos += length;
                true
            }
            _ => false,
        }
    }

    fn assignment(&mut self) -> Result<Node, ArithError> {
        self.enter()?;
        let left = self.conditional()?;
        let result = if let Some((Op::Assign(op), length)) = self.peek() {
            self.token = self.pos;
            match *left.expr {
                Expr::Variable(target) => {
                    self.pos += length;
                    let value = self.assignment()?;
                    let expr = Expr::Assign(target, op, value.expr);
                    self.node(expr, value.height)
                }
                _ => Err(self.error("attempted assignment to non-variable")),
            }
        } else {
            Ok(left)
        };
        self.depth -= 1;
        result
    }

    fn conditional(&mut self) -> Result<Node, ArithError> {
        let test = self.binary(1)?;
        if !self.operator(Op::Question) {
            return Ok(test);
        }
        self.enter()?;
        self.skip_blanks();
        if self.pos >= self.text.len() || self.here() == b':' {
            self.token = self.pos;
            return Err(self.error("expression expected"));
        }
        let yes = self.comma()?;
        self.skip_blanks();
        if self.here() != b':' {
            if self.pos < self.text.len() {
                self.token = self.pos;
            }
            return Err(self.error("`:' expected for conditional expression"));
        }
        self.token = self.pos;
        self.pos += 1;
        self.skip_blanks();
        if self.pos >= self.text.len() {
            return Err(self.error("expression expected"));
        }
        let no = self.conditional()?;
        self.depth -= 1;
        let height = test.height.max(yes.height).max(no.height);
        let expr = Expr::Ternary(test.expr, yes.expr, no.expr);
        self.node(expr, height)
    }

    /// Reads operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Result<Node, ArithError> {
        self.enter()?;
        let mut left = self.unary()?;
        while let Some((op, length)) = self.peek() {
            let level = match op {
                Op::Or => 1,
                Op::And => 2,
                Op::Binary(_, level) => level,
                _ => break,
            };
            if level < least {
                break;
            }
            self.token = self.pos;
            self.pos += length;
            // `**` groups from the right.
            let right_level = level + u8::from(level != POWER);
            let right = self.binary(right_level)?;
            left = self.join(op, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    #[inline(never)]
    fn join(&mut self, op: Op, left: Node, right: Node) -> Result<Node, ArithError> {
        let height = left.height.max(right.height);
        let expr = match op {
            Op::Binary(op, _) => {
                if let (Expr::Number(left), Expr::Number(right)) = (&*left.expr, &*right.expr)
                    && let Some(value) = fold(op, *left, *right)
                {
                    // Keeps long sums of constants flat.
                    return Ok(Node::leaf(Expr::Number(value)));
                }
                Expr::Binary(op, left.expr, right.expr)
            }
            Op::And => Expr::And(left.expr, right.expr),
            _ => Expr::Or(left.expr, right.expr),
        };
        self.node(expr, height)
    }

    /// Reads `! ~ - + ++ --` and an operand. Chains of signs are long in hostile text: no recursion.
    fn unary(&mut self) -> Result<Node, ArithError> {
        let mut ops = Vec::new();
        loop {
            self.skip_blanks();
            let byte = self.here();
            if matches!(byte, b'+' | b'-')
                && self.ahead(1) == byte
                && let Some(step) = self.prefix_step(byte)?
            {
                return self.apply(ops, step);
            }
            let op = match byte {
                b'!' => UnaryOp::Not,
                b'~' => UnaryOp::BitNot,
                b'-' => UnaryOp::Minus,
                b'+' => UnaryOp::Plus,
                _ => break,
            };
            self.token = self.pos;
            self.pos += 1;
            ops.push(op);
            if ops.len() > usize::from(MAX_HEIGHT) {
                return Err(self.error("expression recursion level exceeded"));
            }
        }
        let operand = self.operand()?;
        self.apply(ops, operand)
    }

    #[inline(never)]
    fn apply(&mut self, ops: Vec<UnaryOp>, operand: Node) -> Result<Node, ArithError> {
        let mut node = operand;
        for op in ops.into_iter().rev() {
            node = match (op, &*node.expr) {
                (UnaryOp::Minus, Expr::Number(value)) => {
                    Node::leaf(Expr::Number(value.wrapping_neg()))
                }
                (UnaryOp::Plus, Expr::Number(_)) => node,
                _ => self.node(Expr::Unary(op, node.expr), node.height)?,
            };
        }
        Ok(node)
    }

    /// Reads `++x` or `--x`; nothing if two signs stand there.
    #[inline(never)]
    fn prefix_step(&mut self, sign: u8) -> Result<Option<Node>, ArithError> {
        let start = self.pos;
        self.pos += 2;
        self.skip_blanks();
        if !starts_name(self.here()) {
            self.pos = start;
            return Ok(None);
        }
        self.token = self.pos;
        let target = self.variable()?;
        let by = if sign == b'+' { 1 } else { -1 };
        Ok(Some(Node::leaf(Expr::Step {
            target,
            by,
            prefix: true,
        })))
    }

    fn operand(&mut self) -> Result<Node, ArithError> {
        self.skip_blanks();
        let byte = self.here();
        if self.pos >= self.text.len() {
            // bash names the operator before the end.
            return Err(self.error(OPERAND));
        }
        match byte {
            b'(' => self.parenthesis(),
            b'0'..=b'9' => self.number(),
            0 => self.expansion(),
            _ if starts_name(byte) => {
                self.token = self.pos;
                let target = self.variable()?;
                Ok(self.postfix(target))
            }
            _ => {
                self.token = self.pos;
                Err(self.error(OPERAND))
            }
        }
    }

    fn parenthesis(&mut self) -> Result<Node, ArithError> {
        self.token = self.pos;
        self.pos += 1;
        let inner = self.comma()?;
        self.skip_blanks();
        if self.here() != b')' {
            if self.pos < self.text.len() {
                self.token = self.pos;
            }
            return Err(self.error("missing `)'"));
        }
        self.token = self.pos;
        self.pos += 1;
        Ok(inner_value(inner))
    }

    #[inline(never)]
    fn number(&mut self) -> Result<Node, ArithError> {
        self.count_operand()?;
        self.token = self.pos;
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|byte| !(in_name(*byte) || matches!(byte, b'#' | b'@')))
            .unwrap_or(rest.len());
        let digits = rest.get(..length).unwrap_or_default();
        if rest.get(length) == Some(&0) {
            return Err(self.error(IN_EXPRESSION));
        }
        match parse_number(digits) {
            Ok(value) => {
                self.pos += length;
                Ok(Node::leaf(Expr::Number(value)))
            }
            Err(message) => Err(self.error(message)),
        }
    }

    /// Reads an expansion that is a whole operand.
    #[inline(never)]
    fn expansion(&mut self) -> Result<Node, ArithError> {
        self.token = self.pos;
        let before = self.pos.checked_sub(1).and_then(|at| self.text.get(at));
        let glued = |byte: &u8| {
            in_name(*byte) || matches!(byte, 0 | b'#' | b'@' | b'[' | b'$' | b'.' | b'\'' | b'\\')
        };
        if before.is_some_and(glued) || self.text.get(self.pos + 1).is_some_and(glued) {
            return Err(self.error(IN_EXPRESSION));
        }
        let Some(part) = self.parts.next() else {
            return Err(self.error(OPERAND));
        };
        self.pos += 1;
        // What an expansion gives may be a name to assign to, which only the text knows.
        if matches!(
            self.peek(),
            Some((Op::Assign(_) | Op::Increment | Op::Decrement, _))
        ) {
            return Err(self.error(IN_EXPRESSION));
        }
        Ok(Node::leaf(Expr::Expansion(Box::new(part.clone()))))
    }

    #[inline(never)]
    fn postfix(&mut self, target: LValue) -> Node {
        let by = match self.peek() {
            Some((Op::Increment, _)) => 1,
            Some((Op::Decrement, _)) => -1,
            _ => return Node::leaf(Expr::Variable(target)),
        };
        self.token = self.pos;
        self.pos += 2;
        Node::leaf(Expr::Step {
            target,
            by,
            prefix: false,
        })
    }

    /// Reads `name` or `name[…]`.
    #[inline(never)]
    fn variable(&mut self) -> Result<LValue, ArithError> {
        self.count_operand()?;
        let start = self.pos;
        while in_name(self.here()) {
            self.pos += 1;
        }
        let text = self.text.get(start..self.pos).unwrap_or_default();
        // `a$x` is one name, known when it runs.
        if self.here() == 0 && self.pos < self.text.len() {
            return Err(self.error(IN_EXPRESSION));
        }
        let name = self.names.intern(text);
        let subscript = if self.here() == b'[' {
            Some(Box::new(self.subscript()?))
        } else {
            None
        };
        Ok(LValue { name, subscript })
    }

    fn subscript(&mut self) -> Result<Subscript, ArithError> {
        let start = self.pos;
        let Some(end) = self.subscript_end() else {
            return Err(self.error("bad array subscript"));
        };
        let inner = self.text.get(start + 1..end).unwrap_or_default();
        if self.subscripts >= MAX_SUBSCRIPTS {
            return Err(self.error("expression recursion level exceeded"));
        }
        let holes = inner.iter().filter(|byte| **byte == 0).count();
        let bracketed = self.text.get(start..=end).unwrap_or_default();
        self.pos = end + 1;
        if holes == 0 && inner.iter().any(|byte| b"$`\"'\\".contains(byte)) {
            let mut reader = Reader::new(bracketed.into(), self.names, &|_| None, self.options);
            return match reader.subscript() {
                Ok(subscript) => Ok(subscript),
                Err(_) => Err(self.error("bad array subscript")),
            };
        }
        let flat = Flat {
            text: inner.to_vec(),
            parts: self.parts.by_ref().take(holes).cloned().collect(),
        };
        let kind = match inner {
            b"@" => SubscriptKind::At,
            b"*" => SubscriptKind::Star,
            _ => self.index(&flat),
        };
        Ok(Subscript {
            kind,
            text: inner.into(),
        })
    }

    fn index(&mut self, flat: &Flat) -> SubscriptKind {
        let below = self.subscripts + 1;
        let expr = parse_nested(&flat.text, &flat.parts, self.names, self.options, below).ok();
        let word = if expr.is_some() && flat.parts.is_empty() {
            Word::default()
        } else {
            flat.word()
        };
        let arith = Arith {
            expr,
            word,
            text: flat.text.as_slice().into(),
        };
        let mut key = flat.word();
        unquote(&mut key);
        SubscriptKind::Index { arith, key }
    }

    fn subscript_end(&self) -> Option<usize> {
        let mut depth = 0_usize;
        let mut quote = 0;
        for (at, byte) in self.text.iter().enumerate().skip(self.pos) {
            match byte {
                b'\'' if quote == 0 => quote = b'\'',
                b'\'' if quote == b'\'' => quote = 0,
                _ if quote != 0 => {}
                b'[' => depth += 1,
                b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the operator that comes next, and its length.
    fn peek(&mut self) -> Option<(Op, usize)> {
        self.skip_blanks();
        operator_at(self.text.get(self.pos..).unwrap_or_default())
    }
}

/// Parentheses make a variable a value: `(x) = 1` and `(x)++` are errors.
fn inner_value(node: Node) -> Node {
    match *node.expr {
        Expr::Variable(_) => Node {
            height: node.height + 1,
            expr: Box::new(Expr::Unary(UnaryOp::Plus, node.expr)),
        },
        _ => node,
    }
}

/// Drops single quotes from a key, whose double quotes are dropped already.
fn unquote(key: &mut Word) {
    for part in &mut key.parts {
        if let Part::Quoted(text) = part
            && text.contains(&b'\'')
        {
            *text = text.iter().copied().filter(|byte| *byte != b'\'').collect();
        }
    }
}

/// Parses an expression whose text is at hand, without expansions of its own.
pub(super) fn parse_text(
    text: &[u8],
    names: &mut Names,
    options: &ParseOptions,
) -> Result<Expr, ArithError> {
    parse_nested(text, &[], names, options, 0)
}
