//! Comparing values: numbers with numbers, else texts.

use std::cmp::Ordering;

use super::super::op::Cmp;
use super::super::value::{Side, Value};
use super::Vm;

impl Vm<'_> {
    /// Compares the two values on top of the stack.
    #[inline]
    pub(super) fn compare_top(&mut self, cmp: Cmp) -> bool {
        let result = match self.stack.as_slice() {
            [.., Value::Num(left), Value::Num(right)] => holds_num(cmp, *left, *right),
            [.., left, right] => self.compare(cmp, left, right),
            _ => false,
        };
        self.stack.truncate(self.stack.len().saturating_sub(2));
        result
    }

    /// Compares two values.
    pub(super) fn compare(&self, cmp: Cmp, left: &Value, right: &Value) -> bool {
        match (left.side(), right.side()) {
            (Side::Num(a) | Side::StrNum(a), Side::Num(b) | Side::StrNum(b)) => {
                holds_num(cmp, a, b)
            }
            (Side::Num(a) | Side::StrNum(a), Side::Uninit) => holds_num(cmp, a, 0.0),
            (Side::Uninit, Side::Num(b) | Side::StrNum(b)) => holds_num(cmp, 0.0, b),
            (Side::Uninit, Side::Uninit) => holds_num(cmp, 0.0, 0.0),
            _ => {
                let order = self.order_text(&self.text(left), &self.text(right));
                holds(cmp, order)
            }
        }
    }

    /// Orders two texts, by bytes or ignoring case.
    pub(super) fn order_text(&self, left: &[u8], right: &[u8]) -> Ordering {
        if self.patterns.ignore_case() {
            return left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase());
        }
        left.cmp(right)
    }
}

#[inline]
pub(super) fn holds_num(cmp: Cmp, left: f64, right: f64) -> bool {
    match cmp {
        Cmp::Lt => left < right,
        Cmp::Le => left <= right,
        #[expect(clippy::float_cmp, reason = "awk compares exactly")]
        Cmp::Eq => left == right,
        #[expect(clippy::float_cmp, reason = "awk compares exactly")]
        Cmp::Ne => left != right,
        Cmp::Gt => left > right,
        Cmp::Ge => left >= right,
    }
}

fn holds(cmp: Cmp, order: Ordering) -> bool {
    match cmp {
        Cmp::Lt => order.is_lt(),
        Cmp::Le => order.is_le(),
        Cmp::Eq => order.is_eq(),
        Cmp::Ne => order.is_ne(),
        Cmp::Gt => order.is_gt(),
        Cmp::Ge => order.is_ge(),
    }
}
