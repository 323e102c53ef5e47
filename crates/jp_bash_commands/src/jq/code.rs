//! What the machine runs: flat code with jumps, made once from the tree.

use super::ast::Binary;
use super::text::Text;
use super::value::Value;

/// A place in a frame: how many frames out, and which slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) level: u32,
    pub(super) index: u32,
}

/// One instruction. "The input" is the top of the stack; most replace it by their result.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op {
    Const(u32),
    /// Puts a constant under the input.
    SubConst(u32),
    Dup,
    Pop,
    Load(Slot),
    /// Puts a variable under the input.
    SubLoad(Slot),
    /// Moves a variable out, so that what follows may change it in place.
    Take(Slot),
    Store(Slot),
    SetBool(Slot, bool),
    Field(u32),
    Index,
    /// As [`Op::Index`], but paths are not followed.
    Pick,
    Slice,
    Each,
    Fork(u32),
    Jump(u32),
    /// Takes the condition from under the input and jumps if it is false or null.
    JumpFalse(u32),
    /// Jumps if the input itself is false or null.
    JumpFalsy(u32),
    JumpIfVar(Slot, u32),
    Backtrack,
    TryBegin(u32),
    TryEnd,
    /// As [`Op::TryBegin`], without an error value for the handler.
    AltBegin(u32),
    SubBegin,
    SubEnd,
    PathBegin,
    PathEnd,
    GetPath,
    /// Which function, and how many arguments lie under the input.
    Native(u16, u8),
    /// Takes both operands from under the input.
    Binary(Binary),
    /// The input is the left operand; the right one lies under it.
    BinaryTop(Binary),
    Negate,
    Call(u32),
    Ret,
    /// Appends the input to an array in a variable, and backtracks.
    Append(Slot),
    /// Takes value, name and object from under the input and puts the object back.
    Insert,
    Label(Slot),
    Break(Slot),
    /// A fork that [`Op::Cut`] can find again.
    Mark(Slot, u32),
    /// Drops everything since the mark but the input.
    Cut(Slot),
    Range(Slot, Slot),
    /// Sets a path (second slot) in a value (first slot) to the input.
    SetPath(Slot, Slot),
    /// Appends one variable to an array in another.
    Push(Slot, Slot),
    /// Deletes the paths in a variable from the input.
    DeletePaths(Slot),
    /// Formats the input (`@json`); the constant is the name.
    Format(u32),
    /// Joins that many strings from under the input.
    Concat(u32),
    Error,
}

/// What a call runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// A function, whose outer frame is that many levels out.
    Function(u32, u32),
    /// A closure that was handed in.
    Param(Slot),
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) target: Target,
    pub(super) args: Vec<Target>,
    /// The caller's frame is no longer needed.
    pub(super) tail: bool,
}

/// A function of the program.
#[derive(Debug, Default)]
pub(super) struct Function {
    pub(super) entry: u32,
    pub(super) params: u32,
    pub(super) slots: u32,
}

/// A program that is ready to run.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) code: Vec<Op>,
    pub(super) consts: Vec<Value>,
    pub(super) calls: Vec<Call>,
    /// The first is the program itself.
    pub(super) functions: Vec<Function>,
}

/// A message about a name that means nothing.
#[derive(Debug)]
pub(super) struct CompileError {
    pub(super) message: String,
    pub(super) line: usize,
}

/// A name that the command line binds.
pub(super) type Global = (Text, Value);
