//! The script as a tree. Built once by the parser, shared by reference, never changed.
//!
//! Words and arithmetic are parsed here too, so running a loop never looks at text again. The parser
//! bounds the depth of the tree, so that walking and dropping it is safe.

mod expr;
mod param;

pub use expr::{Arith, BinaryOp, Expr, LValue, Test, TestOp, UnaryOp};
pub use param::{CaseOp, Param, ParamOp, ParamTarget, Replace};

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
    /// The pipelines that follow, each with what stands before it.
    pub rest: Vec<(AndOr, Arc<Pipeline>)>,
    /// Ended by `&`.
    pub background: bool,
}

/// What stands between two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AndOr {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Debug)]
pub struct Pipeline {
    /// An odd number of `!`.
    pub negated: bool,
    /// Stands behind `time`.
    pub timed: Option<Timed>,
    /// May be empty: `!` and `time` alone are commands.
    pub commands: Vec<Command>,
}

/// How `time` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// `time`
    Plain,
    /// `time -p`
    Posix,
}

/// One command with its redirections, in the order they were written.
#[derive(Debug)]
pub struct Command {
    /// Line of its first word (`LINENO`).
    pub line: u32,
    /// What it is.
    pub kind: CommandKind,
    /// For `|&`, the parser adds `2>&1` as the last redirection.
    pub redirects: Vec<Redirect>,
}

/// What a command is.
#[derive(Debug)]
pub enum CommandKind {
    /// Assignments and words.
    Simple(Simple),
    /// `{ … }`
    Group(List),
    /// `( … )`
    Subshell(Arc<List>),
    /// `if … fi`
    If(If),
    /// `while` or `until`
    While {
        /// It is `until`.
        until: bool,
        /// What decides about one more turn.
        condition: List,
        /// What a turn runs.
        body: List,
    },
    /// `for name in words`; `None` is `"$@"`.
    For {
        /// The variable.
        name: Name,
        /// Its values.
        words: Option<Vec<Word>>,
        /// What a turn runs.
        body: List,
    },
    /// `for ((a; b; c))`; a missing part is `None`.
    ForArith {
        /// Evaluated once, before the first turn.
        init: Option<Box<Arith>>,
        /// Decides about one more turn.
        test: Option<Box<Arith>>,
        /// Evaluated after each turn.
        step: Option<Box<Arith>>,
        /// What a turn runs.
        body: List,
    },
    /// `case … esac`
    Case {
        /// The word that is compared.
        subject: Word,
        /// The arms in order.
        arms: Vec<CaseArm>,
    },
    /// `select name in words`; `None` is `"$@"`.
    Select {
        /// The variable.
        name: Name,
        /// The choices.
        words: Option<Vec<Word>>,
        /// What a turn runs.
        body: List,
    },
    /// `(( … ))`
    Arith(Box<Arith>),
    /// `[[ … ]]`
    Test(Box<Test>),
    /// A definition.
    Function(Arc<Function>),
    /// `coproc name …`
    Coproc {
        /// The array that holds its descriptors.
        name: Name,
        /// What it runs.
        body: Arc<Command>,
    },
}

/// A simple command.
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
    /// A word.
    Word(Word),
    /// `a=(…)` or `a+=(…)` or `a=value` after a declaration builtin (`declare`, `local`, `export`, `readonly`,
    /// `typeset`, `alias`, `eval` is not one): expanded as an assignment: no splitting, no globbing, tilde after `:`.
    Assign(Assign),
}

/// `name=value`, `name[subscript]+=value`, `name=(…)`.
#[derive(Debug)]
pub struct Assign {
    /// The variable.
    pub name: Name,
    /// The element of it.
    pub subscript: Option<Box<Subscript>>,
    /// `+=`
    pub append: bool,
    /// What is assigned.
    pub value: AssignValue,
}

/// What an assignment assigns.
#[derive(Debug)]
pub enum AssignValue {
    /// Tildes after `=` and `:` are already marked as such parts.
    Scalar(Word),
    /// `(…)`
    Array(Vec<Element>),
}

/// One element of an array literal.
#[derive(Debug)]
pub struct Element {
    /// The element it sets, if that is written.
    pub subscript: Option<Box<Subscript>>,
    /// `+=`
    pub append: bool,
    /// What is assigned.
    pub value: Word,
}

/// What stands between `[` and `]`. Which form counts is known when it runs: indexed arrays take `arith`,
/// associative ones `key`.
#[derive(Debug, Clone)]
pub struct Subscript {
    /// What it means.
    pub kind: SubscriptKind,
    /// As written, for messages and `declare -p`.
    pub text: Text,
}

/// What a subscript means.
#[derive(Debug, Clone)]
pub enum SubscriptKind {
    /// `[@]`
    At,
    /// `[*]`
    Star,
    /// Anything else, both ways.
    Index {
        /// As an indexed array takes it.
        arith: Arith,
        /// As an associative one takes it.
        key: Word,
    },
}

/// `if … elif … else … fi`
#[derive(Debug)]
pub struct If {
    /// `if` and each `elif`.
    pub arms: Vec<(List, List)>,
    /// `else`
    pub otherwise: Option<List>,
}

/// One arm of `case`.
#[derive(Debug)]
pub struct CaseArm {
    /// It is taken where one of these matches.
    pub patterns: Vec<Word>,
    /// What it runs.
    pub body: List,
    /// How it ends.
    pub end: CaseEnd,
}

/// How an arm of `case` ends.
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
    /// Its name.
    pub name: Text,
    /// The body with the definition's own redirections.
    pub body: Command,
    /// The line of the definition.
    pub line: u32,
    /// Where it was read (`BASH_SOURCE`).
    pub source: Arc<[u8]>,
    /// Parts of the tree, for counting its memory.
    pub nodes: u32,
}

/// One redirection.
#[derive(Debug)]
pub struct Redirect {
    /// The descriptor it changes.
    pub fd: RedirectFd,
    /// What becomes of it.
    pub kind: RedirectKind,
}

/// Which descriptor a redirection is about.
#[derive(Debug)]
pub enum RedirectFd {
    /// Not written: 0 for input, 1 for output, both for `&>`.
    Default,
    /// The one of this number.
    Number(u32),
    /// `{name}>`
    Variable(Name),
    /// `{name[subscript]}>`
    Element(Text),
}

/// What a redirection does.
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

/// A here-document.
#[derive(Debug)]
pub struct HereDoc {
    /// What it holds.
    pub body: Word,
    /// For printing it again (`declare -f`).
    pub delimiter: Text,
    /// The delimiter was quoted: nothing is expanded.
    pub quoted: bool,
    /// `<<-`
    pub strip_tabs: bool,
}

/// A word: its parts stand side by side.
#[derive(Debug, Default, Clone)]
pub struct Word {
    /// The parts in order.
    pub parts: Vec<Part>,
    /// As written, for printing; `None` where the parts show it (plain text, `$x`, `"$x"`).
    pub raw: Option<Text>,
    /// Has a [`Part::Braces`] or [`Part::BraceRange`] at some level outside quotes, so it becomes several words.
    pub braces: bool,
}

/// A part of a word.
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
    /// `$x`, `${…}`
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
        /// The character before the parenthesis.
        kind: u8,
        /// The patterns between `|`.
        alternatives: Vec<Word>,
    },
}

/// A command substitution.
#[derive(Debug)]
pub struct CommandSub {
    /// What it runs.
    pub list: List,
    /// Backticks and here-documents are parsed when they run: the error to report then, with an empty list.
    pub error: Option<Box<SyntaxError>>,
    /// The line it starts on. Bash counts its lines from that of the command it stands in.
    pub line: u32,
}

/// The numbers or letters between two ends.
#[derive(Debug, Clone)]
pub struct BraceRange {
    /// The first.
    pub from: i64,
    /// The last that may come.
    pub to: i64,
    /// Never 0; the sign is fitted to the direction when it runs.
    pub step: i64,
    /// Zero padding: the width of the wider end, or 0.
    pub width: u32,
    /// Both ends were single letters.
    pub letters: bool,
}
