//! Errors of arithmetic, in bash's words: the text, the message, and the token it stopped at.

use jp_bash_syntax::ast::{BinaryOp, Expr};

use crate::Shell;
use crate::flow::Flow;

/// Why an expression has no value.
#[derive(Debug)]
pub(super) enum Fail {
    /// Something else went wrong, and is already reported.
    Flow(Flow),
    /// An operand is more than a number: the whole text is to be expanded first.
    Expand,
    /// An operator refused; `place` says which one, counted among its like in the expression.
    Tree {
        message: &'static str,
        node: *const Expr,
    },
    /// The error with the text it is in.
    Text {
        text: Vec<u8>,
        message: &'static str,
        token: Vec<u8>,
    },
}

impl From<Flow> for Fail {
    fn from(flow: Flow) -> Self {
        Self::Flow(flow)
    }
}

impl Fail {
    /// Makes an error in a text.
    pub(super) fn at(text: &[u8], message: &'static str, token: &[u8]) -> Self {
        Self::Text {
            text: excerpt(text),
            message,
            token: excerpt(token),
        }
    }

    /// Makes an error at an operator; the node is only compared, never followed.
    pub(super) fn in_tree(message: &'static str, node: &Expr) -> Self {
        Self::Tree {
            message,
            node: std::ptr::from_ref(node),
        }
    }

    /// Fills in the text of the expression that failed.
    pub(super) fn within(self, expr: &Expr, text: &[u8]) -> Self {
        match self {
            Self::Tree { message, node } => Self::Text {
                text: excerpt(text),
                message,
                token: excerpt(token(expr, node, text)),
            },
            other => other,
        }
    }
}

impl Shell<'_> {
    /// Prints why an expression has no value, and gives up the command line.
    pub(super) fn arith_failed(
        &mut self,
        fail: Fail,
        expr: &Expr,
        text: &[u8],
        prefix: &[u8],
    ) -> Result<i64, Flow> {
        match fail.within(expr, text) {
            Fail::Flow(flow) => Err(flow),
            Fail::Text {
                text,
                message,
                token,
            } => {
                let text = text.trim_ascii_start();
                let message = [
                    prefix,
                    text,
                    b": ",
                    message.as_bytes(),
                    b" (error token is \"",
                    &token,
                    b"\")",
                ];
                self.complain(&message.concat())?;
                Err(Flow::Abandon(1))
            }
            Fail::Expand | Fail::Tree { .. } => Err(Flow::Abandon(1)),
        }
    }
}

/// The longest text that an error repeats whole.
const LONGEST: usize = 64 << 10;

/// Copies a text for an error; of a longer one, the start and a mark.
fn excerpt(text: &[u8]) -> Vec<u8> {
    match text.get(..LONGEST) {
        Some(start) if start.len() < text.len() => [start, b"..."].concat(),
        _ => text.to_vec(),
    }
}

/// Returns what bash calls the error token of a division or power: the text from its right operand on.
fn token<'t>(expr: &Expr, node: *const Expr, text: &'t [u8]) -> &'t [u8] {
    let mut before = 0;
    let power = walk(expr, node, &mut before).unwrap_or(false);
    let mut seen = 0;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let width = match byte {
            b'/' | b'%' if !power => 1,
            b'*' if power && text.get(at + 1) == Some(&b'*') => 2,
            b'*' if text.get(at + 1) == Some(&b'*') => {
                at += 2;
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        at += width;
        if seen == before {
            let rest = text.get(at..).unwrap_or_default();
            let rest = rest.strip_prefix(b"=").unwrap_or(rest);
            return rest.trim_ascii_start();
        }
        seen += 1;
    }
    text
}

/// Counts operators of the failed kind that stand before the node; tells whether it is a power.
fn walk(expr: &Expr, node: *const Expr, before: &mut usize) -> Option<bool> {
    let here = std::ptr::eq(expr, node);
    match expr {
        Expr::Binary(op, left, right) => {
            if let Some(found) = walk(left, node, before) {
                return Some(found);
            }
            if here {
                return Some(*op == BinaryOp::Pow);
            }
            if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
                *before += 1;
            }
            walk(right, node, before)
        }
        Expr::Assign(_, op, value) => {
            if here {
                return Some(false);
            }
            if matches!(op, Some(BinaryOp::Div | BinaryOp::Rem)) {
                *before += 1;
            }
            walk(value, node, before)
        }
        Expr::Unary(_, operand) => walk(operand, node, before),
        Expr::And(left, right) | Expr::Or(left, right) | Expr::Comma(left, right) => {
            walk(left, node, before).or_else(|| walk(right, node, before))
        }
        Expr::Ternary(condition, yes, no) => walk(condition, node, before)
            .or_else(|| walk(yes, node, before))
            .or_else(|| walk(no, node, before)),
        Expr::Number(_) | Expr::Variable(_) | Expr::Expansion(_) | Expr::Step { .. } => None,
    }
}
