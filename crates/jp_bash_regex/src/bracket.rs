//! Reads bracket expressions: `[a-z]`, `[^[:space:]]`, `[[.a.]-[=b=]]`.

use std::sync::Arc;

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};
use smallvec::SmallVec;

use super::Dialect;
use super::error::RegexError;
use super::node::Node;
use super::parse::Parser;
use super::set::{self, Set};

/// One member.
enum Element {
    /// A character (its code, or its byte) that may begin or end a range.
    One(u32),
    /// A named class: no range.
    Class(Vec<u8>),
    /// A byte that is no character in UTF-8: matches nothing.
    Nothing,
}

impl Parser<'_, '_> {
    /// Reads the rest of a bracket expression; the opening bracket is behind us.
    pub(super) fn bracket(&mut self) -> Result<Node, RegexError> {
        let open = self.at;
        let negated = self.byte(0) == Some(b'^');
        if negated {
            self.at += 1;
        }
        let mut members = Members::new(self.flags.utf8);
        let mut first = true;
        loop {
            match self.byte(0) {
                None if first => {
                    return Err(RegexError::Invalid);
                }
                None => return Err(RegexError::UnmatchedBracket),
                Some(b']') if !first => {
                    self.at += 1;
                    break;
                }
                Some(_) => {}
            }
            self.member(&mut members, first)?;
            first = false;
        }
        self.check_class_syntax(open)?;
        self.finish(members, negated)
    }

    /// GNU grep refuses `[:space:]`, which nobody means.
    fn check_class_syntax(&self, open: usize) -> Result<(), RegexError> {
        let inside = self.text.get(open..self.at - 1).unwrap_or_default();
        let looks = inside.len() > 2
            && inside.first() == inside.last()
            && matches!(inside.first(), Some(b':'));
        if looks && self.flags.dialect == Dialect::Grep {
            return Err(RegexError::ClassSyntax);
        }
        Ok(())
    }

    fn member(&mut self, members: &mut Members, first: bool) -> Result<(), RegexError> {
        let hyphen = self.byte(0) == Some(b'-');
        if hyphen && !first && self.byte(1) != Some(b']') && self.flags.dialect != Dialect::Grep {
            // After a range or a class, as in `[a-z-9]`: glibc calls that a bad range.
            if self.byte(1) != Some(b'-') || self.byte(2) != Some(b'-') {
                return Err(RegexError::RangeEnd);
            }
        }
        self.one_more()?;
        let low = self.element()?;
        let ranged = self.byte(0) == Some(b'-') && !matches!(self.byte(1), Some(b']'));
        if !ranged {
            return members.add(low);
        }
        if self.byte(1).is_none() {
            return Err(RegexError::UnmatchedBracket);
        }
        self.at += 1;
        let high = self.element()?;
        match (low, high) {
            (Element::One(low), Element::One(high)) if low <= high => {
                members.ranges.push((low, high));
                Ok(())
            }
            (Element::Nothing, _) | (_, Element::Nothing) => Ok(()),
            _ => Err(RegexError::RangeEnd),
        }
    }

    fn element(&mut self) -> Result<Element, RegexError> {
        let Some(byte) = self.byte(0) else {
            return Err(RegexError::UnmatchedBracket);
        };
        match (byte, self.byte(1)) {
            (b'[', Some(kind @ (b':' | b'.' | b'='))) => self.bracketed(kind),
            (b'\\', Some(_)) if self.flags.dialect == Dialect::Awk => {
                self.at += 1;
                Ok(self.one())
            }
            _ => Ok(self.one()),
        }
    }

    fn one(&mut self) -> Element {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let (element, len) = one_of(rest, self.flags.utf8);
        self.at += len;
        element
    }

    /// Reads `[:name:]`, `[.x.]` or `[=x=]`.
    fn bracketed(&mut self, kind: u8) -> Result<Element, RegexError> {
        let rest = self.text.get(self.at + 2..).unwrap_or_default();
        let end = memchr::memmem::find(rest, &[kind, b']']);
        let Some(end) = end else {
            // An open class is the bracket's own error, unless nothing closes anything.
            return Err(RegexError::UnmatchedBracket);
        };
        let name = rest.get(..end).unwrap_or_default();
        self.at += 2 + end + 2;
        if kind == b':' {
            return Ok(Element::Class(name.to_vec()));
        }
        match one_of(name, self.flags.utf8) {
            (element, len) if len == name.len() && len > 0 => Ok(element),
            _ => Err(RegexError::Collation),
        }
    }

    fn finish(&mut self, members: Members, negated: bool) -> Result<Node, RegexError> {
        let single = members.single().filter(|_| !negated);
        if let Some(code) = single
            && !self.flags.ignore_case
            && self.flags.lines.map(u32::from) != Some(code)
        {
            // `[.]` is how many people escape: as a literal it gets the fast searches.
            return Ok(Node::Literal(encode(code, self.flags.utf8)));
        }
        let mut class = members.class(self.flags.ignore_case);
        if negated {
            class.negate();
            if self.flags.newline {
                set::remove(&mut class, b'\n');
            }
        }
        if let Some(end) = self.flags.lines {
            set::remove(&mut class, end);
        }
        let set = Set::new(class);
        self.more_ranges(set.len())?;
        Ok(Node::Class(Arc::new(set)))
    }
}

fn one_of(rest: &[u8], utf8: bool) -> (Element, usize) {
    match rest.first() {
        None => (Element::Nothing, 0),
        Some(byte) if !utf8 => (Element::One(u32::from(*byte)), 1),
        Some(_) => match set::decode(rest) {
            Some((c, len)) => (Element::One(u32::from(c)), len),
            None => (Element::Nothing, 1),
        },
    }
}

fn encode(code: u32, utf8: bool) -> SmallVec<[u8; 8]> {
    match (utf8, char::from_u32(code), u8::try_from(code)) {
        (true, Some(c), _) => SmallVec::from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        (_, _, Ok(byte)) => SmallVec::from_slice(&[byte]),
        _ => SmallVec::new(),
    }
}

/// The set as it grows. Joined only at the end: a set puts itself in order at every change.
struct Members {
    utf8: bool,
    ranges: Vec<(u32, u32)>,
    names: Vec<Vec<u8>>,
}

impl Members {
    fn new(utf8: bool) -> Self {
        Self {
            utf8,
            ranges: Vec::new(),
            names: Vec::new(),
        }
    }

    fn single(&self) -> Option<u32> {
        match (self.ranges.as_slice(), self.names.is_empty()) {
            ([(low, high)], true) if low == high => Some(*low),
            _ => None,
        }
    }

    fn add(&mut self, element: Element) -> Result<(), RegexError> {
        match element {
            Element::One(code) => self.ranges.push((code, code)),
            Element::Nothing => {}
            Element::Class(name) if self.names.contains(&name) => {}
            Element::Class(name) => {
                set::named_bytes(&name).ok_or(RegexError::ClassName)?;
                self.names.push(name);
            }
        }
        Ok(())
    }

    fn class(&self, fold: bool) -> Class {
        // With case ignored, `[[:upper:]]` is any letter that has cases.
        let names = self.names.iter().map(Vec::as_slice);
        if self.utf8 {
            let mut set = ClassUnicode::new(self.ranges.iter().map(|&(low, high)| {
                // A range may span the surrogates, which are no characters.
                let low = char::from_u32(low).unwrap_or('\u{e000}');
                let high = char::from_u32(high).unwrap_or('\u{d7ff}');
                ClassUnicodeRange::new(low, high)
            }));
            for name in names {
                set.union(&set::named_unicode(name).unwrap_or_else(ClassUnicode::empty));
            }
            if fold {
                set::fold_unicode(&mut set);
            }
            Class::Unicode(set)
        } else {
            let mut set = ClassBytes::new(self.ranges.iter().map(|&(low, high)| {
                let low = u8::try_from(low).unwrap_or(u8::MAX);
                let high = u8::try_from(high).unwrap_or(u8::MAX);
                ClassBytesRange::new(low, high)
            }));
            for name in names {
                set.union(&set::named_bytes(name).unwrap_or_else(ClassBytes::empty));
            }
            if fold {
                set.case_fold_simple();
            }
            Class::Bytes(set)
        }
    }
}
