//! Where expanded text is put together: into fields that are split and may be globbed, into one text, or into a pattern.

use jp_bash_system::{Budget, Stop};
use smallvec::SmallVec;

use crate::vars::ifs::Ifs;

/// What the text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Arguments: unquoted expansions are split and globbed.
    Split,
    /// One text.
    One,
    /// A pattern: quoted characters get a backslash.
    Pattern,
    /// A regular expression: quoted characters get a backslash.
    Regex,
    /// What `${x/…/with}` puts in: a quoted `&` gets a backslash.
    Replacement,
}

/// Fields under construction.
pub(crate) struct Fields {
    pub(crate) out: Vec<Vec<u8>>,
    /// Fields of `out` that may be patterns, with the pattern's text.
    pub(crate) globs: Vec<(usize, Vec<u8>)>,
    pub(crate) current: Vec<u8>,
    pub(crate) mode: Mode,
    pub(crate) ifs: Ifs,
    /// The current field exists, even if it is empty.
    started: bool,
    /// White space ended the last field, so that one other separator still belongs to it.
    after_space: bool,
    /// Quoted stretches of the current field.
    quoted: SmallVec<[(usize, usize); 4]>,
    /// The current field has an unquoted `*`, `?` or `[`.
    special: bool,
    /// Bytes reserved while this is built.
    reserved: u64,
    /// Pathname expansion is off.
    noglob: bool,
}

/// From so many bytes on, growth is counted.
const COUNTED: usize = 4096;

impl Fields {
    /// Makes an empty collection.
    pub(crate) fn new(mode: Mode, ifs: Ifs, noglob: bool) -> Self {
        Self {
            out: Vec::new(),
            globs: Vec::new(),
            current: Vec::new(),
            mode,
            ifs,
            started: false,
            after_space: false,
            quoted: SmallVec::new(),
            special: false,
            reserved: 0,
            noglob,
        }
    }

    /// Gives back what was reserved; whoever keeps the result counts it.
    pub(crate) fn settle(&mut self, budget: &Budget) {
        budget.release(std::mem::take(&mut self.reserved));
    }

    /// Counts what the current field grows by, once it is no longer small. Small ones are counted when they are kept.
    #[inline]
    fn room(&mut self, budget: &Budget, more: usize) -> Result<(), Stop> {
        let need = self.current.len().saturating_add(more);
        if need <= COUNTED {
            return Ok(());
        }
        self.much_room(budget, more, need)
    }

    fn much_room(&mut self, budget: &Budget, more: usize, need: usize) -> Result<(), Stop> {
        budget.made(more as u64)?;
        if need > self.current.capacity() {
            let target = usize::max(need, self.current.capacity().saturating_mul(2));
            let growth = (target - self.current.capacity()) as u64;
            budget.reserve(growth)?;
            self.reserved += growth;
            self.current.reserve_exact(target - self.current.len());
        }
        Ok(())
    }

    /// Counts a field that is about to be kept.
    pub(crate) fn count(&mut self, budget: &Budget, len: usize) -> Result<(), Stop> {
        let bytes = 48 + len as u64;
        budget.reserve(bytes)?;
        self.reserved += bytes;
        Ok(())
    }

    /// Adds text as it stands in the script: it may be a pattern, it is not split.
    pub(crate) fn put_literal(&mut self, budget: &Budget, text: &[u8]) -> Result<(), Stop> {
        self.room(budget, text.len())?;
        if self.mode == Mode::Split {
            self.started = true;
            self.after_space = false;
            if !self.special && text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[')) {
                self.special = true;
            }
        }
        self.current.extend_from_slice(text);
        Ok(())
    }

    /// Notes that an extended pattern stands in the current field.
    pub(crate) fn mark_special(&mut self) {
        self.special = true;
    }

    /// Notes that the current field exists, as empty quotes do.
    #[inline]
    pub(crate) fn start(&mut self) {
        self.started = true;
        self.after_space = false;
    }

    /// Adds quoted text.
    pub(crate) fn put_quoted(&mut self, budget: &Budget, text: &[u8]) -> Result<(), Stop> {
        self.room(budget, text.len())?;
        self.start();
        match self.mode {
            Mode::Split => {
                if !text.is_empty() {
                    let from = self.current.len();
                    self.current.extend_from_slice(text);
                    self.quoted.push((from, self.current.len()));
                }
            }
            Mode::One => self.current.extend_from_slice(text),
            Mode::Pattern => escape_pattern(&mut self.current, text),
            Mode::Regex => escape_regex(&mut self.current, text),
            Mode::Replacement => {
                for byte in text {
                    if matches!(byte, b'&' | b'\\') {
                        self.current.push(b'\\');
                    }
                    self.current.push(*byte);
                }
            }
        }
        Ok(())
    }

    /// Adds the result of an unquoted expansion: split at IFS where fields are made.
    pub(crate) fn put_expanded(&mut self, budget: &Budget, text: &[u8]) -> Result<(), Stop> {
        if self.mode != Mode::Split {
            self.room(budget, text.len())?;
            self.current.extend_from_slice(text);
            return Ok(());
        }
        let mut rest = text;
        while !rest.is_empty() {
            let end = self.ifs.find(rest).unwrap_or(rest.len());
            let (plain, tail) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            if !plain.is_empty() {
                self.put_literal(budget, plain)?;
            }
            let Some(separator) = tail.first() else {
                break;
            };
            self.separate(budget, *separator)?;
            let length = usize::max(1, self.ifs.length(tail));
            rest = tail.get(length..).unwrap_or_default();
        }
        Ok(())
    }

    fn separate(&mut self, budget: &Budget, separator: u8) -> Result<(), Stop> {
        if self.ifs.is_space(separator) {
            if self.started {
                self.end_field(budget)?;
                self.after_space = true;
            }
        } else if self.started {
            self.end_field(budget)?;
        } else if self.after_space {
            self.after_space = false;
        } else {
            self.started = true;
            self.end_field(budget)?;
        }
        Ok(())
    }

    /// Ends the current field between two elements of an unquoted `$@` or `$*`: as the first character of
    /// `IFS` would, so that an empty element counts where that is no blank.
    pub(crate) fn break_unquoted(&mut self, budget: &Budget) -> Result<(), Stop> {
        match self.ifs.join().first().copied() {
            Some(separator) => self.separate(budget, separator),
            None => self.break_field(budget),
        }
    }

    /// Ends the current field between two elements of `$@`.
    pub(crate) fn break_field(&mut self, budget: &Budget) -> Result<(), Stop> {
        if self.started {
            self.end_field(budget)?;
        }
        Ok(())
    }

    /// Ends the current field, if there is one.
    pub(crate) fn end_field(&mut self, budget: &Budget) -> Result<(), Stop> {
        if !std::mem::take(&mut self.started) {
            return Ok(());
        }
        self.after_space = false;
        if self.out.len() >= 256 {
            self.count(budget, self.current.len())?;
        }
        if std::mem::take(&mut self.special) && !self.noglob {
            let pattern = self.pattern();
            self.globs.push((self.out.len(), pattern));
        }
        self.quoted.clear();
        self.out.push(std::mem::take(&mut self.current));
        Ok(())
    }

    /// Returns the current field as a pattern: what was quoted gets backslashes.
    fn pattern(&self) -> Vec<u8> {
        let mut pattern = Vec::with_capacity(self.current.len() + 8);
        let mut at = 0;
        for (from, to) in &self.quoted {
            pattern.extend_from_slice(self.current.get(at..*from).unwrap_or_default());
            escape_pattern(
                &mut pattern,
                self.current.get(*from..*to).unwrap_or_default(),
            );
            at = *to;
        }
        pattern.extend_from_slice(self.current.get(at..).unwrap_or_default());
        pattern
    }

    /// Returns the whole text, for modes that make one.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.current
    }
}

/// Adds text so that a pattern matches just that.
pub(crate) fn escape_pattern(out: &mut Vec<u8>, text: &[u8]) {
    for byte in text {
        if matches!(
            byte,
            b'*' | b'?'
                | b'['
                | b']'
                | b'\\'
                | b'('
                | b')'
                | b'|'
                | b'+'
                | b'@'
                | b'!'
                | b'-'
                | b'^'
        ) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}

/// Adds text so that a regular expression matches just that.
pub(crate) fn escape_regex(out: &mut Vec<u8>, text: &[u8]) {
    for byte in text {
        if matches!(
            byte,
            b'.' | b'*'
                | b'?'
                | b'['
                | b']'
                | b'\\'
                | b'('
                | b')'
                | b'|'
                | b'+'
                | b'{'
                | b'}'
                | b'^'
                | b'$'
        ) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}
