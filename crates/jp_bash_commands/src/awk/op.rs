//! What a program is compiled to: a list of small steps on a stack of values, with all names resolved.
//!
//! Jumps are relative, so that the parser can move the parts of a loop behind its body.

use super::lex::Func;
use super::value::Value;

/// Where an array lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Global(u32),
    Local(u32),
}

/// A variable with a meaning of its own. The order is that of their slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    Nf,
    Nr,
    Fnr,
    Fs,
    Ofs,
    Ors,
    Rs,
    Rt,
    Subsep,
    Rstart,
    Rlength,
    Convfmt,
    Ofmt,
    Filename,
    Ignorecase,
    Fpat,
    Fieldwidths,
    Argind,
    Errno,
    Binmode,
    Lint,
    Textdomain,
}

/// Special variables by name.
pub(super) const SPECIALS: &[(&str, Special)] = &[
    ("NF", Special::Nf),
    ("NR", Special::Nr),
    ("FNR", Special::Fnr),
    ("FS", Special::Fs),
    ("OFS", Special::Ofs),
    ("ORS", Special::Ors),
    ("RS", Special::Rs),
    ("RT", Special::Rt),
    ("SUBSEP", Special::Subsep),
    ("RSTART", Special::Rstart),
    ("RLENGTH", Special::Rlength),
    ("CONVFMT", Special::Convfmt),
    ("OFMT", Special::Ofmt),
    ("FILENAME", Special::Filename),
    ("IGNORECASE", Special::Ignorecase),
    ("FPAT", Special::Fpat),
    ("FIELDWIDTHS", Special::Fieldwidths),
    ("ARGIND", Special::Argind),
    ("ERRNO", Special::Errno),
    ("BINMODE", Special::Binmode),
    ("LINT", Special::Lint),
    ("TEXTDOMAIN", Special::Textdomain),
];

/// Arrays that exist from the start, in the order of their slots.
pub(super) const ARRAYS: &[&str] = &["ARGV", "ENVIRON", "PROCINFO"];

/// Slot of `ARGC`, the one ordinary variable that the reader of operands looks at.
pub(super) const ARGC: u32 = 3;
/// Slot of `ARGV`.
pub(super) const ARGV: u32 = 0;
/// Slot of `ENVIRON`.
pub(super) const ENVIRON: u32 = 1;
/// Slot of `PROCINFO`.
pub(super) const PROCINFO: u32 = 2;

/// Where a value can be stored. `Field` and `Elem` take their index from the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Global(u32),
    Local(u32),
    Special(Special),
    Field,
    Elem(Place),
}

/// Binary arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
}

/// Comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cmp {
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
}

/// What `++` and `--` leave on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    Nothing,
    Old,
    New,
}

/// Where `print` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dest {
    Stdout,
    /// `> name`, the name on the stack.
    File,
    /// `>> name`
    Append,
    /// `| command`
    Pipe,
}

/// What `getline` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Main,
    /// `< name`, the name on top of the stack.
    File,
    /// `command |`, the command below the target's index.
    Command,
}

/// One step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op {
    Const(u32),
    Regex(u32),
    Global(u32),
    Local(u32),
    Special(Special),
    Field,
    FieldConst(u32),
    Elem(Place),
    /// Passes a bare name to a function: a value or an array, whatever it is.
    Arg(Place),
    /// Passes a name to a parameter that is used as an array.
    ArrayArg(Place),

    SetGlobal(u32, bool),
    SetLocal(u32, bool),
    /// Stores into any target; the flag says whether the value stays on the stack.
    Set(Target, bool),
    /// `target op= value`
    AugGlobal(u32, Arith, bool),
    AugLocal(u32, Arith, bool),
    /// `a += b` for its effect alone.
    AugGlobalGlobal(u32, u32, Arith),
    Aug(Target, Arith, bool),
    /// `++`, `--`
    StepGlobal(u32, i8, Leave),
    StepLocal(u32, i8, Leave),
    Step(Target, i8, Leave),
    /// `x = x value`, in place.
    Append(Place, bool),
    Pop,

    Arith(Arith),
    Neg,
    Plus,
    Not,
    Truth,
    Concat(u32),
    Cmp(Cmp),
    /// `value ~ /constant/`; the flag is true for `!~`.
    MatchConst(u32, bool),
    /// `value ~ value`
    Match(bool),
    /// `/constant/` alone.
    MatchRecord(u32),

    Jump(i32),
    JumpIf(i32),
    JumpUnless(i32),
    /// Compares and jumps if the result is the flag.
    JumpCmp(Cmp, bool, i32),
    /// Compares a global with a constant and jumps if the result is the flag: the head of most loops.
    JumpGlobalConst {
        cmp: Cmp,
        when: bool,
        global: u32,
        constant: u32,
        by: i32,
    },
    /// Counts one turn of a loop.
    Turn,

    /// Joins that many values to one key.
    Key(u32),
    In(Place),
    Delete(Place),
    DeleteAll(Place),
    /// Starts a loop over the keys of an array.
    Iter(Place),
    /// Pushes the next key, or ends the loop and jumps.
    IterNext(i32),
    IterEnd,

    Call(u32, u32),
    /// Leaves a function; the value is on the stack.
    Return,
    Builtin(Func, u32),
    /// `substr` of a field; the flag says whether there is a length.
    SubstrField(u32, bool),
    /// `split`, `patsplit`: that many of string, separators' array, regex are on the stack.
    Split {
        pattern: bool,
        array: Place,
        seps: Option<Place>,
        regex: bool,
    },
    /// `match(s, re, array)`
    MatchArray(Place),
    /// `asort`, `asorti`: the comparison, if any, is on the stack.
    Sort {
        indices: bool,
        from: Place,
        to: Option<Place>,
        by: bool,
    },
    /// `length(name)`, `isarray(name)`, `typeof(name)`: the name may be an array.
    About(Func, Place),
    /// `typeof(a[i])`: does not make the element.
    TypeofElem(Place),
    Substitute(Target, bool),
    Getline(Source, Option<Target>),

    Print(u32, Dest),
    Printf(u32, Dest),
    /// The pieces of a `print` whose arguments have no effects, written without building values.
    OutConst(u32),
    OutGlobal(u32),
    OutField(u32),
    OutSpecial(Special),
    OutOfs,
    OutOrs,

    /// Jumps if the range is open.
    RangeOpen(u32, i32),
    RangeSet(u32, bool),
    Next,
    NextFile,
    /// `exit`; the flag says whether a status is on the stack.
    Exit(bool),
    End,
}

/// A user's function.
#[derive(Debug, Clone, Default)]
pub(super) struct Function {
    pub(super) name: Vec<u8>,
    pub(super) params: u32,
    /// Parameters and hidden locals.
    pub(super) locals: u32,
    pub(super) entry: usize,
    pub(super) defined: bool,
}

/// A compiled program.
#[derive(Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// The line of each step.
    pub(super) lines: Vec<u32>,
    pub(super) consts: Vec<Value>,
    pub(super) regexes: Vec<Vec<u8>>,
    pub(super) functions: Vec<Function>,
    /// Names of the globals, by slot.
    pub(super) globals: Vec<Vec<u8>>,
    pub(super) ranges: usize,
    pub(super) begin: Option<usize>,
    pub(super) main: Option<usize>,
    pub(super) end: Option<usize>,
    pub(super) begin_file: Option<usize>,
    pub(super) end_file: Option<usize>,
    /// Where each source text begins, in lines, and its name in messages.
    pub(super) sources: Vec<(u32, Vec<u8>)>,
}
