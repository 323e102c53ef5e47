//! Searches one file: whole buffers at a time, with only as many earlier lines kept as context needs.

use jp_bash_regex::{MatchError, WINDOW};
use jp_bash_system::io::{Output, complain};
use jp_bash_system::{Errno, Fd, FileKind, Limit, Stop, SysError, SysResult, System, Whence};
use memchr::{memchr, memchr_iter, memrchr};

use super::config::{Binary, Config, Show};
use super::print;

/// How much is read at once, as GNU's first buffer: where a NUL makes a file binary depends on it.
const PIECE: usize = 96 * 1024;

/// What a file gave.
pub(super) enum Found {
    Lines(u64),
    GaveUp(MatchError),
}

/// The search: what was asked for, and buffers for all files.
pub(super) struct Search {
    pub(super) config: Config,
    pub(super) out: Output,
    pub(super) buf: Vec<u8>,
    counted: u64,
    /// Something was printed, so the next group needs a separator.
    pub(super) printed: bool,
}

/// Where in a file we are. Positions are in the buffer.
pub(super) struct Place {
    pub(super) name: Vec<u8>,
    pub(super) named: bool,
    /// Bytes of the file before the buffer.
    pub(super) base: u64,
    /// Where the lines not looked at yet begin.
    pos: usize,
    /// Lines before `numbered`.
    pub(super) lines: u64,
    pub(super) numbered: usize,
    /// Where the last printed line ended, if it is still in the buffer.
    printed_end: Option<usize>,
    after_left: u64,
    selected: u64,
    /// The limit of `-m` was reached: only trailing context is left.
    tail: bool,
    done: bool,
    /// A NUL or, in a line to print, bytes that are no text.
    binary: bool,
    unprintable: bool,
    /// Width of numbers with `-T`.
    pub(super) width: usize,
}

impl Place {
    fn new(name: &[u8], named: bool) -> Self {
        Self {
            name: name.to_vec(),
            named,
            base: 0,
            pos: 0,
            lines: 0,
            numbered: 0,
            printed_end: None,
            after_left: 0,
            selected: 0,
            tail: false,
            done: false,
            binary: false,
            unprintable: false,
            width: 0,
        }
    }
}

impl Search {
    /// Makes a search.
    pub(super) fn new(config: Config) -> Self {
        Self {
            config,
            out: Output::new(1),
            buf: Vec::new(),
            counted: 0,
            printed: false,
        }
    }

    /// Writes out what was printed so far, so that messages come in order.
    pub(super) fn flush(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        self.out.flush(sys)
    }

    /// Ends the output.
    pub(super) fn finish(self, sys: &mut dyn System) -> Result<Result<(), Errno>, Stop> {
        sys.release(self.counted);
        self.out.finish(sys)
    }

    /// Searches a descriptor.
    pub(super) fn file(
        &mut self,
        sys: &mut dyn System,
        fd: Fd,
        name: &[u8],
        named: bool,
    ) -> SysResult<Found> {
        let mut place = Place::new(name, named);
        place.done = self.config.max_count == Some(0);
        if self.config.initial_tab {
            // Wide enough for any offset in the file.
            place.width = match sys.fstat(fd) {
                Ok(stat) if stat.kind == FileKind::Regular => stat.size.to_string().len(),
                _ => 19,
            };
        }
        self.buf.clear();
        let mut ended = false;
        while !place.done && !ended && !self.out.failed() {
            let fresh = self.buf.len();
            ended = self.read(sys, fd)?;
            self.look_for_nul(&mut place, fresh);
            if place.done {
                break;
            }
            if ended && self.buf.len() > place.pos && self.buf.last() != Some(&self.config.eol) {
                self.buf.push(self.config.eol);
            }
            let Some(end) = memrchr(self.config.eol, self.tail_of(place.pos)) else {
                continue;
            };
            let end = place.pos + end + 1;
            while place.pos < end && !place.done {
                let piece = self.piece_end(place.pos, end);
                if let Err(error) = self.region(sys, &mut place, piece)? {
                    return Ok(Found::GaveUp(error));
                }
            }
            self.forget(&mut place);
            if self.config.line_buffered {
                self.out.flush(sys)?;
            }
        }
        if fd == 0 && place.done {
            let unread = i64::try_from(self.buf.len() - place.pos).unwrap_or(0);
            if unread > 0 {
                // What follows `-m` belongs to the next reader of the same input.
                sys.seek(fd, Whence::Current(-unread)).ok();
            }
        }
        self.summary(sys, &place)?;
        Ok(Found::Lines(place.selected))
    }

    /// Says what is said about a file that cannot be read as lines.
    pub(super) fn nothing(
        &mut self,
        sys: &mut dyn System,
        name: &[u8],
        named: bool,
    ) -> SysResult<()> {
        self.summary(sys, &Place::new(name, named))
    }

    fn tail_of(&self, from: usize) -> &[u8] {
        self.buf.get(from..).unwrap_or_default()
    }

    /// Reads one more piece; tells whether the file ended.
    fn read(&mut self, sys: &mut dyn System, fd: Fd) -> SysResult<bool> {
        let len = self.buf.len();
        if len + PIECE + 1 > self.buf.capacity() {
            let grown = usize::max(len + PIECE + 1, self.buf.capacity() * 2);
            let more = (grown - self.buf.capacity()) as u64;
            sys.reserve(more)?;
            self.counted += more;
            self.buf
                .try_reserve_exact(grown - len)
                .map_err(|_| SysError::Stop(Stop::Limit(Limit::Memory)))?;
        }
        self.buf.resize(len + PIECE, 0);
        let mut filled = len;
        // A pipe gives a little at a time: what is there is searched at once.
        let got = sys.read(fd, self.buf.get_mut(filled..).unwrap_or_default());
        filled += *got.as_ref().unwrap_or(&0);
        self.buf.truncate(filled);
        let got = got?;
        sys.work_bytes(got / 2)?;
        sys.work_bytes(got / 2)?;
        Ok(got == 0)
    }

    /// A NUL makes the file binary from here on; GNU then takes NULs for line ends.
    fn look_for_nul(&mut self, place: &mut Place, fresh: usize) {
        if self.config.eol != b'\n' || self.config.binary == Binary::Text {
            return;
        }
        let new = self.buf.get_mut(fresh..).unwrap_or_default();
        let Some(first) = memchr(0, new) else {
            return;
        };
        if self.config.binary == Binary::WithoutMatch {
            place.done = true;
            place.selected = 0;
            place.unprintable = false;
            return;
        }
        place.binary = true;
        for byte in new.get_mut(first..).unwrap_or_default() {
            if *byte == 0 {
                *byte = b'\n';
            }
        }
    }

    /// Returns where a piece of whole lines ends that a pattern is looked for in at once, if not one line alone is longer.
    fn piece_end(&self, from: usize, end: usize) -> usize {
        let most = from + WINDOW;
        if most >= end {
            return end;
        }
        let piece = self.buf.get(from..most).unwrap_or_default();
        memrchr(self.config.eol, piece).map_or_else(|| self.line_end(most, end), |at| from + at + 1)
    }

    /// Looks at the complete lines up to `end`.
    fn region(
        &mut self,
        sys: &mut dyn System,
        place: &mut Place,
        end: usize,
    ) -> SysResult<Result<(), MatchError>> {
        while place.pos < end && !place.done {
            if place.tail {
                self.gap(sys, place, end)?;
                place.done |= place.after_left == 0;
                continue;
            }
            let (from, to) = match self.next_match(sys, place.pos, end) {
                Ok(Some(line)) => line,
                Ok(None) => (end, end),
                Err(MatchError::Stop(stop)) => return Err(stop.into()),
                Err(error) => return Ok(Err(error)),
            };
            if !self.config.invert {
                self.gap(sys, place, from)?;
                if from < end {
                    self.select(sys, place, to)?;
                }
                continue;
            }
            self.select_all(sys, place, from)?;
            if !place.done && !place.tail {
                self.gap(sys, place, to)?;
            }
        }
        Ok(Ok(()))
    }

    /// Finds the next line that matches.
    fn next_match(
        &self,
        sys: &mut dyn System,
        pos: usize,
        end: usize,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        let Some(regex) = &self.config.regex else {
            return Ok(None);
        };
        let text = self.buf.get(..end).unwrap_or_default();
        if !self.config.line_by_line {
            return Ok(match regex.line_at(sys, text, pos, self.config.eol)? {
                Some(at) if at < end => {
                    let before = text.get(pos..at).unwrap_or_default();
                    let from = memrchr(self.config.eol, before).map_or(pos, |i| pos + i + 1);
                    Some((from, self.line_end(at, end)))
                }
                _ => None,
            });
        }
        let mut from = pos;
        while from < end {
            let to = self.line_end(from, end);
            let line = text.get(from..to - 1).unwrap_or_default();
            if regex.is_match_at(sys, line, 0)? {
                return Ok(Some((from, to)));
            }
            from = to;
        }
        Ok(None)
    }

    /// Returns where the line that holds `at` ends, behind its end byte.
    fn line_end(&self, at: usize, end: usize) -> usize {
        self.buf
            .get(at..end)
            .and_then(|rest| memchr(self.config.eol, rest))
            .map_or(end, |i| at + i + 1)
    }

    /// Passes lines that are not selected, printing those that are trailing context.
    fn gap(&mut self, sys: &mut dyn System, place: &mut Place, to: usize) -> SysResult<()> {
        while place.pos < to && place.after_left > 0 && !place.done {
            let end = self.line_end(place.pos, to);
            place.after_left -= 1;
            self.print(sys, place, (place.pos, end), false)?;
            place.pos = end;
        }
        if !place.tail {
            place.pos = usize::max(place.pos, to);
        }
        Ok(())
    }

    /// Selects all lines up to `to` (`-v`).
    fn select_all(&mut self, sys: &mut dyn System, place: &mut Place, to: usize) -> SysResult<()> {
        let plain = self.config.show == Show::Lines
            && !self.config.groups
            && !(place.named || self.config.line_number || self.config.byte_offset)
            && self.config.max_count.is_none()
            && !self.config.color
            && !place.binary;
        if plain && place.pos < to {
            let lines = self.buf.get(place.pos..to).unwrap_or_default();
            let sound = !self.config.utf8
                || self.config.binary == Binary::Text
                || std::str::from_utf8(lines).is_ok();
            if sound {
                place.selected += 1;
                self.out.put(sys, lines)?;
                place.pos = to;
                return Ok(());
            }
        }
        while place.pos < to && !place.done && !place.tail {
            let end = self.line_end(place.pos, to);
            self.select(sys, place, end)?;
        }
        Ok(())
    }

    /// Selects the line from `place.pos` to `to`.
    fn select(&mut self, sys: &mut dyn System, place: &mut Place, to: usize) -> SysResult<()> {
        let from = place.pos;
        place.selected += 1;
        place.pos = to;
        match self.config.show {
            Show::Quiet | Show::WithMatch | Show::WithoutMatch => {
                place.done = true;
                return Ok(());
            }
            Show::Count => {}
            Show::Lines | Show::Matches => {
                if place.binary {
                    place.unprintable = true;
                    place.done = true;
                    self.printed = true;
                    return Ok(());
                }
                self.leading_context(sys, place, from)?;
                self.print(sys, place, (from, to), true)?;
                place.after_left = self.config.after;
            }
        }
        if self.config.max_count == Some(place.selected) {
            place.tail = true;
            place.done |= place.after_left == 0;
        }
        Ok(())
    }

    fn leading_context(
        &mut self,
        sys: &mut dyn System,
        place: &mut Place,
        from: usize,
    ) -> SysResult<()> {
        let floor = place.printed_end.unwrap_or(0);
        let start = self.lines_back(from, floor, self.config.before);
        let apart = place.printed_end != Some(start);
        if self.config.groups && self.printed && apart {
            print::separator(self, sys)?;
        }
        let mut at = start;
        while at < from && !place.done {
            let end = self.line_end(at, from);
            self.print(sys, place, (at, end), false)?;
            at = end;
        }
        Ok(())
    }

    /// Returns where the n-th line before `from` begins, not before `floor`.
    fn lines_back(&self, from: usize, floor: usize, n: u64) -> usize {
        let mut start = from;
        for _ in 0..n {
            if start <= floor {
                break;
            }
            let before = self.buf.get(floor..start - 1).unwrap_or_default();
            start = memrchr(self.config.eol, before).map_or(floor, |i| floor + i + 1);
        }
        start
    }

    fn print(
        &mut self,
        sys: &mut dyn System,
        place: &mut Place,
        (from, to): (usize, usize),
        selected: bool,
    ) -> SysResult<()> {
        let line = self.buf.get(from..to - 1).unwrap_or_default();
        if self.config.utf8
            && self.config.binary != Binary::Text
            && !line.is_ascii()
            && std::str::from_utf8(line).is_err()
        {
            // The line is left out, and the file called binary at its end.
            place.unprintable = true;
            return Ok(());
        }
        if self.config.line_number {
            let passed = self.buf.get(place.numbered..from).unwrap_or_default();
            place.lines += memchr_iter(self.config.eol, passed).count() as u64;
            place.numbered = from;
        }
        place.printed_end = Some(to);
        self.printed = true;
        print::line(self, sys, place, (from, to), selected)
    }

    /// Drops what no context can need.
    fn forget(&mut self, place: &mut Place) {
        let floor = place.printed_end.unwrap_or(0);
        let keep = self.lines_back(place.pos, floor, self.config.before);
        if keep < PIECE / 2 && keep < self.buf.len() {
            return;
        }
        if self.config.line_number && place.numbered < keep {
            let passed = self.buf.get(place.numbered..keep).unwrap_or_default();
            place.lines += memchr_iter(self.config.eol, passed).count() as u64;
            place.numbered = keep;
        }
        let rest = self.buf.len() - keep;
        self.buf.copy_within(keep.., 0);
        self.buf.truncate(rest);
        place.base += keep as u64;
        place.pos -= keep;
        place.numbered = place.numbered.saturating_sub(keep);
        place.printed_end = place.printed_end.and_then(|end| end.checked_sub(keep));
    }

    /// Prints what is said once for a file.
    fn summary(&mut self, sys: &mut dyn System, place: &Place) -> SysResult<()> {
        match self.config.show {
            Show::Count => print::count(self, sys, place, place.selected)?,
            Show::WithMatch if place.selected > 0 => print::name(self, sys, place)?,
            Show::WithoutMatch if place.selected == 0 => print::name(self, sys, place)?,
            _ if place.unprintable => {
                self.out.flush(sys)?;
                let text = [place.name.as_slice(), b": binary file matches"].concat();
                complain(sys, b"grep", &text)?;
            }
            _ => {}
        }
        Ok(())
    }
}
