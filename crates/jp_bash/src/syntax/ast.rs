//! The script as a tree. Built once by the parser, shared by reference, never changed.
//!
//! Words and arithmetic are parsed here too, so running a loop never looks at text again. The parser
//! bounds the depth of the tree, so that walking and dropping it is safe.

use std::sync::Arc;

use crate::syntax::error::SyntaxError;
use crate::syntax::names::Name;

/// Text of a script: any bytes.
pub(crate) type Text = Box<[u8]>;

/// Commands separated by `;`, `&` or newlines.
pub(crate) type List = Vec<Item>;

/// One and-or list with its end.
#[derive(Debug)]
pub(crate) struct Item {
    /// Shared, since a stage of it or a job may outlive the walk over the tree.
    pub(crate) first: Arc<Pipeline>,
    pub(crate) rest: Vec<(AndOr, Arc<Pipeline>)>,
    /// Ended by `&`.
    pub(crate) background: bool,
}

/// What stands between two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AndOr {
    And,
    Or,
}

/// Commands joined by `|`.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// An odd number of `!`.
    pub(crate) negated: bool,
    pub(crate) timed: Option<Timed>,
    /// May be empty: `!` and `time` alone are commands.
    pub(crate) commands: Vec<Command>,
}

/// How `time` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timed {
    Plain,
    Posix,
}

/// One command with its redirections, in the order they were written.
#[derive(Debug)]
pub(crate) struct Command {
    /// Line of its first word (`LINENO`).
    pub(crate) line: u32,
    pub(crate) kind: CommandKind,
    /// For `|&`, the parser adds `2>&1` as the last redirection.
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum CommandKind {
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
pub(crate) struct Simple {
    /// Assignments before the first word.
    pub(crate) assigns: Vec<Assign>,
    /// Name and arguments.
    pub(crate) words: Vec<Arg>,
}

/// A word of a simple command.
#[derive(Debug)]
pub(crate) enum Arg {
    Word(Word),
    /// `a=(…)` or `a+=(…)` or `a=value` after a declaration builtin (`declare`, `local`, `export`, `readonly`,
    /// `typeset`, `alias`, `eval` is not one): expanded as an assignment: no splitting, no globbing, tilde after `:`.
    Assign(Assign),
}

/// `name=value`, `name[subscript]+=value`, `name=(…)`.
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: Name,
    pub(crate) subscript: Option<Box<Subscript>>,
    /// `+=`
    pub(crate) append: bool,
    pub(crate) value: AssignValue,
}

#[derive(Debug)]
pub(crate) enum AssignValue {
    /// Tildes after `=` and `:` are already marked as such parts.
    Scalar(Word),
    Array(Vec<Element>),
}

/// One element of an array literal.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) subscript: Option<Box<Subscript>>,
    pub(crate) append: bool,
    pub(crate) value: Word,
}

/// What stands between `[` and `]`. Which form counts is known when it runs: indexed arrays take `arith`,
/// associative ones `key`.
#[derive(Debug, Clone)]
pub(crate) struct Subscript {
    pub(crate) kind: SubscriptKind,
    /// As written, for messages and `declare -p`.
    pub(crate) text: Text,
}

#[derive(Debug, Clone)]
pub(crate) enum SubscriptKind {
    /// `[@]`
    At,
    /// `[*]`
    Star,
    /// Anything else, both ways.
    Index { arith: Arith, key: Word },
}

#[derive(Debug)]
pub(crate) struct If {
    /// `if` and each `elif`.
    pub(crate) arms: Vec<(List, List)>,
    pub(crate) otherwise: Option<List>,
}

#[derive(Debug)]
pub(crate) struct CaseArm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: List,
    pub(crate) end: CaseEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseEnd {
    /// `;;`
    Break,
    /// `;&`
    FallThrough,
    /// `;;&`
    TestNext,
}

/// A function: `Arc`, since it outlives the script that defined it.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Text,
    /// The body with the definition's own redirections.
    pub(crate) body: Command,
    pub(crate) line: u32,
    /// Where it was read (`BASH_SOURCE`).
    pub(crate) source: Arc<[u8]>,
    /// Parts of the tree, for counting its memory.
    pub(crate) nodes: u32,
}

/// One redirection.
#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) fd: RedirectFd,
    pub(crate) kind: RedirectKind,
}

/// Which descriptor a redirection is about.
#[derive(Debug)]
pub(crate) enum RedirectFd {
    /// Not written: 0 for input, 1 for output, both for `&>`.
    Default,
    Number(u32),
    /// `{name}>`
    Variable(Name),
    /// `{name[subscript]}>`
    Element(Text),
}

#[derive(Debug)]
pub(crate) enum RedirectKind {
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
pub(crate) struct HereDoc {
    pub(crate) body: Word,
    /// For printing it again (`declare -f`).
    pub(crate) delimiter: Text,
    pub(crate) quoted: bool,
    pub(crate) strip_tabs: bool,
}

/// A word: its parts stand side by side.
#[derive(Debug, Default, Clone)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    /// As written, for printing; `None` where the parts show it (plain text, `$x`, `"$x"`).
    pub(crate) raw: Option<Text>,
    /// Has a [`Part::Braces`] or [`Part::BraceRange`] at some level outside quotes, so it becomes several words.
    pub(crate) braces: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
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
pub(crate) struct CommandSub {
    pub(crate) list: List,
    /// Backticks and here-documents are parsed when they run: the error to report then, with an empty list.
    pub(crate) error: Option<Box<SyntaxError>>,
    /// The line it starts on. Bash counts its lines from that of the command it stands in.
    pub(crate) line: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct BraceRange {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Never 0; the sign is fitted to the direction when it runs.
    pub(crate) step: i64,
    /// Zero padding: the width of the wider end, or 0.
    pub(crate) width: u32,
    /// Both ends were single letters.
    pub(crate) letters: bool,
}

/// `$x`, `${…}`.
#[derive(Debug, Clone)]
pub(crate) struct Param {
    pub(crate) target: ParamTarget,
    pub(crate) subscript: Option<Subscript>,
    /// `${!x}`: the value names the parameter.
    pub(crate) indirect: bool,
    pub(crate) op: ParamOp,
    /// The inside of the braces as written, for "bad substitution" and printing; empty for `$x`.
    pub(crate) text: Text,
}

#[derive(Debug, Clone)]
pub(crate) enum ParamTarget {
    Name(Name),
    /// `$1`, `${10}`
    Position(u32),
    /// `@ * # ? - $ ! _`(`_` is a Name) and `0` is `Position(0)`.
    Special(u8),
}

#[derive(Debug, Clone)]
pub(crate) enum ParamOp {
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
pub(crate) enum Replace {
    First,
    All,
    Start,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseOp {
    Upper,
    Lower,
    Toggle,
}

/// An arithmetic expression. Where its text has expansions (`$x`, `$(…)`) outside simple operands, bash expands
/// the whole text first; then `expr` is `None` and `text` is expanded, parsed and cached by its text when it runs.
#[derive(Debug, Clone)]
pub(crate) struct Arith {
    /// The parsed form: when the text has no `$` or backtick, or has them only as whole operands.
    pub(crate) expr: Option<Expr>,
    /// The text as a word, expanded as in double quotes when `expr` is `None`, or when the value of an
    /// [`Expr::Expansion`] is no plain number (`x=1+2; $(($x*2))` is 5). Empty if there are no expansions and
    /// `expr` is there.
    pub(crate) word: Word,
    /// As written, for messages.
    pub(crate) text: Text,
}

/// An arithmetic operation.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
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
pub(crate) struct LValue {
    pub(crate) name: Name,
    pub(crate) subscript: Option<Box<Subscript>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryOp {
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
pub(crate) enum Test {
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
pub(crate) enum TestOp {
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
    pub(crate) const fn text(self) -> &'static [u8] {
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
