//! The script as a tree. Built once by the parser, shared by reference, never changed.
//!
//! Words and arithmetic are parsed here too, so running a loop never looks at text again. The parser
//! bounds the depth of the tree, so that walking and dropping it is safe.

use std::sync::Arc;

use crate::error::SyntaxError;
use crate::names::Name;

/// Text of a script: any bytes.
pub type Text = Box<[u8]>;

/// Commands separated by `;`, `&` or newlines.
pub type List = Vec<Item>;

/// One and-or list with its end.
#[derive(Debug)]
pub struct Item {
    /// Shared, since a stage of it or a job may outlive the walk over the tree.
    pub first: Arc<Pipeline>,
    pub rest: Vec<(AndOr, Arc<Pipeline>)>,
    /// Ended by `&`.
    pub background: bool,
}

/// What stands between two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AndOr {
    And,
    Or,
}

/// Commands joined by `|`.
#[derive(Debug)]
pub struct Pipeline {
    /// An odd number of `!`.
    pub negated: bool,
    pub timed: Option<Timed>,
    /// May be empty: `!` and `time` alone are commands.
    pub commands: Vec<Command>,
}

/// How `time` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    Plain,
    Posix,
}

/// One command with its redirections, in the order they were written.
#[derive(Debug)]
pub struct Command {
    /// Line of its first word (`LINENO`).
    pub line: u32,
    pub kind: CommandKind,
    /// For `|&`, the parser adds `2>&1` as the last redirection.
    pub redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub enum CommandKind {
    Simple(Simple),
    Group(List),
    Subshell(Arc<List>),
    If(If),
    While {
        until: bool,
        condition: List,
        body: List,
    },
    /// `for name in words`; `None` is `"$@"`.
    For {
        name: Name,
        words: Option<Vec<Word>>,
        body: List,
    },
    /// `for ((a; b; c))`; a missing part is `None`.
    ForArith {
        init: Option<Box<Arith>>,
        test: Option<Box<Arith>>,
        step: Option<Box<Arith>>,
        body: List,
    },
    Case {
        subject: Word,
        arms: Vec<CaseArm>,
    },
    Select {
        name: Name,
        words: Option<Vec<Word>>,
        body: List,
    },
    /// `(( … ))`
    Arith(Box<Arith>),
    /// `[[ … ]]`
    Test(Box<Test>),
    Function(Arc<Function>),
    Coproc {
        name: Name,
        body: Arc<Command>,
    },
}

#[derive(Debug)]
pub struct Simple {
    /// Assignments before the first word.
    pub assigns: Vec<Assign>,
    /// Name and arguments.
    pub words: Vec<Arg>,
}

/// A word of a simple command.
#[derive(Debug)]
pub enum Arg {
    Word(Word),
    /// `a=(…)` or `a+=(…)` or `a=value` after a declaration builtin (`declare`, `local`, `export`, `readonly`,
    /// `typeset`, `alias`, `eval` is not one): expanded as an assignment: no splitting, no globbing, tilde after `:`.
    Assign(Assign),
}

/// `name=value`, `name[subscript]+=value`, `name=(…)`.
#[derive(Debug)]
pub struct Assign {
    pub name: Name,
    pub subscript: Option<Box<Subscript>>,
    /// `+=`
    pub append: bool,
    pub value: AssignValue,
}

#[derive(Debug)]
pub enum AssignValue {
    /// Tildes after `=` and `:` are already marked as such parts.
    Scalar(Word),
    Array(Vec<Element>),
}

/// One element of an array literal.
#[derive(Debug)]
pub struct Element {
    pub subscript: Option<Box<Subscript>>,
    pub append: bool,
    pub value: Word,
}

/// What stands between `[` and `]`. Which form counts is known when it runs: indexed arrays take `arith`,
/// associative ones `key`.
#[derive(Debug, Clone)]
pub struct Subscript {
    pub kind: SubscriptKind,
    /// As written, for messages and `declare -p`.
    pub text: Text,
}

#[derive(Debug, Clone)]
pub enum SubscriptKind {
    /// `[@]`
    At,
    /// `[*]`
    Star,
    /// Anything else, both ways.
    Index { arith: Arith, key: Word },
}

#[derive(Debug)]
pub struct If {
    /// `if` and each `elif`.
    pub arms: Vec<(List, List)>,
    pub otherwise: Option<List>,
}

#[derive(Debug)]
pub struct CaseArm {
    pub patterns: Vec<Word>,
    pub body: List,
    pub end: CaseEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseEnd {
    /// `;;`
    Break,
    /// `;&`
    FallThrough,
    /// `;;&`
    TestNext,
}

/// A function: `Arc`, since it outlives the script that defined it.
#[derive(Debug)]
pub struct Function {
    pub name: Text,
    /// The body with the definition's own redirections.
    pub body: Command,
    pub line: u32,
    /// Where it was read (`BASH_SOURCE`).
    pub source: Arc<[u8]>,
    /// Parts of the tree, for counting its memory.
    pub nodes: u32,
}

/// One redirection.
#[derive(Debug)]
pub struct Redirect {
    pub fd: RedirectFd,
    pub kind: RedirectKind,
}

/// Which descriptor a redirection is about.
#[derive(Debug)]
pub enum RedirectFd {
    /// Not written: 0 for input, 1 for output, both for `&>`.
    Default,
    Number(u32),
    /// `{name}>`
    Variable(Name),
    /// `{name[subscript]}>`
    Element(Text),
}

#[derive(Debug)]
pub enum RedirectKind {
    /// `<`
    Read(Word),
    /// `>`
    Write(Word),
    /// `>|`
    Clobber(Word),
    /// `>>`
    Append(Word),
    /// `<>`
    ReadWrite(Word),
    /// `&>` and `>&file`
    Both(Word),
    /// `&>>`
    BothAppend(Word),
    /// `<&word`: a number, `number-`, `-`.
    DupRead(Word),
    /// `>&word`; a word that is no number and `fd` not written means [`RedirectKind::Both`], known when it runs.
    DupWrite(Word),
    /// `<<` and `<<-`: tabs are already stripped; a quoted delimiter gives one `Quoted` part.
    HereDoc(HereDoc),
    /// `<<<`
    HereString(Word),
}

#[derive(Debug)]
pub struct HereDoc {
    pub body: Word,
    /// For printing it again (`declare -f`).
    pub delimiter: Text,
    pub quoted: bool,
    pub strip_tabs: bool,
}

/// A word: its parts stand side by side.
#[derive(Debug, Default, Clone)]
pub struct Word {
    pub parts: Vec<Part>,
    /// As written, for printing; `None` where the parts show it (plain text, `$x`, `"$x"`).
    pub raw: Option<Text>,
    /// Has a [`Part::Braces`] or [`Part::BraceRange`] at some level outside quotes, so it becomes several words.
    pub braces: bool,
}

#[derive(Debug, Clone)]
pub enum Part {
    /// Unquoted text: globbing applies (`* ? [`), never field splitting.
    Literal(Text),
    /// Quoted text (`'…'`, `$'…'`, `\x`, text within `"…"`), quotes removed: nothing applies. Empty if the quotes were.
    Quoted(Text),
    /// `"…"` that holds an expansion; `$"…"` too.
    Double(Vec<Part>),
    /// `~`, `~user`, `~+`, `~-` where a tilde counts; holds what follows `~`.
    Tilde(Text),
    Param(Arc<Param>),
    /// `$( … )` and backticks; the list is parsed. `$(<file)` is a list of one command without words.
    Command(Arc<CommandSub>),
    /// `$(( … ))` and `$[ … ]`
    Arith(Arc<Arith>),
    /// `<( … )`
    ProcessIn(Arc<List>),
    /// `>( … )`
    ProcessOut(Arc<List>),
    /// `{a,b}`: alternatives.
    Braces(Vec<Word>),
    /// `{1..9..2}`, `{a..z}`: also for letters.
    BraceRange(BraceRange),
    /// `?( *( +( @( !(`: an extended pattern with alternatives; only parsed where `extglob` is on, and in `[[ == ]]`.
    ExtGlob {
        kind: u8,
        alternatives: Vec<Word>,
    },
}

#[derive(Debug)]
pub struct CommandSub {
    pub list: List,
    /// Backticks and here-documents are parsed when they run: the error to report then, with an empty list.
    pub error: Option<Box<SyntaxError>>,
    /// The line it starts on. Bash counts its lines from that of the command it stands in.
    pub line: u32,
}

#[derive(Debug, Clone)]
pub struct BraceRange {
    pub from: i64,
    pub to: i64,
    /// Never 0; the sign is fitted to the direction when it runs.
    pub step: i64,
    /// Zero padding: the width of the wider end, or 0.
    pub width: u32,
    /// Both ends were single letters.
    pub letters: bool,
}

/// `$x`, `${…}`.
#[derive(Debug, Clone)]
pub struct Param {
    pub target: ParamTarget,
    pub subscript: Option<Subscript>,
    /// `${!x}`: the value names the parameter.
    pub indirect: bool,
    pub op: ParamOp,
    /// The inside of the braces as written, for "bad substitution" and printing; empty for `$x`.
    pub text: Text,
}

#[derive(Debug, Clone)]
pub enum ParamTarget {
    Name(Name),
    /// `$1`, `${10}`
    Position(u32),
    /// `@ * # ? - $ ! _`(`_` is a Name) and `0` is `Position(0)`.
    Special(u8),
}

#[derive(Debug, Clone)]
pub enum ParamOp {
    None,
    /// `${#x}`
    Length,
    /// `${!prefix*}` (`false`) and `${!prefix@}` (`true`); the prefix is the target's name.
    Prefix {
        at: bool,
    },
    /// `${!a[@]}`, `${!a[*]}`
    Keys,
    /// `:-` and `-`; `colon` also counts an empty value.
    Default {
        colon: bool,
        word: Word,
    },
    /// `:=` and `=`
    AssignDefault {
        colon: bool,
        word: Word,
    },
    /// `:?` and `?`; `None` when nothing was written.
    Error {
        colon: bool,
        word: Option<Word>,
    },
    /// `:+` and `+`
    Alternative {
        colon: bool,
        word: Word,
    },
    /// `${x:offset:length}`
    Substring {
        offset: Arith,
        length: Option<Arith>,
    },
    /// `#` `##`
    RemovePrefix {
        longest: bool,
        pattern: Word,
    },
    /// `%` `%%`
    RemoveSuffix {
        longest: bool,
        pattern: Word,
    },
    /// `/` `//` `/#` `/%`
    Replace {
        how: Replace,
        pattern: Word,
        with: Word,
    },
    /// `^` `^^` `,` `,,` `~` `~~`
    Case {
        how: CaseOp,
        all: bool,
        pattern: Option<Word>,
    },
    /// `@Q @E @P @A @a @K @k @U @u @L`
    Transform(u8),
    /// Not a valid expansion: an error when it runs ("bad substitution"), as in bash.
    Bad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    First,
    All,
    Start,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseOp {
    Upper,
    Lower,
    Toggle,
}

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
    Number(i64),
    Variable(LValue),
    /// `$x`, `${…}`, `$(…)` as a whole operand: its value is evaluated as an expression, as a variable's is.
    Expansion(Box<Part>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `=` (`None`), `+=` and so on.
    Assign(LValue, Option<BinaryOp>, Box<Expr>),
    /// `++x`, `--x`, `x++`, `x--`
    Step {
        target: LValue,
        by: i64,
        prefix: bool,
    },
    Comma(Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone)]
pub struct LValue {
    pub name: Name,
    pub subscript: Option<Box<Subscript>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
}

/// An expression of `[[ ]]`.
#[derive(Debug)]
pub enum Test {
    /// A word alone: true if not empty.
    Word(Word),
    /// `-f word`; the letter after the dash.
    Unary(u8, Word),
    Binary(TestOp, Word, Word),
    Not(Box<Test>),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
}

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
    /// `<` and `>` by locale
    Before,
    After,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    NewerThan,
    OlderThan,
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
