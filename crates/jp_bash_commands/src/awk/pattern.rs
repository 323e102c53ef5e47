//! Regexes as awk writes them, on the shared engine: awk's escapes are replaced first, then compiled patterns are kept.

use std::rc::Rc;

use jp_bash_regex::{Dialect, Flags, Flavor, Regex, RegexError};
use jp_bash_system::{Stop, System};
use rustc_hash::FxHashMap;

use super::lex;

/// How many dynamic patterns are kept compiled.
const KEPT: usize = 128;
/// The most bytes that they hold before they are forgotten.
const MOST_BYTES: u64 = 8 << 20;

/// A pattern, or what is wrong with it.
pub(super) type Compiled = Result<Result<Rc<Regex>, RegexError>, Stop>;

/// Compiled patterns by their text.
pub(super) struct Patterns {
    utf8: bool,
    ignore_case: bool,
    consts: Vec<Option<Rc<Regex>>>,
    dynamic: FxHashMap<Vec<u8>, Rc<Regex>>,
    last: Option<(Vec<u8>, Rc<Regex>)>,
    /// The rules' regexes as one, for many lines at once.
    lines: Option<Rc<Regex>>,
}

impl Patterns {
    pub(super) fn new(utf8: bool, consts: usize) -> Self {
        Self {
            utf8,
            ignore_case: false,
            consts: vec![None; consts],
            dynamic: FxHashMap::default(),
            last: None,
            lines: None,
        }
    }

    /// Sets `IGNORECASE`; what is compiled is forgotten if it changes.
    pub(super) fn set_ignore_case(&mut self, ignore_case: bool) {
        if self.ignore_case != ignore_case {
            self.ignore_case = ignore_case;
            self.consts.fill(None);
            self.dynamic.clear();
            self.last = None;
            self.lines = None;
        }
    }

    pub(super) fn ignore_case(&self) -> bool {
        self.ignore_case
    }

    fn flags(&self) -> Flags {
        Flags {
            ignore_case: self.ignore_case,
            utf8: self.utf8,
            dialect: Dialect::Awk,
            ..Flags::default()
        }
    }

    fn compile(&self, sys: &mut dyn System, text: &[u8]) -> Compiled {
        let made = Regex::new(sys, &translate(text), Flavor::Extended, self.flags())?;
        Ok(made.map(Rc::new))
    }

    /// Returns what finds lines that any of these constants matches; `None` if they are too much together.
    pub(super) fn lines(
        &mut self,
        sys: &mut dyn System,
        wanted: &[u32],
        texts: &[Vec<u8>],
    ) -> Result<Option<Rc<Regex>>, Stop> {
        if let Some(regex) = &self.lines {
            return Ok(Some(Rc::clone(regex)));
        }
        let texts = wanted.iter().map(|index| texts.get(*index as usize));
        let texts = texts.map(|text| text.map(|text| translate(text)));
        let Some(texts) = texts.collect::<Option<Vec<Vec<u8>>>>() else {
            return Ok(None);
        };
        let views: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let flags = Flags {
            lines: Some(b'\n'),
            ..self.flags()
        };
        let Ok(regex) = Regex::any_of(sys, &views, Flavor::Extended, flags)? else {
            return Ok(None);
        };
        let regex = Rc::new(regex);
        self.lines = Some(Rc::clone(&regex));
        Ok(Some(regex))
    }

    /// Returns the program's constant of that index, compiled.
    #[inline]
    pub(super) fn constant(&mut self, sys: &mut dyn System, index: u32, text: &[u8]) -> Compiled {
        if let Some(Some(regex)) = self.consts.get(index as usize) {
            return Ok(Ok(Rc::clone(regex)));
        }
        let regex = match self.compile(sys, text)? {
            Ok(regex) => regex,
            error => return Ok(error),
        };
        if let Some(slot) = self.consts.get_mut(index as usize) {
            *slot = Some(Rc::clone(&regex));
        }
        Ok(Ok(regex))
    }

    /// Returns a pattern that the program made, compiled.
    pub(super) fn dynamic(&mut self, sys: &mut dyn System, text: &[u8]) -> Compiled {
        if let Some((last, regex)) = &self.last
            && last == text
        {
            return Ok(Ok(Rc::clone(regex)));
        }
        let regex = match self.dynamic.get(text) {
            Some(regex) => Rc::clone(regex),
            None => {
                let regex = match self.compile(sys, text)? {
                    Ok(regex) => regex,
                    error => return Ok(error),
                };
                let kept: u64 = self.dynamic.values().map(|regex| regex.size()).sum();
                if self.dynamic.len() >= KEPT || kept > MOST_BYTES {
                    self.dynamic.drain().for_each(|(_, old)| old.settle(sys));
                }
                self.dynamic.insert(text.to_vec(), Rc::clone(&regex));
                regex
            }
        };
        self.last = Some((text.to_vec(), Rc::clone(&regex)));
        Ok(Ok(regex))
    }
}

/// Replaces awk's escapes: what is left means the same to the engine.
fn translate(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    // Where the first member of the open bracket expression stands.
    let mut bracket: Option<usize> = None;
    while let Some(&byte) = text.get(at) {
        if byte == b'\\' {
            at = escape(text, at, bracket.is_some(), &mut out);
            continue;
        }
        match (byte, bracket) {
            (b'[', None) => bracket = Some(at + 1 + usize::from(text.get(at + 1) == Some(&b'^'))),
            (b'[', Some(_)) => {
                if let Some(kind @ (b':' | b'.' | b'=')) = text.get(at + 1).copied()
                    && let Some(end) =
                        memchr::memmem::find(text.get(at + 2..).unwrap_or_default(), &[kind, b']'])
                {
                    out.extend_from_slice(text.get(at..at + end + 4).unwrap_or_default());
                    at += end + 4;
                    continue;
                }
            }
            (b']', Some(first)) if at != first => bracket = None,
            _ => {}
        }
        out.push(byte);
        at += 1;
    }
    out
}

/// Replaces the escape at `at`; returns where it ends.
fn escape(text: &[u8], at: usize, in_bracket: bool, out: &mut Vec<u8>) -> usize {
    let Some(&next) = text.get(at + 1) else {
        out.extend_from_slice(b"\\\\");
        return at + 1;
    };
    let literal = |byte: u8, out: &mut Vec<u8>| {
        if byte.is_ascii_punctuation() {
            out.push(b'\\');
        }
        out.push(byte);
    };
    match next {
        b'0'..=b'7' | b'x' => match lex::code(text, at + 1) {
            Some((byte, end)) => {
                literal(byte, out);
                return end;
            }
            None => literal(next, out),
        },
        b'8' | b'9' | b'"' | b'/' | b'&' => literal(next, out),
        b'y' if !in_bracket => out.extend_from_slice(b"\\b"),
        _ => match lex::control(next) {
            Some(control) => out.push(control),
            None => out.extend_from_slice(&[b'\\', next]),
        },
    }
    at + 2
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn escapes_become_what_they_stand_for() {
        let table: &[(&str, &str)] = &[
            (r"a\.b", r"a\.b"),
            (r"\/\t", "\\/\t"),
            (r"\ya\y", r"\ba\b"),
            (r"\056", r"\."),
            (r"\x41", "A"),
            (r"[\]\t]", "[\\]\t]"),
            (r"[[:alpha:]\/]", r"[[:alpha:]\/]"),
            (r"x\", r"x\\"),
        ];
        for (awk, engine) in table {
            assert_eq!(
                String::from_utf8_lossy(&translate(awk.as_bytes())),
                *engine,
                "{awk}"
            );
        }
    }
}
