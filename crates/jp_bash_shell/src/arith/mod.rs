//! Arithmetic: 64-bit, wrapping, on expressions that were parsed before.
//!
//! A variable's text is evaluated as an expression again; the plain number is the fast way.

mod error;

use std::sync::Arc;

use jp_bash_syntax::ast::{Arith, BinaryOp, Expr, LValue, Part, UnaryOp};
use jp_bash_syntax::text::parse_arith;

use crate::Shell;
use crate::arith::error::Fail;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::access::{Assigned, How};
use crate::vars::subscript::Key;
use crate::vars::{Attrs, Bytes, Value};

/// How deep variables may refer to one another; bash's own limit.
const MAX_LEVEL: u32 = 1024;

/// Parsed texts of variables kept at most.
const CACHED: usize = 256;

/// Expressions that came from the texts of variables.
pub(crate) type Cache = rustc_hash::FxHashMap<Box<[u8]>, Arc<Expr>>;

/// Reads a plain decimal number: no sign but a minus, no leading zero.
#[inline]
fn plain_number(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        _ => (false, text),
    };
    match digits {
        [] => return None,
        [b'0', _, ..] => return None,
        _ if digits.len() > 18 => return None,
        _ => {}
    }
    let mut value = 0_i64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value })
}

impl Shell<'_> {
    /// Evaluates an expression; an error gives up the command line.
    #[inline]
    pub(crate) fn arith(&mut self, arith: &Arith) -> Result<i64, Flow> {
        self.arith_as(arith, b"")
    }

    /// Evaluates an expression; messages start with `prefix` (`((: `, `[[: `, `let: `).
    pub(crate) fn arith_as(&mut self, arith: &Arith, prefix: &[u8]) -> Result<i64, Flow> {
        if let Some(expr) = &arith.expr {
            match self.eval(expr, 0) {
                Ok(value) => return Ok(value),
                Err(Fail::Expand) => {}
                Err(fail) => return self.arith_failed(fail, expr, &arith.text, prefix),
            }
        }
        let text = self.expand_here_doc(&arith.word)?;
        self.arith_text_as(&text, prefix)
    }

    /// Evaluates a text that only exists now.
    pub(crate) fn arith_text(&mut self, text: &[u8]) -> Result<i64, Flow> {
        self.arith_text_as(text, b"")
    }

    /// Evaluates a text; messages start with `prefix`.
    pub(crate) fn arith_text_as(&mut self, text: &[u8], prefix: &[u8]) -> Result<i64, Flow> {
        if let Some(value) = plain_number(text) {
            return Ok(value);
        }
        match self.eval_text_at(text, 0) {
            Ok(value) => Ok(value),
            Err(fail) => self.arith_failed(fail, &Expr::Number(0), text, prefix),
        }
    }

    fn eval_text_at(&mut self, text: &[u8], level: u32) -> Result<i64, Fail> {
        if text.iter().all(u8::is_ascii_whitespace) {
            return Ok(0);
        }
        if level >= MAX_LEVEL {
            return Err(Fail::at(text, "expression recursion level exceeded", text));
        }
        // Variables that name each other twice make this exponential.
        let size = u32::try_from(text.len() / 128).unwrap_or(u32::MAX);
        self.kernel
            .budget
            .turns(1 + u64::from(size / 2))
            .map_err(Flow::from)?;
        self.kernel.budget.work(size).map_err(Flow::from)?;
        let expr = self.with_command_room(|shell| shell.parsed(text))?;
        // Deep chains of variables go on with a fresh stack.
        self.with_room(|shell| shell.eval(&expr, level))
            .map_err(|fail| fail.within(&expr, text))
    }

    /// Parses the text of a variable, or finds it parsed.
    fn parsed(&mut self, text: &[u8]) -> Result<Arc<Expr>, Fail> {
        if let Some(expr) = self.vars.parsed.get(text) {
            return Ok(Arc::clone(expr));
        }
        let options = self.runtime_parse_options();
        let parsed = parse_arith(text, &mut self.kernel.names.borrow_mut(), &options);
        if parsed.is_err() {
            // The parser may have stopped because the run must.
            self.kernel.budget.look().map_err(Flow::from)?;
        }
        let expr = Arc::new(parsed.map_err(|error| Fail::at(text, error.message, &error.token))?);
        if text.len() <= 256 {
            if self.vars.parsed.len() >= CACHED {
                self.vars.parsed.clear();
            }
            self.vars.parsed.insert(text.into(), Arc::clone(&expr));
        }
        Ok(expr)
    }

    fn eval(&mut self, expr: &Expr, level: u32) -> Result<i64, Fail> {
        match expr {
            Expr::Number(value) => Ok(*value),
            _ if !self.has_small_room() => self.on_another(|shell| shell.eval(expr, level)),
            Expr::Variable(target) => self.eval_variable(target, level),
            Expr::Expansion(part) => self.eval_expansion(part),
            Expr::Unary(op, operand) => {
                let value = self.eval(operand, level)?;
                Ok(match op {
                    UnaryOp::Plus => value,
                    UnaryOp::Minus => value.wrapping_neg(),
                    UnaryOp::Not => i64::from(value == 0),
                    UnaryOp::BitNot => !value,
                })
            }
            Expr::Binary(op, left, right) => {
                let left = self.eval(left, level)?;
                let value = self.eval(right, level)?;
                binary(*op, left, value).map_err(|message| Fail::in_tree(message, expr))
            }
            Expr::And(left, right) => Ok(i64::from(
                self.eval(left, level)? != 0 && self.eval(right, level)? != 0,
            )),
            Expr::Or(left, right) => Ok(i64::from(
                self.eval(left, level)? != 0 || self.eval(right, level)? != 0,
            )),
            Expr::Ternary(condition, yes, no) => {
                if self.eval(condition, level)? != 0 {
                    self.eval(yes, level)
                } else {
                    self.eval(no, level)
                }
            }
            Expr::Assign(target, op, value) => {
                let value = match op {
                    None => self.eval(value, level)?,
                    Some(op) => {
                        let old = self.eval_variable(target, level)?;
                        let value = self.eval(value, level)?;
                        binary(*op, old, value).map_err(|message| Fail::in_tree(message, expr))?
                    }
                };
                self.eval_assign(target, value)?;
                Ok(value)
            }
            Expr::Step { target, by, prefix } => {
                let old = self.eval_variable(target, level)?;
                let new = old.wrapping_add(*by);
                self.eval_assign(target, new)?;
                Ok(if *prefix { new } else { old })
            }
            Expr::Comma(left, right) => {
                self.eval(left, level)?;
                self.eval(right, level)
            }
        }
    }

    #[inline]
    fn eval_variable(&mut self, target: &LValue, level: u32) -> Result<i64, Fail> {
        if target.subscript.is_none()
            && let Some(var) = self.vars.get(target.name)
            && let Value::Scalar(text) = &var.value
            && !var.attrs.has(Attrs::NAMEREF.with(Attrs::DYNAMIC))
        {
            if let Some(value) = plain_number(text.as_slice()) {
                return Ok(value);
            }
            let text = text.clone();
            return self.eval_text_at(text.as_slice(), level + 1);
        }
        self.eval_slow(target, level)
    }

    fn eval_slow(&mut self, target: &LValue, level: u32) -> Result<i64, Fail> {
        let text = match &target.subscript {
            None => self.var_text(target.name)?,
            Some(subscript) => {
                let place = self.resolve(target.name)?;
                let key = self.key_of(place.name, subscript)?;
                if matches!(key, Key::At | Key::Star) {
                    self.complain_subscript(place.name, &subscript.text)?;
                    return Err(Flow::Abandon(1).into());
                }
                self.read_key(place.name, &key)?
            }
        };
        match text {
            Some(text) => match plain_number(text.as_slice()) {
                Some(value) => Ok(value),
                None => self.eval_text_at(text.as_slice(), level + 1),
            },
            None => {
                if self.options.has(Opt::NoUnset) {
                    let mut shown = self.name_text(target.name).to_vec();
                    if let Some(subscript) = &target.subscript {
                        shown.push(b'[');
                        shown.extend_from_slice(&subscript.text);
                        shown.push(b']');
                    }
                    self.complain_unbound(&shown)?;
                }
                Ok(0)
            }
        }
    }

    /// `$x` as an operand: a plain number is used, anything else makes the whole text expand first.
    fn eval_expansion(&mut self, part: &Part) -> Result<i64, Fail> {
        if let Part::Param(param) = part
            && let Some(text) = self.plain_param(param)
        {
            return plain_number(text).ok_or(Fail::Expand);
        }
        Err(Fail::Expand)
    }

    fn eval_assign(&mut self, target: &LValue, value: i64) -> Result<(), Fail> {
        let name = target.name;
        let text = Bytes::from_int(value);
        let Some(subscript) = &target.subscript else {
            let attrs = self.vars.attrs(name);
            if !attrs.has(Attrs::SLOW) {
                self.vars
                    .set(&self.kernel.budget, name, text)
                    .map_err(Flow::from)?;
                if self.options.has(Opt::AllExport) {
                    self.after_set(name)?;
                }
                return Ok(());
            }
            return done(self.assign_text(name, text, How::Replace)?);
        };
        let place = self.resolve(name)?;
        let key = self.key_of(place.name, subscript)?;
        match self.writable(place.name, key, &subscript.text)? {
            Some(place) => done(self.set_place(&place, text, How::Replace)?),
            None => Err(Flow::Abandon(1).into()),
        }
    }
}

fn done(assigned: Assigned) -> Result<(), Fail> {
    match assigned {
        Assigned::Done => Ok(()),
        Assigned::Refused => Err(Flow::Abandon(1).into()),
    }
}

fn binary(op: BinaryOp, left: i64, right: i64) -> Result<i64, &'static str> {
    // Only the low six bits of a shift count, as the machine does it.
    let shift = u32::try_from(right & 63).unwrap_or(0);
    Ok(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Div if right == 0 => return Err("division by 0"),
        BinaryOp::Rem if right == 0 => return Err("division by 0"),
        BinaryOp::Div => left.wrapping_div(right),
        BinaryOp::Rem => left.wrapping_rem(right),
        BinaryOp::Pow if right < 0 => return Err("exponent less than 0"),
        BinaryOp::Pow => power(left, right),
        BinaryOp::Shl => left.wrapping_shl(shift),
        BinaryOp::Shr => left.wrapping_shr(shift),
        BinaryOp::Lt => i64::from(left < right),
        BinaryOp::Le => i64::from(left <= right),
        BinaryOp::Gt => i64::from(left > right),
        BinaryOp::Ge => i64::from(left >= right),
        BinaryOp::Eq => i64::from(left == right),
        BinaryOp::Ne => i64::from(left != right),
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::BitOr => left | right,
    })
}

fn power(base: i64, exponent: i64) -> i64 {
    let (mut base, mut exponent, mut value) = (base, exponent, 1_i64);
    while exponent > 0 {
        if exponent & 1 == 1 {
            value = value.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_wrap_and_refuse_as_bash_does() {
        for (op, left, right, want) in [
            (BinaryOp::Div, i64::MIN, -1, Ok(i64::MIN)),
            (BinaryOp::Rem, i64::MIN, -1, Ok(0)),
            (BinaryOp::Div, 1, 0, Err("division by 0")),
            (BinaryOp::Pow, 2, 62, Ok(1 << 62)),
            (BinaryOp::Pow, 3, 64, Ok(3_i64.wrapping_pow(64))),
            (BinaryOp::Pow, 2, -1, Err("exponent less than 0")),
            (BinaryOp::Shl, 1, 64, Ok(1)),
            (BinaryOp::Shr, -8, 1, Ok(-4)),
            (BinaryOp::Add, i64::MAX, 1, Ok(i64::MIN)),
        ] {
            assert_eq!(binary(op, left, right), want, "{left} {op:?} {right}");
        }
    }

    #[test]
    fn only_plain_decimal_takes_the_fast_way() {
        for (text, want) in [
            ("0", Some(0)),
            ("-12", Some(-12)),
            ("010", None),
            ("", None),
            ("-", None),
            ("1 ", None),
            ("0x1", None),
            ("9223372036854775807", None),
            ("999999999999999999", Some(999_999_999_999_999_999)),
        ] {
            assert_eq!(plain_number(text.as_bytes()), want, "{text}");
        }
    }
}
