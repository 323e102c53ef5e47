//! Arithmetic and the conditions of `[[ ]]`.

use super::{Part, Subscript, Text, Word};
use crate::names::Name;

/// An arithmetic expression. Where its text has expansions (`$x`, `$(…)`) outside simple operands, bash expands
/// the whole text first; then `expr` is `None` and `text` is expanded, parsed and cached by its text when it runs.
#[derive(Debug, Clone)]
pub struct Arith {
    /// The parsed form: when the text has no `$` or backtick, or has them only as whole operands.
    pub expr: Option<Expr>,
    /// The text as a word, expanded as in double quotes when `expr` is `None`, or when the value of an
    /// [`Expr::Expansion`] is no plain number (`x=1+2; $(($x*2))` is 5). Empty if there are no expansions and
    /// `expr` is there.
    pub word: Word,
    /// As written, for messages.
    pub text: Text,
}

/// An arithmetic operation.
#[derive(Debug, Clone)]
pub enum Expr {
    /// A constant.
    Number(i64),
    /// The value of a variable.
    Variable(LValue),
    /// `$x`, `${…}`, `$(…)` as a whole operand: its value is evaluated as an expression, as a variable's is.
    Expansion(Box<Part>),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `&&`
    And(Box<Expr>, Box<Expr>),
    /// `||`
    Or(Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `=` (`None`), `+=` and so on.
    Assign(LValue, Option<BinaryOp>, Box<Expr>),
    /// `++x`, `--x`, `x++`, `x--`
    Step {
        /// The variable.
        target: LValue,
        /// 1 or -1.
        by: i64,
        /// The operator stands before the variable.
        prefix: bool,
    },
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
}

/// What can be assigned to.
#[derive(Debug, Clone)]
pub struct LValue {
    /// The variable.
    pub name: Name,
    /// The element of it.
    pub subscript: Option<Box<Subscript>>,
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `!`
    Not,
    /// `~`
    BitNot,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `**`
    Pow,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
}

/// An expression of `[[ ]]`.
#[derive(Debug)]
pub enum Test {
    /// A word alone: true if not empty.
    Word(Word),
    /// `-f word`; the letter after the dash.
    Unary(u8, Word),
    /// An operator between two words.
    Binary(TestOp, Word, Word),
    /// `!`
    Not(Box<Test>),
    /// `&&`
    And(Box<Test>, Box<Test>),
    /// `||`
    Or(Box<Test>, Box<Test>),
}

/// An operator of `[[ ]]` between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOp {
    /// `==`: the right side is a pattern, except its quoted parts.
    Match,
    /// `=`, which is the same but shown as it is written.
    Equals,
    /// `!=`
    NoMatch,
    /// `=~`: quoted parts of the right side stand for themselves.
    Regex,
    /// `<` by locale
    Before,
    /// `>` by locale
    After,
    /// `-eq`
    Eq,
    /// `-ne`
    Ne,
    /// `-lt`
    Lt,
    /// `-le`
    Le,
    /// `-gt`
    Gt,
    /// `-ge`
    Ge,
    /// `-nt`
    NewerThan,
    /// `-ot`
    OlderThan,
    /// `-ef`
    SameFile,
}

impl TestOp {
    /// Returns the operator as it is written.
    pub const fn text(self) -> &'static [u8] {
        match self {
            Self::Match => b"==",
            Self::Equals => b"=",
            Self::NoMatch => b"!=",
            Self::Regex => b"=~",
            Self::Before => b"<",
            Self::After => b">",
            Self::Eq => b"-eq",
            Self::Ne => b"-ne",
            Self::Lt => b"-lt",
            Self::Le => b"-le",
            Self::Gt => b"-gt",
            Self::Ge => b"-ge",
            Self::NewerThan => b"-nt",
            Self::OlderThan => b"-ot",
            Self::SameFile => b"-ef",
        }
    }
}
