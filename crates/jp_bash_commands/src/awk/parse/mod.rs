//! Tokens to steps, in one pass and without a tree: chains of operators need no nesting, and what nests is counted.

mod call;
mod emit;
mod expr;
mod link;
mod print;
mod stmt;

use jp_bash_system::{PIECE, Stop, System};
use rustc_hash::FxHashMap;

use super::lex::{self, Dialect, Tok, Token, Word};
use super::op::{ARRAYS, Op, Place, Program, SPECIALS, Special};
use super::value::Meter;

/// How deep expressions and statements may nest.
const MAX_NESTING: u32 = 100;

/// Why a program was refused.
#[derive(Debug)]
pub(super) struct ParseError {
    /// The line within all sources together, from 1.
    pub(super) line: u32,
    /// Where in the text, for the caret that gawk prints; `None` prints `error: ` and the message alone.
    pub(super) at: Option<usize>,
    pub(super) message: Vec<u8>,
    /// gawk calls it fatal: the status is 2.
    pub(super) fatal: bool,
    /// The run ends; nothing is wrong with the program.
    pub(super) stop: Option<Stop>,
}

impl From<Stop> for Box<ParseError> {
    fn from(stop: Stop) -> Self {
        Self::new(ParseError {
            line: 0,
            at: None,
            message: Vec::new(),
            fatal: true,
            stop: Some(stop),
        })
    }
}

/// How many tokens are compiled between two asks.
const TOKENS: usize = 1024;

/// Boxed, because every level of nesting holds a few of these on its stack.
type Parsed<T> = Result<T, Box<ParseError>>;

/// What a name means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Var(Place),
    Special(Special),
}

/// A loop or `switch` that `break` and `continue` can leave.
struct Breakable {
    /// Steps to patch to the end.
    breaks: Vec<usize>,
    /// Steps to patch to the next turn; `None` in a `switch`.
    continues: Option<Vec<usize>>,
}

/// A bare name passed to a function, to be settled when all functions are known.
struct BareArg {
    at: usize,
    caller: Option<u32>,
    place: Place,
    callee: u32,
    param: u32,
}

/// Which kind of code is being compiled, for what may stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Begin,
    End,
    BeginFile,
    EndFile,
    Main,
    Function,
}

/// Chains of code that run one after the other: the last one's end is patched to the next one's start.
#[derive(Default)]
struct Chain {
    start: Option<usize>,
    open: Option<usize>,
}

pub(super) struct Parser<'m> {
    sys: &'m mut dyn System,
    /// The token at which the budget is asked next.
    ask_at: usize,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    program: Program,
    meter: &'m Meter,
    globals: FxHashMap<Vec<u8>, u32>,
    functions: FxHashMap<Vec<u8>, u32>,
    /// The function being compiled, and its parameters.
    function: Option<u32>,
    params: FxHashMap<Vec<u8>, u32>,
    /// Parameters used as arrays: `(function, parameter)`.
    array_params: Vec<Vec<bool>>,
    /// Calls: function, arguments, line.
    calls: Vec<(u32, u32, u32)>,
    bare: Vec<BareArg>,
    loops: Vec<Breakable>,
    section: Section,
    /// No step before this one may be fused with the next: something jumps here.
    barrier: usize,
    /// `>` is a redirection here, not a comparison.
    no_gt: bool,
    /// The last concatenation: its step, and the steps of its first operand.
    concat: Option<(usize, std::ops::Range<usize>)>,
    numbers: FxHashMap<u64, u32>,
}

/// Compiles a program.
pub(super) fn compile(
    sys: &mut dyn System,
    text: &[u8],
    dialect: Dialect,
    meter: &Meter,
) -> Parsed<Program> {
    let tokens = lex::tokens(sys, text, dialect)?.map_err(|error| {
        Box::new(ParseError {
            line: error.line,
            at: Some(error.at),
            message: error.message.as_bytes().to_vec(),
            fatal: false,
            stop: None,
        })
    })?;
    let mut parser = Parser::new(sys, tokens, meter);
    parser.program()?;
    parser.link()
}

impl<'m> Parser<'m> {
    fn new(sys: &'m mut dyn System, tokens: Vec<Token>, meter: &'m Meter) -> Self {
        let mut parser = Self {
            sys,
            ask_at: TOKENS,
            tokens,
            at: 0,
            depth: 0,
            program: Program::default(),
            meter,
            globals: FxHashMap::default(),
            functions: FxHashMap::default(),
            function: None,
            params: FxHashMap::default(),
            array_params: Vec::new(),
            calls: Vec::new(),
            bare: Vec::new(),
            loops: Vec::new(),
            section: Section::Main,
            barrier: 0,
            no_gt: false,
            concat: None,
            numbers: FxHashMap::default(),
        };
        for name in ARRAYS.iter().chain(&["ARGC"]) {
            parser.global(name.as_bytes());
        }
        parser
    }

    fn peek(&self) -> &Tok {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Tok {
        self.tokens
            .get(self.at + ahead)
            .map_or(&Tok::Eof, |token| &token.tok)
    }

    fn line(&self) -> u32 {
        let last = self.tokens.last().map_or(1, |token| token.line);
        self.tokens.get(self.at).map_or(last, |token| token.line)
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    fn is(&self, op: &str) -> bool {
        matches!(self.peek(), Tok::Op(found) if *found == op)
    }

    fn eat(&mut self, op: &str) -> bool {
        let found = self.is(op);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: Word) -> bool {
        let found = *self.peek() == Tok::Word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, op: &str) -> Parsed<()> {
        if self.eat(op) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn newlines(&mut self) {
        while *self.peek() == Tok::Newline {
            self.advance();
        }
    }

    /// Skips newlines and semicolons between items.
    fn terminators(&mut self) {
        while *self.peek() == Tok::Newline || self.is(";") {
            self.advance();
        }
    }

    #[cold]
    fn error(&self, message: &[u8]) -> Box<ParseError> {
        Box::new(ParseError {
            line: self.line(),
            at: None,
            message: message.to_vec(),
            fatal: false,
            stop: None,
        })
    }

    #[cold]
    fn unexpected(&self) -> Box<ParseError> {
        let message: &[u8] = match self.peek() {
            Tok::Newline | Tok::Eof => b"unexpected newline or end of string",
            _ => b"syntax error",
        };
        Box::new(ParseError {
            line: self.line(),
            at: self
                .tokens
                .get(self.at)
                .or(self.tokens.last())
                .map(|token| token.at),
            message: message.to_vec(),
            fatal: false,
            stop: None,
        })
    }

    /// Runs a part that may contain itself, counting how deep.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.at >= self.ask_at {
            self.ask_at = self.at + TOKENS;
            self.sys.work_bytes(PIECE)?;
        }
        if self.depth >= MAX_NESTING {
            return Err(self.error(b"program is nested too deeply"));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Returns the slot of a global, made if it is new.
    fn global(&mut self, name: &[u8]) -> u32 {
        if let Some(slot) = self.globals.get(name) {
            return *slot;
        }
        let slot = u32::try_from(self.program.globals.len()).unwrap_or(u32::MAX);
        self.program.globals.push(name.to_vec());
        self.globals.insert(name.to_vec(), slot);
        slot
    }

    fn named(&mut self, name: &[u8]) -> Named {
        if let Some(slot) = self.params.get(name) {
            return Named::Var(Place::Local(*slot));
        }
        if let Some((_, special)) = SPECIALS.iter().find(|(word, _)| word.as_bytes() == name) {
            return Named::Special(*special);
        }
        Named::Var(Place::Global(self.global(name)))
    }

    /// Returns the slot of a function, made if it is not known yet.
    fn function_slot(&mut self, name: &[u8]) -> u32 {
        if let Some(slot) = self.functions.get(name) {
            return *slot;
        }
        let slot = u32::try_from(self.program.functions.len()).unwrap_or(u32::MAX);
        self.program.functions.push(super::op::Function {
            name: name.to_vec(),
            ..Default::default()
        });
        self.array_params.push(Vec::new());
        self.functions.insert(name.to_vec(), slot);
        slot
    }

    /// Makes a variable that no program can name.
    fn hidden(&mut self) -> Place {
        match self
            .function
            .and_then(|f| self.program.functions.get_mut(f as usize))
        {
            Some(function) => {
                function.locals += 1;
                Place::Local(function.locals - 1)
            }
            None => {
                let slot = u32::try_from(self.program.globals.len()).unwrap_or(u32::MAX);
                self.program.globals.push(Vec::new());
                Place::Global(slot)
            }
        }
    }

    fn program(&mut self) -> Parsed<()> {
        let mut chains: [Chain; 5] = Default::default();
        self.terminators();
        while *self.peek() != Tok::Eof {
            if self.eat_word(Word::Function) {
                self.function_item()?;
            } else {
                self.rule(&mut chains)?;
            }
            self.terminators();
        }
        let [begin, end, begin_file, end_file, main] = chains.map(|chain| chain.start);
        self.program.begin = begin;
        self.program.end = end;
        self.program.begin_file = begin_file;
        self.program.end_file = end_file;
        self.program.main = main;
        Ok(())
    }

    fn rule(&mut self, chains: &mut [Chain; 5]) -> Parsed<()> {
        let (section, index) = match self.peek() {
            Tok::Word(Word::Begin) => (Section::Begin, 0),
            Tok::Word(Word::End) => (Section::End, 1),
            Tok::Word(Word::Beginfile) => (Section::BeginFile, 2),
            Tok::Word(Word::Endfile) => (Section::EndFile, 3),
            _ => (Section::Main, 4),
        };
        self.section = section;
        self.label();
        let start = self.program.ops.len();
        if section == Section::Main {
            self.main_rule()?;
        } else {
            self.advance();
            if !self.is("{") {
                return Err(self.unexpected());
            }
            self.block()?;
        }
        self.label();
        let end = self.emit(Op::End);
        if let Some(chain) = chains.get_mut(index) {
            if let Some(open) = chain.open {
                self.patch_to(open, start, Op::Jump);
            }
            chain.start.get_or_insert(start);
            chain.open = Some(end);
        }
        Ok(())
    }

    fn main_rule(&mut self) -> Parsed<()> {
        let mut skips = Vec::new();
        let mut pattern = false;
        if !self.is("{") {
            pattern = true;
            let range_at = self.program.ops.len();
            self.condition(&mut skips)?;
            if self.eat(",") {
                self.newlines();
                self.range(range_at, &mut skips)?;
            }
        }
        if self.is("{") {
            self.block()?;
        } else if pattern
            && (matches!(self.peek(), Tok::Newline | Tok::Eof) || self.is(";") || self.is("}"))
        {
            self.print_record();
        } else {
            return Err(self.unexpected());
        }
        for skip in skips {
            self.patch_here(skip);
        }
        Ok(())
    }

    /// Compiles an expression that must be true for what follows; `skips` gets the jumps taken otherwise.
    fn condition(&mut self, skips: &mut Vec<usize>) -> Parsed<()> {
        self.expression()?;
        let skip = self.jump_unless();
        skips.push(skip);
        Ok(())
    }

    /// Compiles the second half of `from, to`, whose first half stands at `range_at`.
    fn range(&mut self, range_at: usize, skips: &mut [usize]) -> Parsed<()> {
        let id = u32::try_from(self.program.ranges).unwrap_or(u32::MAX);
        self.program.ranges += 1;
        // If the range is open, the first half is not looked at.
        self.insert(range_at, Op::RangeOpen(id, 0));
        for skip in skips.iter_mut() {
            *skip += 1;
        }
        self.emit(Op::RangeSet(id, true));
        self.patch_here(range_at);
        self.expression()?;
        let still = self.jump_unless();
        self.emit(Op::RangeSet(id, false));
        self.patch_here(still);
        Ok(())
    }

    fn function_item(&mut self) -> Parsed<()> {
        let name = match self.peek() {
            Tok::Name(name) | Tok::Call(name) => name.clone(),
            _ => return Err(self.unexpected()),
        };
        self.advance();
        let slot = self.function_slot(&name);
        self.section = Section::Function;
        if self
            .program
            .functions
            .get(slot as usize)
            .is_some_and(|f| f.defined)
        {
            return Err(self
                .error(&[b"function name `", name.as_slice(), b"' previously defined"].concat()));
        }
        self.parameters(&name)?;
        self.newlines();
        self.label();
        let count = u32::try_from(self.params.len()).unwrap_or(u32::MAX);
        let entry = self.program.ops.len();
        if let Some(function) = self.program.functions.get_mut(slot as usize) {
            function.params = count;
            function.locals = count;
            function.entry = entry;
            function.defined = true;
        }
        if let Some(arrays) = self.array_params.get_mut(slot as usize) {
            arrays.resize(self.params.len(), false);
        }
        self.function = Some(slot);
        if !self.is("{") {
            return Err(self.unexpected());
        }
        self.block()?;
        self.label();
        self.uninit();
        self.emit(Op::Return);
        self.function = None;
        self.params.clear();
        Ok(())
    }

    fn parameters(&mut self, function: &[u8]) -> Parsed<()> {
        self.expect("(")?;
        self.params.clear();
        self.newlines();
        while let Tok::Name(name) = self.peek().clone() {
            let number = u32::try_from(self.params.len()).unwrap_or(u32::MAX);
            if let Some(first) = self.params.insert(name.clone(), number) {
                let message = format!(
                    "function `{}': parameter #{}, `{}', duplicates parameter #{}",
                    String::from_utf8_lossy(function),
                    number + 1,
                    String::from_utf8_lossy(&name),
                    first + 1
                );
                return Err(self.error(message.as_bytes()));
            }
            self.advance();
            self.newlines();
            if !self.eat(",") {
                break;
            }
            self.newlines();
        }
        self.expect(")")
    }
}
