//! `s` and `y`: changes within the pattern space. Knows no files but the one `w` names.

use jp_bash_system::{Stop, System};

use super::{Fault, Run};
use crate::sed::script::{Part, Subst, Translate};
use crate::sed::subst::Casing;

/// So many bytes are changed before the run is asked.
const PIECE: usize = 32 << 10;

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes >> 10).unwrap_or(u32::MAX)
}

impl Run<'_> {
    pub(super) fn translate(
        &mut self,
        sys: &mut dyn System,
        table: &Translate,
    ) -> Result<(), Stop> {
        match table {
            Translate::Bytes(table) => {
                for piece in self.line.chunks_mut(PIECE) {
                    for byte in &mut *piece {
                        *byte = table.get(usize::from(*byte)).copied().unwrap_or(*byte);
                    }
                    sys.work(units(piece.len()))?;
                }
            }
            Translate::Chars(table) => {
                self.spare.clear();
                let line = std::mem::take(&mut self.line);
                let mut asked = 0;
                let mut at = 0;
                while let Some(&first) = line.get(at) {
                    if at - asked >= PIECE {
                        sys.work(units(at - asked))?;
                        asked = at;
                    }
                    let rest = line.get(at..).unwrap_or_default();
                    let (len, made) = match jp_bash_regex::decode(rest) {
                        Some((c, len)) => (len, table.get(&c)),
                        None => (1, None),
                    };
                    self.grow(sys, 4)?;
                    match made {
                        Some(c) => {
                            let mut buf = [0; 4];
                            self.spare
                                .extend_from_slice(c.encode_utf8(&mut buf).as_bytes());
                        }
                        None if len == 1 => self.spare.push(first),
                        None => self.spare.extend(rest.get(..len).unwrap_or_default()),
                    }
                    at += len;
                }
                self.line = line;
                std::mem::swap(&mut self.line, &mut self.spare);
            }
        }
        Ok(())
    }

    pub(super) fn substitute(&mut self, sys: &mut dyn System, subst: &Subst) -> Result<(), Fault> {
        let regex = self.regex(subst.pattern)?;
        let mut start = 0;
        let mut copied = 0;
        let mut previous = None;
        let mut count = 0;
        let mut done = false;
        self.spare.clear();
        while start <= self.line.len() {
            let found = if subst.groups {
                regex
                    .captures_at(sys, &self.line, start, &mut self.groups)?
                    .then(|| self.groups.first().copied().flatten())
                    .flatten()
            } else {
                regex.find_at(sys, &self.line, start)?
            };
            let Some((from, to)) = found else {
                break;
            };
            // An empty match right behind the last one does not count.
            if from < to || previous != Some(from) {
                previous = Some(to);
                count += 1;
                if count >= u64::max(subst.number, 1) {
                    self.grow(sys, to - copied)?;
                    let before = self.line.get(copied..from).unwrap_or_default();
                    self.spare.extend_from_slice(before);
                    self.replace(sys, subst, (from, to))?;
                    copied = to;
                    done = true;
                    if !subst.global {
                        break;
                    }
                } else {
                    let passed = self.line.get(copied..to).unwrap_or_default();
                    self.spare.extend_from_slice(passed);
                    copied = to;
                }
            }
            start = if from == to {
                let next = to + self.char_len(to);
                let passed = self.line.get(copied..next.min(self.line.len()));
                self.spare.extend_from_slice(passed.unwrap_or_default());
                copied = next.min(self.line.len());
                next
            } else {
                to
            };
        }
        if !done {
            return Ok(());
        }
        self.replaced = true;
        let rest = self.line.get(copied..).unwrap_or_default();
        self.spare.extend_from_slice(rest);
        std::mem::swap(&mut self.line, &mut self.spare);
        self.account(sys)?;
        self.after_substitute(sys, subst)
    }

    pub(super) fn after_substitute(
        &mut self,
        sys: &mut dyn System,
        subst: &Subst,
    ) -> Result<(), Fault> {
        if subst.print == 1 && subst.eval {
            self.print_line(sys)?;
        }
        if subst.eval {
            let command = std::mem::take(&mut self.line);
            let mut made = self.shell(sys, &command)?;
            if made.last() == Some(&b'\n') {
                made.pop();
            }
            self.line = made;
        }
        if subst.print == 2 || subst.print == 1 && !subst.eval {
            self.print_line(sys)?;
        }
        if let Some(index) = subst.write {
            self.write_to(sys, index, false)?;
        }
        Ok(())
    }

    pub(super) fn char_len(&self, at: usize) -> usize {
        let rest = self.line.get(at..).unwrap_or_default();
        if self.settings.utf8 {
            jp_bash_regex::decode(rest).map_or(1, |(_, len)| len)
        } else {
            1
        }
    }

    /// Makes room in the new pattern space; what is large is counted before it is held.
    pub(super) fn grow(&mut self, sys: &mut dyn System, more: usize) -> Result<(), Stop> {
        let needed = self.spare.len().saturating_add(more);
        if needed > self.spare.capacity() {
            let grown = usize::max(needed, self.spare.capacity() * 2);
            let extra = (grown - self.spare.capacity()) as u64;
            sys.reserve(extra)?;
            self.held += extra;
            self.spare.reserve_exact(grown - self.spare.len());
        }
        Ok(())
    }

    pub(super) fn replace(
        &mut self,
        sys: &mut dyn System,
        subst: &Subst,
        (from, to): (usize, usize),
    ) -> Result<(), Stop> {
        if let Some(text) = &subst.plain {
            self.grow(sys, text.len())?;
            self.spare.extend_from_slice(text);
            return Ok(());
        }
        let mut casing = Casing::default();
        for part in &subst.parts {
            match part {
                Part::Case(case) => casing.set(*case),
                Part::Text(text) => {
                    self.grow(sys, text.len())?;
                    casing.put(text, self.settings.utf8, &mut self.spare);
                }
                Part::Group(n) => {
                    let span = if *n == 0 {
                        Some((from, to))
                    } else {
                        self.groups.get(*n).copied().flatten()
                    };
                    let (a, b) = span.unwrap_or((0, 0));
                    self.grow(sys, b - a)?;
                    let text = self.line.get(a..b).unwrap_or_default();
                    casing.put(text, self.settings.utf8, &mut self.spare);
                }
            }
        }
        Ok(())
    }
}
