//! Variables that are computed when they are read: `RANDOM`, `SECONDS`, `FUNCNAME` and their like.

use std::sync::Arc;

use jp_bash_syntax::names::Name;
use jp_bash_system::System;

use crate::Shell;
use crate::flow::Flow;
use crate::frames::{Frame, FrameKind};
use crate::options::{self, Opt};
use crate::vars::assoc::Assoc;
use crate::vars::indexed::Indexed;
use crate::vars::{Attrs, Bytes, Value, known};

/// State of the computed variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Computed {
    /// State of `RANDOM`; 0 until it is first read or set.
    pub(crate) random: u32,
    /// The last value of `RANDOM`: bash never gives the same one twice in a row.
    pub(crate) last_random: u32,
    /// What was assigned to `SECONDS`, less the seconds that had passed then.
    pub(crate) seconds: i64,
    /// What was assigned to `LINENO`, less the line it was on.
    pub(crate) line: i64,
}

impl Computed {
    /// Starts `RANDOM` anew, as assigning to it does.
    pub(crate) fn seed(&mut self, seed: u32) {
        self.random = seed;
        self.last_random = 0;
    }

    /// Returns the next `RANDOM`: the generator of bash 5.1 and later, so a seeded sequence is the same.
    pub(crate) fn next_random(&mut self) -> u32 {
        loop {
            let value = self.step() & 0x7fff;
            if value != self.last_random {
                self.last_random = value;
                return value;
            }
        }
    }

    fn step(&mut self) -> u32 {
        let seed = if self.random == 0 {
            123_459_876
        } else {
            self.random
        };
        // Park and Miller's minimal standard generator, by Schrage's method.
        let (high, low) = (i64::from(seed) / 127_773, i64::from(seed) % 127_773);
        let next = 16_807 * low - 2_836 * high;
        let next = if next < 0 { next + 0x7fff_ffff } else { next };
        self.random = u32::try_from(next).unwrap_or(1);
        (self.random >> 16) ^ (self.random & 0xffff)
    }
}

/// Returns the attributes a computed variable starts with.
pub(crate) fn attrs(name: Name) -> Attrs {
    let more = match name {
        known::RANDOM | known::SRANDOM | known::HISTCMD | known::BASHPID => Attrs::INTEGER,
        known::SHELLOPTS | known::BASHOPTS => Attrs::READONLY,
        known::FUNCNAME
        | known::BASH_SOURCE
        | known::BASH_LINENO
        | known::BASH_ARGC
        | known::BASH_ARGV
        | known::PIPESTATUS
        | known::DIRSTACK
        | known::GROUPS => Attrs::INDEXED,
        known::BASH_ALIASES | known::BASH_CMDS => Attrs::ASSOC,
        _ => Attrs::NONE,
    };
    Attrs::DYNAMIC.with(more)
}

fn number(value: i64) -> Value {
    Value::Scalar(Bytes::from_int(value))
}

fn list(texts: impl IntoIterator<Item = Bytes>) -> Value {
    Value::Indexed(Arc::new(Indexed::from_texts(texts)))
}

impl Shell<'_> {
    /// Returns the value of a computed variable.
    pub(crate) fn computed(&mut self, name: Name) -> Result<Value, Flow> {
        Ok(match name {
            known::RANDOM => {
                if self.vars.computed.random == 0 && self.vars.computed.last_random == 0 {
                    let mut seed = [0; 4];
                    System::random(self, &mut seed);
                    self.vars.computed.seed(u32::from_le_bytes(seed) | 1);
                }
                number(i64::from(self.vars.computed.next_random()))
            }
            known::SRANDOM => {
                let mut bytes = [0; 4];
                System::random(self, &mut bytes);
                number(i64::from(u32::from_le_bytes(bytes)))
            }
            known::SECONDS => {
                let elapsed = i64::try_from(self.since_start().as_secs()).unwrap_or(i64::MAX);
                number(elapsed.wrapping_add(self.vars.computed.seconds))
            }
            known::LINENO => number(i64::from(self.line).wrapping_add(self.vars.computed.line)),
            known::EPOCHSECONDS => number(self.now().secs),
            known::EPOCHREALTIME => {
                let now = self.now();
                let text = format!("{}.{:06}", now.secs, now.nanos / 1000);
                Value::Scalar(Bytes::from(text.into_bytes()))
            }
            known::BASHPID => number(i64::from(self.pid)),
            known::BASH_SUBSHELL => number(i64::from(self.subshell)),
            known::BASH_COMMAND => Value::Scalar(Bytes::from(&*self.command_text)),
            known::BASH_ARGV0 => Value::Scalar(Bytes::from(&*self.arg0)),
            known::HISTCMD => number(0),
            known::SHELLOPTS => {
                let on = options::SET
                    .iter()
                    .filter(|(_, opt, _)| self.options.has(*opt))
                    .map(|(name, ..)| *name);
                Value::Scalar(Bytes::from(joined(on)))
            }
            known::BASHOPTS => {
                let on = options::SHOPT
                    .iter()
                    .filter(|(_, opt)| self.options.has(*opt))
                    .map(|(name, _)| *name);
                Value::Scalar(Bytes::from(joined(on)))
            }
            known::PIPESTATUS => list(
                self.pipe_status
                    .iter()
                    .map(|status| Bytes::from_int(i64::from(*status))),
            ),
            known::DIRSTACK => {
                let mut all = vec![Bytes::from(&*self.cwd.logical)];
                all.extend(self.dir_stack.iter().map(|path| Bytes::from(&**path)));
                list(all)
            }
            known::GROUPS => list([Bytes::from_int(i64::from(self.gid()))]),
            known::BASH_ALIASES => {
                let mut all = Assoc::default();
                for (name, text) in self.aliases.iter() {
                    all.set(name, Bytes::from(&**text));
                }
                Value::Assoc(Arc::new(all))
            }
            known::BASH_CMDS => {
                let mut all = Assoc::default();
                for (name, (path, _)) in self.hashed.iter() {
                    all.set(name, Bytes::from(&**path));
                }
                Value::Assoc(Arc::new(all))
            }
            _ => self.call_stack(name),
        })
    }

    /// `FUNCNAME` and its companions; without a function call `FUNCNAME` is not set.
    fn call_stack(&self, name: Name) -> Value {
        let frames = || self.frames.iter().rev();
        match name {
            known::FUNCNAME => {
                if !self.frames.iter().any(|f| f.kind == FrameKind::Function) {
                    return Value::None;
                }
                list(frames().map(|frame| Bytes::from(shown(frame))))
            }
            known::BASH_SOURCE => list(frames().map(|frame| Bytes::from(&*frame.source))),
            known::BASH_LINENO => {
                list(frames().map(|frame| Bytes::from_int(i64::from(frame.call_line))))
            }
            known::BASH_ARGC => list(
                frames()
                    .filter(|f| !f.args.is_empty() || self.options.has(Opt::ExtDebug))
                    .map(|frame| Bytes::from_int(i64::try_from(frame.args.len()).unwrap_or(0))),
            ),
            known::BASH_ARGV => list(
                frames()
                    .flat_map(|frame| frame.args.iter().rev().map(|a| Bytes::from(a.as_slice()))),
            ),
            _ => Value::None,
        }
    }

    /// Assigns to an element of `BASH_ALIASES` or `BASH_CMDS`.
    pub(crate) fn set_computed_key(
        &mut self,
        name: Name,
        key: &[u8],
        text: &[u8],
    ) -> Result<(), Flow> {
        self.keep((key.len() + text.len()) as u64 + 128)?;
        match name {
            known::BASH_ALIASES => {
                Arc::make_mut(&mut self.aliases).insert(key.into(), Arc::from(text));
            }
            known::BASH_CMDS => {
                Arc::make_mut(&mut self.hashed).insert(key.into(), (Arc::from(text), 0));
            }
            _ => {}
        }
        Ok(())
    }

    /// Assigns to a computed variable; `false` where it is stored like any other.
    pub(crate) fn set_computed(&mut self, name: Name, text: &[u8]) -> Result<bool, Flow> {
        match name {
            known::RANDOM => {
                let seed = self.arith_text(text)?;
                let low = u32::try_from(seed & 0xffff_ffff).unwrap_or(0);
                self.vars.computed.seed(low);
                self.vars.computed.last_random = u32::MAX;
            }
            known::SECONDS => {
                let value = self.arith_text(text)?;
                let elapsed = i64::try_from(self.since_start().as_secs()).unwrap_or(i64::MAX);
                self.vars.computed.seconds = value.wrapping_sub(elapsed);
            }
            known::LINENO => {
                // The next command sets the line anew, so an assignment shows nowhere.
                self.arith_text(text)?;
            }
            known::BASH_ARGV0 => self.arg0 = Arc::from(text),
            // The rest ignores assignments.
            _ => {}
        }
        Ok(true)
    }
}

fn shown(frame: &Frame) -> &[u8] {
    &frame.name
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let names: Vec<&str> = names.collect();
    names.join(":").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seeded_sequence_is_bashs() {
        let mut computed = Computed::default();
        computed.seed(42);
        let got: Vec<u32> = (0..5).map(|_| computed.next_random()).collect();
        assert_eq!(got, [17772, 26794, 1435, 24388, 11074]);
    }
}
