//! Filling and sorting arrays: `split`, `patsplit`, `asort`, `asorti`, and the order of `for (k in a)`.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use jp_bash_system::PIECE;

use super::super::array::{Array, Key};
use super::super::op::{Op, PROCINFO, Place, Special};
use super::super::record::{self, Splitter};
use super::super::value::{ArrayRef, Side, Value};
use super::{Frame, Ran, Vm};

/// How deep comparison functions may sort inside sorts.
const MOST_SORTS: u32 = 8;

/// How elements are put in order.
enum Order {
    /// `@ind_str_asc` and its kind: by index or value, as what, descending or not.
    Named {
        by_value: bool,
        kind: Kind,
        down: bool,
    },
    /// A function of the program: `f(i1, v1, i2, v2)`.
    Function(u32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    /// Numbers, then texts.
    Type,
}

/// From this length on, the pieces of a text are counted before they are kept.
const LONG: usize = 64 << 10;

/// An element that is sorted.
type Pair = (Key, Value);

/// How many elements are sorted between two asks.
const RUN: usize = 1024;

impl Vm<'_> {
    pub(super) fn split_into(
        &mut self,
        pattern: bool,
        array: Place,
        seps: Option<Place>,
        given: bool,
    ) -> Ran<()> {
        let separator = if given { Some(self.pop()) } else { None };
        let value = self.pop();
        let text = self.to_string(&value);
        let splitter = match separator {
            Some(separator) if pattern => Rc::new(Splitter::Fields(self.regex(&separator)?)),
            Some(separator) => Rc::new(self.splitter_of(&separator)?),
            None if pattern => {
                let fpat = self.special(Special::Fpat)?;
                Rc::new(Splitter::Fields(self.regex(&fpat)?))
            }
            None => Rc::clone(&self.splitter),
        };
        let text = text.text().unwrap_or_default();
        let array = self.array(array)?;
        let seps = seps.map(|place| self.array(place)).transpose()?;
        array.borrow_mut().clear();
        if let Some(seps) = &seps {
            seps.borrow_mut().clear();
        }
        // Each element costs far more than its byte: ask before there are millions.
        if text.len() > LONG {
            self.claim_pieces(text, &splitter)?;
        }
        let mut spans = Vec::new();
        record::split(self.sys, text, &splitter, &mut |field, gap| {
            spans.push((field, gap));
        })?;
        self.claim(spans.len().saturating_mul(128))?;
        let last = spans.len();
        if pattern && let (Some(seps), Some(((from, _), _))) = (&seps, spans.first()) {
            let gap = text.get(..*from).unwrap_or_default();
            seps.borrow_mut()
                .set(Key::Int(0), Value::string(gap, &self.meter));
        }
        for (index, ((from, to), gap)) in spans.into_iter().enumerate() {
            if index % RUN == RUN - 1 {
                self.sys.work_bytes(PIECE)?;
            }
            let key = i64::try_from(index).unwrap_or(0) + 1;
            let piece = text.get(from..to).unwrap_or_default();
            array
                .borrow_mut()
                .set(Key::Int(key), Value::input(piece, &self.meter));
            if let Some(seps) = &seps
                && (index + 1 < last || gap.0 < gap.1)
            {
                let gap = text.get(gap.0..gap.1).unwrap_or_default();
                seps.borrow_mut()
                    .set(Key::Int(key), Value::string(gap, &self.meter));
            }
        }
        self.claim(0)?;
        #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 fields")]
        self.stack.push(Value::Num(last as f64));
        Ok(())
    }

    /// Asks for the memory that the pieces of a text take as elements.
    fn claim_pieces(&mut self, text: &[u8], splitter: &Splitter) -> Ran<()> {
        let mut count = 0_usize;
        record::split(self.sys, text, splitter, &mut |_, _| count += 1)?;
        self.claim(count.saturating_mul(192))?;
        Ok(())
    }

    /// Returns the keys a loop visits, in the order that `PROCINFO["sorted_in"]` asks for.
    pub(super) fn loop_keys(&mut self, array: &ArrayRef) -> Ran<Vec<Key>> {
        let count = array.borrow().len();
        self.claim(count.saturating_mul(size_of::<Key>() * 2))?;
        let keys = array.borrow().keys();
        let wanted = match self.globals.get(PROCINFO as usize) {
            Some(Value::Array(info)) => info
                .borrow()
                .get(&Key::text(b"sorted_in", &self.meter))
                .cloned(),
            _ => None,
        };
        let order = match &wanted {
            Some(value) => {
                let name = self.text(value);
                self.order(&name, true)?
            }
            None => None,
        };
        let Some(order) = order else {
            return Ok(keys);
        };
        let mut pairs = self.pairs(array, keys)?;
        self.sort_pairs(&mut pairs, &order)?;
        Ok(pairs.into_iter().map(|(key, _)| key).collect())
    }

    /// Returns each of the keys with its value.
    fn pairs(&mut self, array: &ArrayRef, keys: Vec<Key>) -> Ran<Vec<Pair>> {
        let array = array.borrow();
        let mut pairs = Vec::with_capacity(keys.len());
        for key in keys {
            let value = array.get(&key).cloned().unwrap_or_default();
            pairs.push((key, value));
            if pairs.len().is_multiple_of(RUN) {
                self.sys.work_bytes(PIECE)?;
            }
        }
        Ok(pairs)
    }

    /// Reads the name of an order; `None` for `@unsorted`.
    fn order(&self, name: &[u8], quiet: bool) -> Ran<Option<Order>> {
        let named = |by_value, kind, down| {
            Ok(Some(Order::Named {
                by_value,
                kind,
                down,
            }))
        };
        match name {
            b"@unsorted" | b"" => Ok(None),
            b"@ind_str_asc" => named(false, Kind::Text, false),
            b"@ind_str_desc" => named(false, Kind::Text, true),
            b"@ind_num_asc" => named(false, Kind::Number, false),
            b"@ind_num_desc" => named(false, Kind::Number, true),
            b"@val_str_asc" => named(true, Kind::Text, false),
            b"@val_str_desc" => named(true, Kind::Text, true),
            b"@val_num_asc" => named(true, Kind::Number, false),
            b"@val_num_desc" => named(true, Kind::Number, true),
            b"@val_type_asc" => named(true, Kind::Type, false),
            b"@val_type_desc" => named(true, Kind::Type, true),
            _ => {
                let found = self
                    .program
                    .functions
                    .iter()
                    .position(|f| f.defined && f.name == name);
                match found.and_then(|at| u32::try_from(at).ok()) {
                    Some(function) => Ok(Some(Order::Function(function))),
                    None if quiet => Ok(None),
                    None => self.fatal(&[b"sort comparison function `", name, b"' is not defined"]),
                }
            }
        }
    }

    fn sort_pairs(&mut self, pairs: &mut Vec<(Key, Value)>, order: &Order) -> Ran<()> {
        if let Order::Named {
            by_value,
            kind,
            down,
        } = order
        {
            let (by_value, kind, down) = (*by_value, *kind, *down);
            return self.sort_by_order(pairs, |vm, a, b| {
                let (left, right) = if by_value {
                    (a.1.clone(), b.1.clone())
                } else {
                    (a.0.value(&vm.meter), b.0.value(&vm.meter))
                };
                let order = vm.order_values(&left, &right, kind);
                if down { order.reverse() } else { order }
            });
        }
        let Order::Function(function) = order else {
            return Ok(());
        };
        if self.sorting >= MOST_SORTS {
            return self.fatal(&[b"sort comparison functions are nested too deeply"]);
        }
        self.sorting += 1;
        let sorted = self.merge_sort(std::mem::take(pairs), *function);
        self.sorting -= 1;
        *pairs = sorted?;
        Ok(())
    }

    /// Sorts in runs that are merged, so that the budget is asked on the way.
    fn sort_by_order(
        &mut self,
        pairs: &mut Vec<Pair>,
        compare: impl Fn(&Self, &Pair, &Pair) -> Ordering,
    ) -> Ran<()> {
        let mut rest = std::mem::take(pairs).into_iter();
        let mut runs = Vec::new();
        loop {
            let mut run: Vec<Pair> = rest.by_ref().take(RUN).collect();
            if run.is_empty() {
                break;
            }
            run.sort_by(|a, b| compare(self, a, b));
            self.sys.turns(run.len() as u64 / 16)?;
            self.sys.work_bytes(PIECE)?;
            self.claim(0)?;
            runs.push(run);
        }
        let mut steps = 0_usize;
        *pairs = self.merge_runs(runs, &mut |vm, a, b| {
            steps += 1;
            if steps.is_multiple_of(RUN) {
                vm.sys.work_bytes(PIECE)?;
                vm.claim(0)?;
            }
            Ok(compare(vm, a, b).is_gt())
        })?;
        Ok(())
    }

    /// Sorts with a function that may fail or lie: merging needs no consistent order to end.
    fn merge_sort(&mut self, pairs: Vec<Pair>, function: u32) -> Ran<Vec<Pair>> {
        let runs = pairs.into_iter().map(|pair| vec![pair]).collect();
        self.merge_runs(runs, &mut |vm, a, b| {
            let args = [
                a.0.value(&vm.meter),
                a.1.clone(),
                b.0.value(&vm.meter),
                b.1.clone(),
            ];
            Ok(vm.call_function(function, args)? > 0.0)
        })
    }

    /// Merges runs; `greater` tells whether the first of two elements belongs behind the second.
    fn merge_runs(
        &mut self,
        mut runs: Vec<Vec<Pair>>,
        greater: &mut dyn FnMut(&mut Self, &Pair, &Pair) -> Ran<bool>,
    ) -> Ran<Vec<Pair>> {
        while runs.len() > 1 {
            let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
            let mut rest = runs.into_iter();
            while let Some(left) = rest.next() {
                merged.push(match rest.next() {
                    Some(right) => self.merge(left, right, greater)?,
                    None => left,
                });
            }
            runs = merged;
        }
        Ok(runs.pop().unwrap_or_default())
    }

    fn merge(
        &mut self,
        left: Vec<Pair>,
        right: Vec<Pair>,
        greater: &mut dyn FnMut(&mut Self, &Pair, &Pair) -> Ran<bool>,
    ) -> Ran<Vec<Pair>> {
        let mut out = Vec::with_capacity(left.len() + right.len());
        let mut left = left.into_iter().peekable();
        let mut right = right.into_iter().peekable();
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            out.extend(if greater(self, a, b)? {
                right.next()
            } else {
                left.next()
            });
        }
        out.extend(left);
        out.extend(right);
        Ok(out)
    }

    /// Calls a function of the program from within a builtin.
    fn call_function(&mut self, function: u32, args: [Value; 4]) -> Ran<f64> {
        self.sys.turns(1)?;
        let program = self.program;
        let Some(called) = program.functions.get(function as usize) else {
            return Ok(0.0);
        };
        let floor = self.stack.len();
        self.stack.extend(args);
        let locals = called.locals as usize;
        self.stack
            .resize(floor + usize::max(locals, 4), Value::Uninit);
        self.stack
            .truncate(floor + usize::max(locals, called.params as usize));
        let frames = self.frames.len();
        self.frames.push(Frame {
            back: usize::MAX,
            base: self.base,
            iters: self.iters.len(),
        });
        self.base = floor;
        let done = self.run(called.entry)?;
        if done != super::Done::End || self.frames.len() != frames {
            return self
                .fatal(&[b"`next', `nextfile' and `exit' are not allowed in a sort comparison"]);
        }
        Ok(self.pop_num())
    }

    fn order_values(&self, left: &Value, right: &Value, kind: Kind) -> Ordering {
        let text = || self.order_text(&self.text(left), &self.text(right));
        match kind {
            Kind::Text => text(),
            Kind::Number => {
                let order = left.num().total_cmp(&right.num());
                order.then_with(text)
            }
            Kind::Type => match (left.side(), right.side()) {
                (Side::Num(a) | Side::StrNum(a), Side::Num(b) | Side::StrNum(b)) => a.total_cmp(&b),
                (Side::Uninit, Side::Uninit) => Ordering::Equal,
                (Side::Uninit, _) => Ordering::Less,
                (_, Side::Uninit) => Ordering::Greater,
                (Side::Num(_) | Side::StrNum(_), Side::Str) => Ordering::Less,
                (Side::Str, Side::Num(_) | Side::StrNum(_)) => Ordering::Greater,
                (Side::Str, Side::Str) => text(),
            },
        }
    }

    pub(super) fn sort(
        &mut self,
        indices: bool,
        from: Place,
        to: Option<Place>,
        by: bool,
    ) -> Ran<()> {
        let how = if by { Some(self.pop()) } else { None };
        let name = match &how {
            Some(value) => self.text(value).into_owned(),
            None if indices => b"@ind_str_asc".to_vec(),
            None => b"@val_type_asc".to_vec(),
        };
        let order = self.order(&name, false)?;
        let source = self.array(from)?;
        self.claim(source.borrow().len().saturating_mul(192))?;
        let keys = source.borrow().keys();
        let mut pairs = self.pairs(&source, keys)?;
        if let Some(order) = &order {
            self.sort_pairs(&mut pairs, order)?;
        }
        let mut sorted = Array::new(&self.meter);
        for (index, (key, value)) in pairs.into_iter().enumerate() {
            let value = if indices {
                key.value(&self.meter)
            } else {
                value
            };
            sorted.set(Key::Int(i64::try_from(index).unwrap_or(0) + 1), value);
            if index % RUN == RUN - 1 {
                self.sys.work_bytes(PIECE)?;
            }
        }
        let count = sorted.len();
        let dest = self.array(to.unwrap_or(from))?;
        RefCell::replace(&dest, sorted);
        #[expect(clippy::cast_precision_loss, reason = "no array has 2^53 elements")]
        self.stack.push(Value::Num(count as f64));
        Ok(())
    }
}

const _: () = assert!(size_of::<Op>() <= 32 && size_of::<Value>() <= 24);
