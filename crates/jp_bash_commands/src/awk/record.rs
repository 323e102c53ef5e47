//! The current record and its fields, split only as far as somebody asks.

use std::rc::Rc;

use jp_bash_regex::{MatchError, Regex};
use jp_bash_system::{PIECE, System};

use super::chars;
use super::value::{Long, Meter, SHORT, Value};

/// How a record is cut into fields.
#[derive(Clone)]
pub(super) enum Splitter {
    /// Runs of blanks, those at the ends ignored; a newline is a blank.
    Blank,
    /// One byte. The flag says whether a newline separates too (paragraph mode).
    Byte(u8, bool),
    /// Every character is a field.
    Chars(bool),
    Regex(Rc<Regex>, bool),
    /// `FPAT`: what a field looks like.
    Fields(Rc<Regex>),
    /// `FIELDWIDTHS`: characters to skip, and to take.
    Widths(Rc<Vec<(usize, usize)>>, bool),
}

/// A piece of a text.
pub(super) type Span = (usize, usize);

/// The record.
pub(super) struct Record {
    text: Vec<u8>,
    spans: Vec<Span>,
    /// Where the next field begins.
    at: usize,
    /// All fields are known.
    done: bool,
    /// The fields themselves, once one was assigned.
    loose: Option<Vec<Value>>,
    /// The text must be rebuilt from the fields.
    stale: bool,
    splitter: Rc<Splitter>,
    /// The last value of `$0`, to be used again once nobody holds it.
    whole: Option<Rc<Long>>,
    /// It is the text of this record.
    copied: bool,
    /// The fields of a long record were counted, and there is room for them.
    roomy: bool,
    /// What the meter was told about: a long text, many fields.
    counted: usize,
}

/// From so many bytes on, a record and its fields are counted.
const LONG: usize = 64 << 10;

/// How many fields are found or made between two asks.
pub(super) const FIELDS: usize = 1024;

/// Asks the budget for each piece of a text that is cut.
struct Pace(usize);

impl Pace {
    #[inline]
    fn reach(&mut self, sys: &mut dyn System, at: usize) -> Result<(), MatchError> {
        if at >= self.0 {
            self.0 = at + PIECE;
            sys.work_bytes(PIECE)?;
        }
        Ok(())
    }
}

fn blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

impl Record {
    pub(super) fn new(splitter: Rc<Splitter>) -> Self {
        Self {
            text: Vec::new(),
            spans: Vec::new(),
            at: 0,
            done: true,
            loose: None,
            stale: false,
            splitter,
            whole: None,
            copied: false,
            roomy: false,
            counted: 0,
        }
    }

    /// What one field takes.
    pub(super) const SPAN: usize = size_of::<Span>();

    /// Tells whether the fields must be counted before they are found.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.text.len() > LONG && !self.roomy && self.loose.is_none()
    }

    /// Counts the fields without keeping them.
    pub(super) fn count_first(&self, sys: &mut dyn System) -> Result<usize, MatchError> {
        let mut count = 0;
        split(sys, &self.text, &self.splitter, &mut |_, _| count += 1)?;
        Ok(count)
    }

    /// Makes room for that many fields, which were asked for.
    pub(super) fn make_room(&mut self, count: usize, meter: &Meter) {
        self.roomy = true;
        if count > self.spans.capacity() {
            self.spans.reserve_exact(count - self.spans.len());
        }
        self.recount(meter);
    }

    /// Tells the meter what a long record holds now.
    #[inline]
    pub(super) fn recount(&mut self, meter: &Meter) {
        if self.is_large() || self.loose.is_some() {
            self.recount_all(meter);
        }
    }

    /// Tells, roughly, whether there is anything that the meter has to know.
    #[inline]
    fn is_large(&self) -> bool {
        let about = self.text.capacity() | (self.spans.capacity() * Self::SPAN) | self.counted;
        about > LONG / 4
    }

    /// Lets go of the room for very many fields of an earlier record.
    #[cold]
    fn begin_small(&mut self, meter: &Meter) {
        if self.spans.capacity() > LONG {
            self.spans = Vec::new();
        }
        self.recount_all(meter);
    }

    #[cold]
    fn recount_all(&mut self, meter: &Meter) {
        let fields = self.loose.as_ref().map_or(0, Vec::capacity);
        let now =
            self.text.capacity() + self.spans.capacity() * Self::SPAN + fields * size_of::<Value>();
        let now = if now > LONG { now } else { 0 };
        if now != self.counted {
            meter.add(now);
            meter.sub(self.counted);
            self.counted = now;
        }
    }

    /// Makes a text the record; the fields are found later, by the rule that holds now.
    #[inline]
    pub(super) fn set(&mut self, text: &[u8], splitter: &Rc<Splitter>) {
        self.text.clear();
        self.text.extend_from_slice(text);
        self.begin(splitter);
    }

    /// The same, and tells the meter what the record holds now.
    #[inline]
    pub(super) fn set_counted(&mut self, text: &[u8], splitter: &Rc<Splitter>, meter: &Meter) {
        self.set(text, splitter);
        if self.is_large() {
            self.begin_small(meter);
        }
    }

    /// The same with a text that is there already.
    pub(super) fn set_owned(&mut self, text: Vec<u8>, splitter: &Rc<Splitter>) {
        self.text = text;
        self.begin(splitter);
    }

    #[inline]
    fn begin(&mut self, splitter: &Rc<Splitter>) {
        self.copied = false;
        self.roomy = false;
        self.spans.clear();
        self.at = 0;
        self.done = false;
        self.loose = None;
        self.stale = false;
        if !Rc::ptr_eq(&self.splitter, splitter) {
            self.splitter = Rc::clone(splitter);
        }
    }

    /// Tells whether the text is not what the fields say.
    pub(super) fn stale(&self) -> bool {
        self.stale
    }

    /// Returns the fields if they must be joined to a text.
    pub(super) fn loose(&self) -> Option<&[Value]> {
        self.loose.as_deref()
    }

    /// Takes the joined text.
    pub(super) fn joined(&mut self, text: Vec<u8>) {
        self.text = text;
        self.stale = false;
        self.copied = false;
    }

    /// Takes the text out; [`Record::put_back`] or [`Record::set_owned`] must follow.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// Puts the unchanged text back.
    pub(super) fn put_back(&mut self, text: Vec<u8>) {
        self.text = text;
    }

    /// Returns `$0`; only right if it is not stale.
    pub(super) fn whole(&mut self, meter: &Meter) -> Value {
        if self.text.len() <= SHORT {
            return Value::input(&self.text, meter);
        }
        if let Some(whole) = self.whole.as_ref().filter(|_| self.copied) {
            return Value::LongInput(Rc::clone(whole));
        }
        self.copied = true;
        if let Some(whole) = &mut self.whole
            && let Some(long) = Rc::get_mut(whole)
        {
            long.refill(&self.text);
            return Value::LongInput(Rc::clone(whole));
        }
        let whole = Rc::new(Long::new(self.text.clone(), meter));
        self.whole = Some(Rc::clone(&whole));
        Value::LongInput(whole)
    }

    /// Returns the record's text; only right if it is not stale.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Finds fields up to that number.
    #[inline]
    fn reach(&mut self, sys: &mut dyn System, number: usize) -> Result<(), MatchError> {
        while !self.done && self.spans.len() < number {
            let most = usize::min(number, self.spans.len() + FIELDS);
            self.reach_few(sys, most)?;
            if most < number {
                sys.work_bytes(PIECE)?;
            }
        }
        Ok(())
    }

    /// Finds fields up to a number that is not far.
    #[inline]
    fn reach_few(&mut self, sys: &mut dyn System, number: usize) -> Result<(), MatchError> {
        if let Splitter::Blank = &*self.splitter {
            while !self.done && self.spans.len() < number {
                self.next_blank();
            }
            return Ok(());
        }
        while !self.done && self.spans.len() < number {
            match &*self.splitter {
                Splitter::Byte(byte, false) => {
                    let byte = *byte;
                    self.next_byte(byte);
                }
                _ => {
                    let splitter = Rc::clone(&self.splitter);
                    split(sys, &self.text, &splitter, &mut |span, _| {
                        self.spans.push(span);
                    })?;
                    self.done = true;
                }
            }
        }
        Ok(())
    }

    fn next_blank(&mut self) {
        let mut rest = self.text.get(self.at..).unwrap_or_default();
        while let [first, after @ ..] = rest
            && blank(*first)
        {
            rest = after;
        }
        if rest.is_empty() {
            self.done = true;
            return;
        }
        let start = self.text.len() - rest.len();
        // A byte above a space is never a blank: one comparison settles nearly all of them.
        while let [first, after @ ..] = rest
            && (*first > b' ' || !blank(*first))
        {
            rest = after;
        }
        let end = self.text.len() - rest.len();
        self.spans.push((start, end));
        self.at = end;
    }

    fn next_byte(&mut self, byte: u8) {
        if self.text.is_empty() {
            self.done = true;
            return;
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        match memchr::memchr(byte, rest) {
            Some(len) => {
                self.spans.push((self.at, self.at + len));
                self.at += len + 1;
            }
            None => {
                self.spans.push((self.at, self.text.len()));
                self.done = true;
            }
        }
    }

    /// Returns `NF`.
    pub(super) fn count(&mut self, sys: &mut dyn System) -> Result<usize, MatchError> {
        if let Some(loose) = &self.loose {
            return Ok(loose.len());
        }
        self.reach(sys, usize::MAX)?;
        Ok(self.spans.len())
    }

    /// Returns a field's bytes if it was not assigned; `None` beyond the last one or once fields are loose.
    #[inline]
    pub(super) fn bytes(
        &mut self,
        sys: &mut dyn System,
        number: usize,
    ) -> Result<Option<&[u8]>, MatchError> {
        self.reach(sys, number)?;
        Ok(self
            .spans
            .get(number.wrapping_sub(1))
            .and_then(|(start, end)| self.text.get(*start..*end)))
    }

    /// Returns a field from 1 on.
    #[inline]
    pub(super) fn field(
        &mut self,
        sys: &mut dyn System,
        number: usize,
        meter: &Meter,
    ) -> Result<Value, MatchError> {
        if let Some(loose) = &self.loose {
            return Ok(loose.get(number - 1).cloned().unwrap_or_default());
        }
        Ok(self
            .bytes(sys, number)?
            .map_or(Value::Uninit, |text| Value::input(text, meter)))
    }

    /// Makes the fields values of their own, at least that many; the caller has asked for the memory.
    pub(super) fn loosen(
        &mut self,
        sys: &mut dyn System,
        count: usize,
        meter: &Meter,
    ) -> Result<&mut Vec<Value>, MatchError> {
        if self.loose.is_none() {
            self.reach(sys, usize::MAX)?;
            self.loose = Some(self.values(sys, meter)?);
        }
        self.stale = true;
        let loose = self.loose.get_or_insert_default();
        loose.reserve_exact(count.saturating_sub(loose.len()));
        while loose.len() < count {
            let next = usize::min(count, loose.len() + FIELDS);
            loose.resize(next, Value::Uninit);
            if next < count {
                sys.work_bytes(PIECE)?;
            }
        }
        Ok(loose)
    }

    /// Makes a value of each field.
    fn values(&self, sys: &mut dyn System, meter: &Meter) -> Result<Vec<Value>, MatchError> {
        let mut values = Vec::with_capacity(self.spans.len());
        for spans in self.spans.chunks(FIELDS) {
            values.extend(spans.iter().map(|(start, end)| {
                Value::input(self.text.get(*start..*end).unwrap_or_default(), meter)
            }));
            if spans.len() == FIELDS {
                sys.work_bytes(PIECE)?;
            }
        }
        Ok(values)
    }
}

/// Cuts a text; `found` gets each piece and the separator behind it (empty behind the last).
pub(super) fn split(
    sys: &mut dyn System,
    text: &[u8],
    splitter: &Splitter,
    found: &mut dyn FnMut(Span, Span),
) -> Result<(), MatchError> {
    let end = text.len();
    let mut pace = Pace(PIECE);
    match splitter {
        Splitter::Blank => split_blank(sys, text, found)?,
        Splitter::Byte(..) if text.is_empty() => {}
        Splitter::Byte(byte, newline) => {
            let mut at = 0;
            loop {
                let rest = text.get(at..).unwrap_or_default();
                let next = if *newline {
                    memchr::memchr2(*byte, b'\n', rest)
                } else {
                    memchr::memchr(*byte, rest)
                };
                match next {
                    Some(len) => {
                        found((at, at + len), (at + len, at + len + 1));
                        at += len + 1;
                        pace.reach(sys, at)?;
                    }
                    None => {
                        found((at, end), (end, end));
                        break;
                    }
                }
            }
        }
        Splitter::Chars(utf8) => {
            let mut at = 0;
            while at < end {
                let len = if *utf8 {
                    chars::len(text.get(at..).unwrap_or_default())
                } else {
                    1
                };
                found((at, at + len), (at + len, at + len));
                at += usize::max(len, 1);
                pace.reach(sys, at)?;
            }
        }
        Splitter::Regex(regex, newline) => split_regex(sys, text, regex, *newline, found)?,
        Splitter::Fields(regex) => split_fields(sys, text, regex, found)?,
        Splitter::Widths(widths, utf8) => split_widths(text, widths, *utf8, found),
    }
    Ok(())
}

fn split_blank(
    sys: &mut dyn System,
    text: &[u8],
    found: &mut dyn FnMut(Span, Span),
) -> Result<(), MatchError> {
    let mut pace = Pace(PIECE);
    let mut at = text.iter().take_while(|b| blank(**b)).count();
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let len = rest.iter().position(|b| blank(*b)).unwrap_or(rest.len());
        let gap = rest.iter().skip(len).take_while(|b| blank(**b)).count();
        found((at, at + len), (at + len, at + len + gap));
        at += len + gap;
        pace.reach(sys, at)?;
    }
    Ok(())
}

fn split_regex(
    sys: &mut dyn System,
    text: &[u8],
    regex: &Regex,
    newline: bool,
    found: &mut dyn FnMut(Span, Span),
) -> Result<(), MatchError> {
    if text.is_empty() {
        return Ok(());
    }
    let (mut at, mut from) = (0, 0);
    // What was found before is not looked for again, as long as it is ahead.
    let (mut ahead, mut line): (Option<Option<Span>>, Option<Option<usize>>) = (None, None);
    loop {
        let matched = match ahead.take() {
            Some(Some((start, end))) if start >= from => Some((start, end)),
            Some(None) => None,
            _ => regex.find_at(sys, text, from)?,
        };
        let mut next = matched;
        if newline {
            line = match line {
                Some(Some(place)) if place >= at => Some(Some(place)),
                Some(None) => Some(None),
                _ => Some(newline_at(sys, text, at)?),
            };
            next = match (matched, line.flatten()) {
                (Some(a), Some(b)) if b < a.0 => Some((b, b + 1)),
                (None, Some(b)) => Some((b, b + 1)),
                (next, _) => next,
            };
            ahead = Some(matched).filter(|_| next != matched);
        }
        match next {
            // An empty match separates nothing.
            Some((start, end)) if start == end => {
                from = end + chars::len(text.get(end..).unwrap_or_default()).max(1);
            }
            Some((start, end)) => {
                found((at, start), (start, end));
                at = end;
                from = end;
            }
            None => break,
        }
        if from > text.len() {
            break;
        }
    }
    found((at, text.len()), (text.len(), text.len()));
    Ok(())
}

/// Finds a newline, in pieces.
fn newline_at(sys: &mut dyn System, text: &[u8], from: usize) -> Result<Option<usize>, MatchError> {
    let mut at = from;
    for piece in text.get(from..).unwrap_or_default().chunks(1 << 15) {
        sys.work(u32::try_from(piece.len() >> 10).unwrap_or(0))?;
        if let Some(found) = memchr::memchr(b'\n', piece) {
            return Ok(Some(at + found));
        }
        at += piece.len();
    }
    Ok(None)
}

/// Finds what looks like a field; the separators are what is between.
fn split_fields(
    sys: &mut dyn System,
    text: &[u8],
    regex: &Regex,
    found: &mut dyn FnMut(Span, Span),
) -> Result<(), MatchError> {
    let mut fields: Vec<Span> = Vec::new();
    let mut at = 0;
    let mut last_end = None;
    while at <= text.len() {
        let Some((start, end)) = regex.find_at(sys, text, at)? else {
            break;
        };
        // An empty match right behind a field belongs to the separator.
        if start == end && last_end == Some(start) {
            at = start + chars::len(text.get(start..).unwrap_or_default()).max(1);
            last_end = None;
            continue;
        }
        fields.push((start, end));
        last_end = Some(end);
        at = if start == end {
            last_end = None;
            end + chars::len(text.get(end..).unwrap_or_default()).max(1)
        } else {
            end
        };
    }
    for (index, span) in fields.iter().enumerate() {
        let next = fields.get(index + 1).map_or(text.len(), |next| next.0);
        found(*span, (span.1, next));
    }
    Ok(())
}

fn split_widths(
    text: &[u8],
    widths: &[(usize, usize)],
    utf8: bool,
    found: &mut dyn FnMut(Span, Span),
) {
    let mut at = 0;
    for (skip, take) in widths {
        let rest = text.get(at..).unwrap_or_default();
        let start = at + chars::offset(rest, *skip, utf8);
        if start >= text.len() {
            break;
        }
        let len = chars::offset(text.get(start..).unwrap_or_default(), *take, utf8);
        found((start, start + len), (start + len, start + len));
        at = start + len;
    }
}
