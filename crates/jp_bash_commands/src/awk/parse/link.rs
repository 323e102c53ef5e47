//! The end of compiling: functions that are called must exist, and which parameters are arrays spreads along calls.

use rustc_hash::FxHashMap;

use super::super::op::{Op, Place, Program};
use super::{ParseError, Parsed, Parser};

impl Parser<'_> {
    pub(super) fn link(mut self) -> Parsed<Program> {
        for (function, args, line) in std::mem::take(&mut self.calls) {
            let Some(called) = self.program.functions.get(function as usize) else {
                continue;
            };
            let message = if !called.defined {
                [b"function `", called.name.as_slice(), b"' not defined"].concat()
            } else if args > called.params {
                [
                    b"function `",
                    called.name.as_slice(),
                    b"' called with more arguments than declared",
                ]
                .concat()
            } else {
                continue;
            };
            return Err(Box::new(ParseError {
                line,
                at: None,
                message,
                fatal: true,
                stop: None,
            }));
        }
        self.spread();
        for bare in &self.bare {
            if self.is_array(bare.callee, bare.param)
                && let Some(op) = self.program.ops.get_mut(bare.at)
            {
                *op = Op::ArrayArg(bare.place);
            }
        }
        Ok(self.program)
    }

    fn is_array(&self, function: u32, param: u32) -> bool {
        self.array_params
            .get(function as usize)
            .and_then(|params| params.get(param as usize))
            .copied()
            .unwrap_or(false)
    }

    /// A parameter that is passed on to an array parameter is an array too.
    fn spread(&mut self) {
        let mut passed: FxHashMap<(u32, u32), Vec<(u32, u32)>> = FxHashMap::default();
        for bare in &self.bare {
            if let (Some(caller), Place::Local(slot)) = (bare.caller, bare.place) {
                passed
                    .entry((bare.callee, bare.param))
                    .or_default()
                    .push((caller, slot));
            }
        }
        let mut open: Vec<(u32, u32)> = passed
            .keys()
            .copied()
            .filter(|(function, param)| self.is_array(*function, *param))
            .collect();
        while let Some(known) = open.pop() {
            for (caller, slot) in passed.remove(&known).unwrap_or_default() {
                if let Some(array) = self
                    .array_params
                    .get_mut(caller as usize)
                    .and_then(|params| params.get_mut(slot as usize))
                    && !*array
                {
                    *array = true;
                    open.push((caller, slot));
                }
            }
        }
    }
}
