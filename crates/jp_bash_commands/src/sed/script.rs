//! A sed script after reading: commands in a row, blocks and branches as indexes.

use jp_bash_regex::Regex;

/// A regular expression of the script, or the one used last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    Last,
    Is(usize),
}

/// What selects a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// `0`, only before a regular expression.
    Zero,
    Line(u64),
    /// `first~step`.
    Step(u64, u64),
    Last,
    Match(Pattern),
    /// `addr,+N`.
    Plus(u64),
    /// `addr,~N`.
    Multiple(u64),
}

/// A part of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(Vec<u8>),
    /// `&` is group 0.
    Group(usize),
    Case(Case),
}

/// `\U \L \E \u \l`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Upper,
    Lower,
    End,
    UpperOne,
    LowerOne,
}

/// The command `s`.
#[derive(Debug)]
pub(super) struct Subst {
    pub(super) pattern: Pattern,
    pub(super) parts: Vec<Part>,
    /// The replacement when it is just text, the common case.
    pub(super) plain: Option<Vec<u8>>,
    /// Groups are needed, not just the whole match.
    pub(super) groups: bool,
    pub(super) global: bool,
    pub(super) number: u64,
    pub(super) print: u32,
    pub(super) eval: bool,
    pub(super) write: Option<usize>,
}

/// What a command does.
#[derive(Debug)]
pub(super) enum Action {
    /// `{`: where to go on when the lines are not for the block.
    Block(usize),
    BlockEnd,
    LineNumber,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// `b`, with where to; the end of the script by default.
    Branch(usize),
    BranchIf(usize),
    BranchUnless(usize),
    Delete,
    DeleteFirst,
    Execute(Vec<u8>),
    FileName,
    Get,
    GetAppend,
    Hold,
    HoldAppend,
    Exchange,
    List(Option<u64>),
    Next,
    NextAppend,
    Print,
    PrintFirst,
    Quit(i32),
    QuitSilently(i32),
    Read(Vec<u8>),
    ReadLine(usize),
    Subst(Box<Subst>),
    Write(usize),
    WriteFirst(usize),
    Translate(Box<Translate>),
    Zap,
}

/// The table of `y`.
#[derive(Debug)]
pub(super) enum Translate {
    Bytes(Box<[u8; 256]>),
    Chars(rustc_hash::FxHashMap<char, char>),
}

/// One command.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) first: Option<Address>,
    pub(super) second: Option<Address>,
    pub(super) negated: bool,
    pub(super) action: Action,
}

/// The whole script.
#[derive(Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    pub(super) regexes: Vec<Regex>,
    /// Files of `w`, `W` and `s///w`.
    pub(super) outputs: Vec<Vec<u8>>,
    /// Files of `R`.
    pub(super) inputs: Vec<Vec<u8>>,
    /// The first line is `#n`.
    pub(super) quiet: bool,
}
