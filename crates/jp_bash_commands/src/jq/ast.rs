//! A program of jq as a tree. Chains are flat lists, so that the depth of the tree is the depth of brackets.

use std::sync::Arc;

use super::text::Text;
use super::value::Value;

/// An expression.
#[derive(Debug)]
pub(super) enum Ast {
    Identity,
    Recurse,
    Const(Value),
    Format(Text),
    /// A string with interpolations: texts and expressions by turns.
    Str(Option<Text>, Vec<Part>),
    /// A term and what follows it: `.a`, `[0]`, `[]`, `?`.
    Path(Box<Ast>, Vec<Suffix>),
    Try(Box<Ast>, Option<Box<Ast>>),
    Array(Option<Box<Ast>>),
    Object(Vec<(Ast, Ast)>),
    Negate(Box<Ast>),
    Pipe(Vec<Ast>),
    Comma(Vec<Ast>),
    /// Operators of one level, from left to right.
    Chain(Box<Ast>, Vec<(Binary, Ast)>),
    And(Vec<Ast>),
    Or(Vec<Ast>),
    Alternative(Box<Ast>, Box<Ast>),
    Assign(Assign, Box<Ast>, Box<Ast>),
    If(Vec<(Ast, Ast)>, Option<Box<Ast>>),
    Reduce(Box<Loop>),
    Foreach(Box<Loop>),
    Defs(Vec<Arc<Def>>, Box<Ast>),
    Bind(Box<Ast>, Vec<Pattern>, Box<Ast>),
    Label(Text, Box<Ast>),
    Break(Text),
    /// Name, arguments and line.
    Call(Text, Vec<Ast>, usize),
    Var(Text, usize),
    Location(usize),
}

#[derive(Debug)]
pub(super) enum Part {
    Text(Text),
    Ast(Ast),
}

#[derive(Debug)]
pub(super) enum Suffix {
    Field(Text),
    Index(Ast),
    Slice(Option<Ast>, Option<Ast>),
    Each,
    Try,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assign {
    Set,
    Update,
    Alternative,
    Arithmetic(Binary),
}

/// `reduce` and `foreach`.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) source: Ast,
    pub(super) patterns: Vec<Pattern>,
    pub(super) init: Ast,
    pub(super) update: Ast,
    pub(super) extract: Option<Ast>,
}

/// What `as` binds.
#[derive(Debug)]
pub(super) enum Pattern {
    Var(Text),
    Array(Vec<Pattern>),
    Object(Vec<Member>),
}

/// A member of an object pattern: `$a`, `a: p`, `$a: p`, `(e): p`.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: Ast,
    /// The variable that `$a` as a key binds.
    pub(super) var: Option<Text>,
    pub(super) pattern: Option<Pattern>,
}

/// A function.
#[derive(Debug)]
pub(super) struct Def {
    pub(super) name: Text,
    pub(super) params: Vec<Param>,
    pub(super) body: Ast,
}

#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: Text,
    /// `$name`: bound to each value, too.
    pub(super) value: bool,
}

/// `import` or `include`.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) path: Text,
    /// The prefix of its names; none for `include`.
    pub(super) alias: Option<Text>,
    /// `import "data" as $name`.
    pub(super) data: bool,
    pub(super) search: Option<Text>,
}

/// A whole program or module.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) imports: Vec<Import>,
    pub(super) defs: Vec<Arc<Def>>,
    pub(super) body: Option<Ast>,
}
