//! From a pattern's text to its nodes.

use crate::pattern::set::{Class, Set};
use crate::pattern::{LONG, Node, Pattern, PatternOptions, decode};

/// The deepest nesting of `@(…)`; deeper parentheses stand for themselves.
const MAX_DEPTH: u32 = 100;

/// Tells whether a pattern has no special character, so that its text is all there is to it.
pub(crate) fn is_plain(text: &[u8], options: PatternOptions) -> bool {
    if options.fold {
        return false;
    }
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'*' | b'?' | b'[' => return false,
            b'(' if options.extglob => return false,
            _ => {}
        }
    }
    true
}

pub(crate) fn compile(text: &[u8], options: PatternOptions) -> Pattern {
    // Nothing but a long text needs no nodes.
    if text.len() > LONG && is_plain(text, options) {
        return Pattern {
            nodes: Vec::new(),
            literal: Some(unescape(text)),
            beside_star: None,
            extended: false,
            options,
        };
    }
    let chars: Vec<u32> = if options.utf8 {
        decode(text).0
    } else {
        text.iter().map(|byte| u32::from(*byte)).collect()
    };
    let mut reader = Reader {
        closes: closes(&chars, options.extglob),
        last_bracket: chars.iter().rposition(|c| *c == u32::from(b']')),
        chars,
        at: 0,
        special: false,
        extended: false,
    };
    let end = reader.chars.len();
    let nodes = reader.sequence(end, 0);
    let literal = (!reader.special).then(|| unescape(text));
    Pattern {
        beside_star: beside_star(&nodes).filter(|_| !options.fold),
        nodes,
        literal,
        extended: reader.extended,
        options,
    }
}

/// Returns the ASCII text that a pattern has beside its one star, at its beginning or end.
fn beside_star(nodes: &[Node]) -> Option<Vec<u8>> {
    let ([Node::Star, rest @ ..] | [rest @ .., Node::Star]) = nodes else {
        return None;
    };
    let chars = rest.iter().map(|node| match node {
        Node::Char(c) if *c < 0x80 => u8::try_from(*c).ok(),
        _ => None,
    });
    chars.collect()
}

/// Removes backslashes, each of which quotes the next byte; a last one stands for itself.
pub(crate) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => plain.push(*bytes.next().unwrap_or(&b'\\')),
            byte => plain.push(*byte),
        }
    }
    plain
}

/// For each `(`, where its `)` is: found in one pass, so that unclosed ones cost nothing more.
fn closes(chars: &[u32], extglob: bool) -> Vec<usize> {
    if !extglob || !chars.contains(&u32::from(b'(')) {
        return Vec::new();
    }
    let mut found = vec![usize::MAX; chars.len()];
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(c) = chars
        .get(at)
        .and_then(|c| u8::try_from(*c).ok().or(Some(0)))
    {
        match c {
            b'\\' => at += 1,
            b'[' => {
                if let Some(end) = bracket_end(chars, at)
                    && chars.get(at..end).is_some_and(|inside| {
                        !inside.contains(&u32::from(b'(')) || inside.len() < 64
                    })
                {
                    at = end;
                }
            }
            b'(' => open.push(at),
            b')' => {
                if let Some(start) = open.pop()
                    && let Some(slot) = found.get_mut(start)
                {
                    *slot = at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns where the bracket expression that starts here ends; looks only a little way ahead.
fn bracket_end(chars: &[u32], start: usize) -> Option<usize> {
    let mut at = start + 1;
    if matches!(chars.get(at).copied(), Some(c) if c == u32::from(b'!') || c == u32::from(b'^')) {
        at += 1;
    }
    let first = at;
    while at < start + 4096 {
        let c = *chars.get(at)?;
        if c == u32::from(b'\\') {
            at += 1;
        } else if c == u32::from(b']') && at > first {
            return Some(at);
        } else if c == u32::from(b'[')
            && chars
                .get(at + 1)
                .is_some_and(|c| [b':', b'=', b'.'].iter().any(|k| u32::from(*k) == *c))
        {
            let kind = *chars.get(at + 1)?;
            let inner = (at + 2..chars.len().min(at + 32)).find(|i| {
                chars.get(*i) == Some(&kind) && chars.get(*i + 1) == Some(&u32::from(b']'))
            });
            if let Some(inner) = inner {
                at = inner + 1;
            }
        }
        at += 1;
    }
    None
}

struct Reader {
    chars: Vec<u32>,
    closes: Vec<usize>,
    last_bracket: Option<usize>,
    at: usize,
    special: bool,
    extended: bool,
}

impl Reader {
    fn byte(&self, at: usize) -> Option<u8> {
        self.chars
            .get(at)
            .map(|c| u8::try_from(*c).ok().filter(u8::is_ascii).unwrap_or(0))
    }

    fn sequence(&mut self, end: usize, depth: u32) -> Vec<Node> {
        let mut nodes = Vec::new();
        while self.at < end {
            let node = self.node(end, depth);
            // `**` matches what `*` does.
            if !(node == Node::Star && nodes.last() == Some(&Node::Star)) {
                nodes.push(node);
            }
        }
        nodes
    }

    fn node(&mut self, end: usize, depth: u32) -> Node {
        let c = self.chars.get(self.at).copied().unwrap_or(0);
        let byte = self.byte(self.at).unwrap_or(0);
        if let Some(close) = self.extended_close(byte, end, depth) {
            return self.extended(byte, close, depth);
        }
        self.at += 1;
        match byte {
            b'*' => {
                self.special = true;
                Node::Star
            }
            b'?' => {
                self.special = true;
                Node::Any
            }
            b'[' => match self.set(end) {
                Some(set) => {
                    self.special = true;
                    Node::Set(Box::new(set))
                }
                None => Node::Char(c),
            },
            b'\\' if self.at < end => {
                let quoted = self.chars.get(self.at).copied().unwrap_or(0);
                self.at += 1;
                Node::Char(quoted)
            }
            _ => Node::Char(c),
        }
    }

    fn extended_close(&self, byte: u8, end: usize, depth: u32) -> Option<usize> {
        if !matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!') || depth >= MAX_DEPTH {
            return None;
        }
        self.closes
            .get(self.at + 1)
            .copied()
            .filter(|close| *close < end)
    }

    fn extended(&mut self, kind: u8, close: usize, depth: u32) -> Node {
        self.special = true;
        self.extended = true;
        self.at += 2;
        let mut alternatives = Vec::new();
        loop {
            let bar = self.bar(close);
            alternatives.push(self.sequence(bar, depth + 1));
            self.at = bar + 1;
            if bar >= close {
                return Node::Ext(kind, alternatives);
            }
        }
    }

    /// Returns where the alternative that starts here ends.
    fn bar(&self, close: usize) -> usize {
        let mut at = self.at;
        while at < close {
            match self.byte(at) {
                Some(b'\\') => at += 1,
                Some(b'(') => {
                    if let Some(end) = self.closes.get(at).filter(|end| **end < close) {
                        at = *end;
                    }
                }
                Some(b'[') => {
                    if let Some(end) = bracket_end(&self.chars, at).filter(|end| *end < close) {
                        at = end;
                    }
                }
                Some(b'|') => return at,
                _ => {}
            }
            at += 1;
        }
        close
    }

    /// Reads a bracket expression behind its `[`; none if it does not end.
    fn set(&mut self, end: usize) -> Option<Set> {
        if self.last_bracket.is_none_or(|last| last < self.at) {
            return None;
        }
        let start = self.at;
        let set = self.set_items(end);
        if set.is_none() {
            self.at = start;
        }
        set
    }

    fn set_items(&mut self, end: usize) -> Option<Set> {
        let mut set = Set::default();
        if matches!(self.byte(self.at), Some(b'!' | b'^')) {
            set.negated = true;
            self.at += 1;
        }
        let first = self.at;
        loop {
            if self.at >= end {
                return None;
            }
            let byte = self.byte(self.at)?;
            if byte == b']' && self.at > first {
                self.at += 1;
                return Some(set);
            }
            if byte == b'['
                && let Some((kind, name)) = self.named(end)
            {
                if kind == b':' {
                    // An unknown class matches nothing.
                    set.classes.extend(Class::named(&name));
                    continue;
                }
                let c = self.collating(&name);
                self.range(&mut set, c, end)?;
                continue;
            }
            let c = self.set_char(end)?;
            self.range(&mut set, c, end)?;
        }
    }

    /// Adds a character, or the range it starts.
    fn range(&mut self, set: &mut Set, from: u32, end: usize) -> Option<()> {
        let dash = self.byte(self.at) == Some(b'-');
        if !dash || self.byte(self.at + 1) == Some(b']') || self.at + 1 >= end {
            set.ranges.push((from, from));
            return Some(());
        }
        self.at += 1;
        let to = if self.byte(self.at) == Some(b'[')
            && let Some((kind, name)) = self.named(end)
            && kind != b':'
        {
            self.collating(&name)
        } else {
            self.set_char(end)?
        };
        // A range that runs backwards matches nothing.
        if from <= to {
            set.ranges.push((from, to));
        }
        Some(())
    }

    fn collating(&self, name: &[u8]) -> u32 {
        match name {
            [one] => u32::from(*one),
            b"hyphen" | b"hyphen-minus" => u32::from(b'-'),
            b"space" => u32::from(b' '),
            b"slash" | b"solidus" => u32::from(b'/'),
            b"period" | b"full-stop" => u32::from(b'.'),
            _ => u32::MAX,
        }
    }

    fn set_char(&mut self, end: usize) -> Option<u32> {
        if self.byte(self.at) == Some(b'\\') && self.at + 1 < end {
            self.at += 1;
        }
        let c = *self.chars.get(self.at).filter(|_| self.at < end)?;
        self.at += 1;
        Some(c)
    }

    /// Reads `[:name:]`, `[=c=]` or `[.c.]`.
    fn named(&mut self, end: usize) -> Option<(u8, Vec<u8>)> {
        let kind = self
            .byte(self.at + 1)
            .filter(|kind| matches!(kind, b':' | b'=' | b'.'))?;
        let start = self.at + 2;
        let close = (start..end.min(start + 32)).find(|at| {
            self.byte(*at) == Some(kind) && self.byte(*at + 1) == Some(b']') && *at + 1 < end
        })?;
        let name: Vec<u8> = self
            .chars
            .get(start..close)?
            .iter()
            .map(|c| u8::try_from(*c).unwrap_or(0))
            .collect();
        if name.is_empty() {
            return None;
        }
        self.at = close + 2;
        Some((kind, name))
    }
}
