//! Running a compiled program: the state, conversions, and the three phases BEGIN, records, END.

mod arrays;
mod calls;
mod cold;
mod compare;
mod input;
mod output;
mod random;
mod sift;
mod special;
mod steps;
mod subst;
mod time;

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) use input::assignment;

use jp_bash_regex::{MatchError, Regex, RegexError};
use jp_bash_system::io::Output;
use jp_bash_system::{Limit, PIECE, Stop, System};

use super::array::{Array, Key};
use super::format;
use super::op::{ARGC, ARGV, ENVIRON, PROCINFO, Place, Program};
use super::pattern::Patterns;
use super::record::{Record, Splitter};
use super::streams::{Separator, Streams};
use super::value::{ArrayRef, Meter, Value};

/// Why a program ends before its end.
pub(super) enum Fault {
    Stop(Stop),
    /// The message behind `fatal: `.
    Fatal(Vec<u8>),
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<MatchError> for Fault {
    fn from(error: MatchError) -> Self {
        match error {
            MatchError::Stop(stop) => Self::Stop(stop),
            error => Self::Fatal(error.to_string().into_bytes()),
        }
    }
}

pub(super) type Ran<T> = Result<T, Fault>;

/// How a stretch of code ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    End,
    Next,
    NextFile,
    Exit,
}

/// A call to come back from.
struct Frame {
    back: usize,
    base: usize,
    iters: usize,
}

/// The keys a `for (k in a)` has still to visit, last first.
struct Iter {
    keys: Vec<Key>,
}

/// A running program.
pub(super) struct Vm<'a> {
    pub(super) sys: &'a mut dyn System,
    pub(super) program: &'a Program,
    pub(super) meter: Meter,
    reserved: u64,
    stack: Vec<Value>,
    base: usize,
    frames: Vec<Frame>,
    iters: Vec<Iter>,
    globals: Vec<Value>,
    ranges: Vec<bool>,
    /// Where the last fault happened.
    pub(super) pc: usize,
    max_depth: usize,
    /// Comparison functions running inside a sort.
    sorting: u32,
    pub(super) utf8: bool,
    record: Record,
    splitter: Rc<Splitter>,
    separator: Separator,
    patterns: Patterns,
    streams: Streams,
    out: Output,
    specials: special::Specials,
    input: input::Input,
    sift: Option<sift::Sift>,
    pub(super) status: i32,
    random: random::Random,
    scratch: Vec<u8>,
    /// The buffer that the next replacement in `$0` goes to.
    spare: Vec<u8>,
}

impl<'a> Vm<'a> {
    pub(super) fn new(
        sys: &'a mut dyn System,
        program: &'a Program,
        meter: Meter,
        args: &[Vec<u8>],
        bytes: bool,
    ) -> Result<Self, Stop> {
        let utf8 = sys.utf8() && !bytes;
        let max_depth = usize::try_from(sys.max_depth()).unwrap_or(usize::MAX);
        let splitter = Rc::new(Splitter::Blank);
        let mut vm = Self {
            sys,
            program,
            meter,
            reserved: 0,
            stack: Vec::new(),
            base: 0,
            frames: Vec::new(),
            iters: Vec::new(),
            globals: vec![Value::Uninit; program.globals.len()],
            ranges: vec![false; program.ranges],
            pc: 0,
            max_depth,
            sorting: 0,
            utf8,
            record: Record::new(Rc::clone(&splitter)),
            splitter,
            separator: Separator::Byte(b'\n'),
            patterns: Patterns::new(utf8, program.regexes.len()),
            streams: Streams::default(),
            out: Output::new(1),
            specials: special::Specials::default(),
            input: input::Input::default(),
            sift: sift::Sift::of(program),
            status: 0,
            random: random::Random::default(),
            scratch: Vec::new(),
            spare: Vec::new(),
        };
        vm.start(args)?;
        Ok(vm)
    }

    /// Compiles the regex constants, so that a bad one is found before anything runs.
    pub(super) fn compile_regexes(&mut self) -> Result<(), Vec<u8>> {
        for index in 0..u32::try_from(self.program.regexes.len()).unwrap_or(0) {
            if let Err(Fault::Fatal(message)) = self.regex_const(index) {
                return Err(message);
            }
        }
        Ok(())
    }

    /// Fills the arrays that exist from the start.
    fn start(&mut self, args: &[Vec<u8>]) -> Result<(), Stop> {
        let mut argv = Array::new(&self.meter);
        for (index, arg) in args.iter().enumerate() {
            argv.set(
                Key::Int(i64::try_from(index).unwrap_or(0)),
                Value::input(arg, &self.meter),
            );
        }
        let mut environ = Array::new(&self.meter);
        for (name, value) in self.sys.environ()? {
            environ.set(
                Key::text(&name, &self.meter),
                Value::input(&value, &self.meter),
            );
        }
        let mut info = Array::new(&self.meter);
        let numbers = [
            ("pid", f64::from(self.sys.pid())),
            ("uid", f64::from(self.sys.uid())),
            ("gid", f64::from(self.sys.gid())),
        ];
        for (name, num) in numbers {
            info.set(Key::text(name.as_bytes(), &self.meter), Value::Num(num));
        }
        for (name, text) in [("version", "5.2.1"), ("FS", "FS"), ("platform", "posix")] {
            info.set(
                Key::text(name.as_bytes(), &self.meter),
                Value::string(text.as_bytes(), &self.meter),
            );
        }
        for (slot, array) in [(ARGV, argv), (ENVIRON, environ), (PROCINFO, info)] {
            if let Some(global) = self.globals.get_mut(slot as usize) {
                *global = Value::Array(Rc::new(RefCell::new(array)));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "no command has 2^53 words")]
        let count = args.len() as f64;
        if let Some(global) = self.globals.get_mut(ARGC as usize) {
            *global = Value::Num(count);
        }
        Ok(())
    }

    /// Runs everything; the status is in `status`.
    pub(super) fn main(&mut self) -> Ran<()> {
        let mut done = self.section(self.program.begin)?;
        let reads = self.program.main.is_some()
            || self.program.end.is_some()
            || self.program.begin_file.is_some()
            || self.program.end_file.is_some();
        if done != Done::Exit && reads {
            done = self.records()?;
        }
        // `exit` skips to END; in END it ends.
        let _ = done;
        self.section(self.program.end)?;
        Ok(())
    }

    /// Writes out and closes everything; called however the program ended.
    pub(super) fn finish(&mut self) -> Result<(), Stop> {
        // Commands that are written to print before what is left here, as in gawk.
        let clean = self.streams.close_all(self.sys)?;
        self.out.flush(self.sys)?;
        if (self.out.failed() || !clean) && self.status == 0 {
            self.status = 2;
        }
        self.input.close(self.sys)?;
        self.sys.release(self.reserved);
        self.reserved = 0;
        Ok(())
    }

    pub(super) fn flush_stdout(&mut self) -> Result<(), Stop> {
        self.out.flush(self.sys)
    }

    fn section(&mut self, entry: Option<usize>) -> Ran<Done> {
        let Some(entry) = entry else {
            return Ok(Done::End);
        };
        let done = self.run(entry)?;
        self.unwind();
        Ok(done)
    }

    /// Drops what a `next` or `exit` inside a function left.
    fn unwind(&mut self) {
        self.stack.clear();
        self.frames.clear();
        self.iters.clear();
        self.base = 0;
    }

    /// Asks for memory that is about to be taken.
    fn claim(&mut self, bytes: usize) -> Result<(), Stop> {
        if self.meter.touched() >= PIECE {
            self.pay()?;
        }
        let want = self.meter.held().saturating_add(bytes as u64);
        if want > self.reserved {
            self.grow(want)?;
        }
        Ok(())
    }

    /// Asks the budget for what was gone through since the last time.
    #[cold]
    fn pay(&mut self) -> Result<(), Stop> {
        let mut left = self.meter.take_touched();
        while left > PIECE {
            left -= PIECE;
            self.sys.work_bytes(PIECE)?;
        }
        self.sys.work_bytes(left)
    }

    /// Asks for the memory that the fields of a long record take, before they are found.
    #[inline]
    fn claim_fields(&mut self) -> Ran<()> {
        if self.record.is_long() {
            self.claim_many_fields()?;
        }
        Ok(())
    }

    #[cold]
    fn claim_many_fields(&mut self) -> Ran<()> {
        let count = self.record.count_first(self.sys)?;
        self.meter.touch(self.record.text().len());
        self.claim(count.saturating_mul(Record::SPAN))?;
        self.record.make_room(count, &self.meter);
        Ok(())
    }

    #[cold]
    fn grow(&mut self, want: u64) -> Result<(), Stop> {
        // Small steps are rounded up, so that not every string asks.
        let more = u64::max(want - self.reserved, 64 << 10);
        match self.sys.reserve(more) {
            Ok(()) => {
                self.reserved += more;
                Ok(())
            }
            Err(Stop::Limit(Limit::Memory)) if more > want - self.reserved => {
                self.sys.reserve(want - self.reserved)?;
                self.reserved = want;
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }

    fn fatal<T>(&self, parts: &[&[u8]]) -> Ran<T> {
        Err(Fault::Fatal(parts.concat()))
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_default()
    }

    /// Takes a number; looking before popping saves moving the value.
    #[inline]
    fn pop_num(&mut self) -> f64 {
        let num = match self.stack.last() {
            Some(Value::Num(num)) => *num,
            Some(other) => other.num(),
            None => return 0.0,
        };
        self.stack.truncate(self.stack.len() - 1);
        num
    }

    /// Takes a value that is only asked whether it is true.
    #[inline]
    fn pop_truth(&mut self) -> bool {
        let truth = match self.stack.last() {
            Some(Value::Num(num)) => *num != 0.0,
            Some(other) => other.truth(),
            None => return false,
        };
        self.stack.truncate(self.stack.len() - 1);
        truth
    }

    fn push_truth(&mut self, truth: bool) {
        self.stack.push(Value::truth_value(truth));
    }

    /// Appends a value's text.
    #[inline]
    fn push_text(&self, out: &mut Vec<u8>, value: &Value) {
        match value {
            Value::Num(num) => format::push_number(out, *num, &self.specials.convfmt),
            other => out.extend_from_slice(other.text().unwrap_or_default()),
        }
    }

    /// Returns a value's text.
    fn text<'v>(&self, value: &'v Value) -> Cow<'v, [u8]> {
        match value {
            Value::Num(num) => {
                let mut out = Vec::with_capacity(24);
                format::push_number(&mut out, *num, &self.specials.convfmt);
                Cow::Owned(out)
            }
            other => Cow::Borrowed(other.text().unwrap_or_default()),
        }
    }

    /// Returns the value as a string.
    fn to_string(&self, value: &Value) -> Value {
        match value {
            Value::Num(_) => Value::string(&self.text(value), &self.meter),
            Value::Uninit | Value::Regex(_) | Value::Array(_) => Value::string(b"", &self.meter),
            other => other.clone(),
        }
    }

    /// Returns the value as a subscript.
    #[inline]
    fn key(&self, value: &Value) -> Key {
        match Key::of(value) {
            Some(key) => key,
            None => Key::text(&self.text(value), &self.meter),
        }
    }

    /// Returns the regex that a value means.
    fn regex(&mut self, value: &Value) -> Ran<Rc<Regex>> {
        let compiled = match value {
            Value::Regex(index) => return self.regex_const(*index),
            other => {
                let text = self.text(other);
                self.patterns
                    .dynamic(self.sys, &text)?
                    .map_err(|error| (error, text.into_owned()))
            }
        };
        compiled.map_err(|(error, text)| bad_regex(&error, &text))
    }

    #[inline]
    fn regex_const(&mut self, index: u32) -> Ran<Rc<Regex>> {
        let text = self
            .program
            .regexes
            .get(index as usize)
            .map_or(&b""[..], Vec::as_slice);
        self.patterns
            .constant(self.sys, index, text)?
            .map_err(|error| bad_regex(&error, text))
    }

    /// Returns the array at a place, made if nothing is there yet.
    fn array(&mut self, place: Place) -> Ran<ArrayRef> {
        let slot = match place {
            Place::Global(slot) => self.globals.get_mut(slot as usize),
            Place::Local(slot) => self.stack.get_mut(self.base + slot as usize),
        };
        match slot {
            Some(Value::Array(array)) => Ok(Rc::clone(array)),
            Some(empty @ Value::Uninit) => {
                let array = Rc::new(RefCell::new(Array::new(&self.meter)));
                *empty = Value::Array(Rc::clone(&array));
                Ok(array)
            }
            _ => {
                let (what, name) = self.name(place);
                self.fatal(&[
                    b"attempt to use scalar ",
                    what,
                    b"`",
                    &name,
                    b"' as an array",
                ])
            }
        }
    }

    /// Returns a variable's name for a message.
    fn name(&self, place: Place) -> (&'static [u8], Vec<u8>) {
        match place {
            Place::Global(slot) => {
                let name = self
                    .program
                    .globals
                    .get(slot as usize)
                    .cloned()
                    .unwrap_or_default();
                (b"", name)
            }
            Place::Local(slot) => (b"parameter ", format!("#{}", slot + 1).into_bytes()),
        }
    }

    fn array_in_scalar<T>(&self, place: Place) -> Ran<T> {
        let (_, name) = self.name(place);
        self.fatal(&[b"attempt to use array `", &name, b"' in a scalar context"])
    }
}

fn bad_regex(error: &RegexError, text: &[u8]) -> Fault {
    Fault::Fatal([error.to_string().as_bytes(), b": /", text, b"/"].concat())
}
