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

/// `$x`, `${…}`.
#[derive(Debug, Clone)]
pub struct Param {
    /// Which parameter.
    pub target: ParamTarget,
    /// Which element of it.
    pub subscript: Option<Subscript>,
    /// `${!x}`: the value names the parameter.
    pub indirect: bool,
    /// What is made of its value.
    pub op: ParamOp,
    /// The inside of the braces as written, for "bad substitution" and printing; empty for `$x`.
    pub text: Text,
}

/// Which parameter is meant.
#[derive(Debug, Clone)]
pub enum ParamTarget {
    /// A variable.
    Name(Name),
    /// `$1`, `${10}`
    Position(u32),
    /// `@ * # ? - $ ! _`(`_` is a Name) and `0` is `Position(0)`.
    Special(u8),
}

/// What `${…}` makes of a value.
#[derive(Debug, Clone)]
pub enum ParamOp {
    /// Nothing.
    None,
    /// `${#x}`
    Length,
    /// `${!prefix*}` (`false`) and `${!prefix@}` (`true`); the prefix is the target's name.
    Prefix {
        /// It is `@`.
        at: bool,
    },
    /// `${!a[@]}`, `${!a[*]}`
    Keys,
    /// `:-` and `-`; `colon` also counts an empty value.
    Default {
        /// An empty value counts as unset.
        colon: bool,
        /// What stands in for it.
        word: Word,
    },
    /// `:=` and `=`
    AssignDefault {
        /// An empty value counts as unset.
        colon: bool,
        /// What is assigned.
        word: Word,
    },
    /// `:?` and `?`; `None` when nothing was written.
    Error {
        /// An empty value counts as unset.
        colon: bool,
        /// The message.
        word: Option<Word>,
    },
    /// `:+` and `+`
    Alternative {
        /// An empty value counts as unset.
        colon: bool,
        /// What is put in its place.
        word: Word,
    },
    /// `${x:offset:length}`
    Substring {
        /// Where it starts.
        offset: Arith,
        /// How long it is.
        length: Option<Arith>,
    },
    /// `#` `##`
    RemovePrefix {
        /// As much as matches is removed.
        longest: bool,
        /// What is removed.
        pattern: Word,
    },
    /// `%` `%%`
    RemoveSuffix {
        /// As much as matches is removed.
        longest: bool,
        /// What is removed.
        pattern: Word,
    },
    /// `/` `//` `/#` `/%`
    Replace {
        /// Which matches.
        how: Replace,
        /// What is replaced.
        pattern: Word,
        /// What is put there.
        with: Word,
    },
    /// `^` `^^` `,` `,,` `~` `~~`
    Case {
        /// Which case.
        how: CaseOp,
        /// All characters, and not only the first.
        all: bool,
        /// The characters that are changed; `None` means any.
        pattern: Option<Word>,
    },
    /// `@Q @E @P @A @a @K @k @U @u @L`
    Transform(u8),
    /// Not a valid expansion: an error when it runs ("bad substitution"), as in bash.
    Bad,
}

/// Which matches are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// `/`
    First,
    /// `//`
    All,
    /// `/#`
    Start,
    /// `/%`
    End,
}

/// How letters are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseOp {
    /// `^`
    Upper,
    /// `,`
    Lower,
    /// `~`
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
