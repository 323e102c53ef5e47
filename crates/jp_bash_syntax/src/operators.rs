//! Operators of arithmetic: their text, how tightly they bind, what constants come to.

use crate::ast::BinaryOp;

/// A token other than an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Binary(BinaryOp, u8),
    And,
    Or,
    Assign(Option<BinaryOp>),
    Question,
    Comma,
    Increment,
    Decrement,
}

/// Level of `**`, the tightest.
pub(super) const POWER: u8 = 11;

/// Computes an operation on constants, where it cannot fail.
pub(super) fn fold(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => Some(left.wrapping_add(right)),
        BinaryOp::Sub => Some(left.wrapping_sub(right)),
        BinaryOp::Mul => Some(left.wrapping_mul(right)),
        BinaryOp::BitAnd => Some(left & right),
        BinaryOp::BitXor => Some(left ^ right),
        BinaryOp::BitOr => Some(left | right),
        _ => None,
    }
}

/// Returns the operator that a text starts with, and its length.
pub(super) fn operator_at(text: &[u8]) -> Option<(Op, usize)> {
    use BinaryOp::{
        Add, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Pow, Rem, Shl, Shr, Sub,
    };
    let binary = |op, level| Op::Binary(op, level);
    Some(match text {
        [b'<', b'<', b'=', ..] => (Op::Assign(Some(Shl)), 3),
        [b'>', b'>', b'=', ..] => (Op::Assign(Some(Shr)), 3),
        [b'*', b'*', ..] => (binary(Pow, POWER), 2),
        [b'<', b'<', ..] => (binary(Shl, 8), 2),
        [b'>', b'>', ..] => (binary(Shr, 8), 2),
        [b'<', b'=', ..] => (binary(Le, 7), 2),
        [b'>', b'=', ..] => (binary(Ge, 7), 2),
        [b'=', b'=', ..] => (binary(Eq, 6), 2),
        [b'!', b'=', ..] => (binary(Ne, 6), 2),
        [b'&', b'&', ..] => (Op::And, 2),
        [b'|', b'|', ..] => (Op::Or, 2),
        [b'+', b'+', ..] => (Op::Increment, 2),
        [b'-', b'-', ..] => (Op::Decrement, 2),
        [b'+', b'=', ..] => (Op::Assign(Some(Add)), 2),
        [b'-', b'=', ..] => (Op::Assign(Some(Sub)), 2),
        [b'*', b'=', ..] => (Op::Assign(Some(Mul)), 2),
        [b'/', b'=', ..] => (Op::Assign(Some(Div)), 2),
        [b'%', b'=', ..] => (Op::Assign(Some(Rem)), 2),
        [b'&', b'=', ..] => (Op::Assign(Some(BitAnd)), 2),
        [b'^', b'=', ..] => (Op::Assign(Some(BitXor)), 2),
        [b'|', b'=', ..] => (Op::Assign(Some(BitOr)), 2),
        [b'=', ..] => (Op::Assign(None), 1),
        [b'+', ..] => (binary(Add, 9), 1),
        [b'-', ..] => (binary(Sub, 9), 1),
        [b'*', ..] => (binary(Mul, 10), 1),
        [b'/', ..] => (binary(Div, 10), 1),
        [b'%', ..] => (binary(Rem, 10), 1),
        [b'<', ..] => (binary(Lt, 7), 1),
        [b'>', ..] => (binary(Gt, 7), 1),
        [b'&', ..] => (binary(BitAnd, 5), 1),
        [b'^', ..] => (binary(BitXor, 4), 1),
        [b'|', ..] => (binary(BitOr, 3), 1),
        [b'?', ..] => (Op::Question, 1),
        [b',', ..] => (Op::Comma, 1),
        _ => return None,
    })
}
