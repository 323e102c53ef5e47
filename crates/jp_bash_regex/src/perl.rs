//! Reads Perl patterns (`grep -P`, jq) into our tree: look-around, lazy repeats, atomic groups, `\K`, calls.
//!
//! The syntax is fancy-regex's parser's; what matches them is ours, so that every step is announced.

use std::sync::Arc;

use fancy_regex::{Absent, Assertion, BacktrackingControlVerb as Verb, Expr, LookAround};
use regex_automata::util::look::Look;
use regex_syntax::hir::{Class, HirKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Flags;
use super::error::RegexError;
use super::meter::Meter;
use super::node::{Node, Special};
use super::set::{self, Set};

/// The largest pattern; what is made of one is a multiple of it.
const MAX_PATTERN: usize = 64 << 10;
/// About what the parser makes of a byte.
const PARSED: usize = 128;
/// The largest count of a repeat.
const MAX_COUNT: usize = 65_535;

/// What was read.
pub(super) struct Read {
    pub(super) node: Node,
    /// The names of the groups, from 1 on.
    pub(super) names: Vec<Option<String>>,
}

/// Reads a pattern.
pub(super) fn read(
    pattern: &[u8],
    flags: Flags,
    meter: &mut Meter<'_>,
) -> Result<Read, RegexError> {
    if pattern.len() > MAX_PATTERN {
        return Err(RegexError::TooBig);
    }
    let pattern = std::str::from_utf8(pattern)
        .map_err(|_| RegexError::Perl("the pattern is not valid UTF-8".to_owned()))?;
    let before = meter.held();
    meter.reserve(pattern.len() * PARSED)?;
    meter.steps(pattern.len())?;
    let modes = match (flags.ignore_case, flags.newline) {
        (false, false) => "",
        (true, false) => "(?i)",
        (false, true) => "(?m)",
        (true, true) => "(?im)",
    };
    let tree = Expr::parse_tree(&format!("{modes}{pattern}"))
        .map_err(|error| RegexError::Perl(message(&error.to_string())))?;
    let mut lower = Lower {
        flags,
        meter,
        groups: 0,
        referred: 0,
        sets: FxHashMap::default(),
        ranges: MAX_RANGES,
    };
    let node = lower.node(&tree.expr)?;
    let (groups, referred) = (lower.groups, lower.referred);
    if referred > groups {
        return Err(wrong("reference to non-existent subpattern"));
    }
    let mut names = vec![None; groups as usize];
    for (name, index) in &tree.named_groups {
        if let Some(place) = index.checked_sub(1).and_then(|index| names.get_mut(index)) {
            *place = Some(name.clone());
        }
    }
    drop(tree);
    meter.release_to(before);
    meter.reserve(pattern.len() * 16)?;
    Ok(Read { node, names })
}

/// The most ranges of characters in all classes.
const MAX_RANGES: usize = 1_000_000;

fn wrong(text: &str) -> RegexError {
    RegexError::Perl(text.to_owned())
}

struct Lower<'l, 'm> {
    flags: Flags,
    meter: &'l mut Meter<'m>,
    groups: u32,
    /// The highest group that something refers to.
    referred: u32,
    sets: FxHashMap<(String, bool), Node>,
    ranges: usize,
}

impl Lower<'_, '_> {
    fn node(&mut self, expr: &Expr) -> Result<Node, RegexError> {
        self.meter.steps(1)?;
        Ok(match expr {
            Expr::Empty => Node::Empty,
            Expr::Any { newline, crlf } => self.any(*newline, *crlf)?,
            Expr::Assertion(assertion) => self.assertion(*assertion),
            Expr::GeneralNewline { unicode } => self.newline(*unicode)?,
            Expr::Literal { val, casei } => self.literal(val, *casei)?,
            Expr::Concat(parts) => Node::Concat(self.nodes(parts)?),
            Expr::Alt(parts) => Node::Alt(self.nodes(parts)?),
            Expr::Group(inner) => {
                self.groups += 1;
                let index = self.groups;
                let node = Box::new(self.node(inner)?);
                Node::Group { index, node }
            }
            Expr::Repeat {
                child,
                lo,
                hi,
                greedy,
            } => self.repeat(child, *lo, *hi, *greedy)?,
            Expr::Delegate { inner, casei } => self.class(inner, *casei)?,
            other => Node::Special(Box::new(self.special(other)?)),
        })
    }

    fn nodes(&mut self, parts: &[Expr]) -> Result<Vec<Node>, RegexError> {
        parts.iter().map(|part| self.node(part)).collect()
    }

    fn special(&mut self, expr: &Expr) -> Result<Special, RegexError> {
        Ok(match expr {
            Expr::LookAround(inner, kind) => self.around(inner, *kind)?,
            Expr::AtomicGroup(inner) => Special::Atomic(self.node(inner)?),
            Expr::Backref { group, casei } => Special::BackRef {
                index: self.refer(*group)?,
                fold: *casei,
            },
            Expr::SubroutineCall(group) => Special::Call(self.refer(*group)?),
            Expr::KeepOut => Special::Keep,
            Expr::ContinueFromPreviousMatchEnd => Special::SearchStart,
            Expr::Assertion(Assertion::EndTextIgnoreTrailingNewlines { .. }) => Special::LastLine,
            Expr::Conditional {
                condition,
                true_branch,
                false_branch,
            } => return self.condition(condition, true_branch, false_branch),
            Expr::BackrefExistsCondition {
                group,
                relative_recursion_level: None,
            } => Special::If {
                group: self.refer(*group)?,
                yes: Node::Empty,
                no: Node::Special(Box::new(Special::Fail)),
            },
            Expr::BacktrackingControlVerb(Verb::Fail) => Special::Fail,
            Expr::DefineGroup { definitions } => Special::Define(self.node(definitions)?),
            Expr::BacktrackingControlVerb(_) => {
                return Err(wrong("backtracking control verbs are not supported"));
            }
            Expr::Absent(Absent::Repeater(_) | _) => {
                return Err(wrong("absent operators are not supported"));
            }
            Expr::BackrefWithRelativeRecursionLevel { .. }
            | Expr::BackrefExistsCondition { .. } => {
                return Err(wrong("references to levels of recursion are not supported"));
            }
            _ => return Err(wrong("reference to non-existent subpattern")),
        })
    }

    fn refer(&mut self, group: usize) -> Result<u32, RegexError> {
        let group =
            u32::try_from(group).map_err(|_| wrong("reference to non-existent subpattern"))?;
        self.referred = u32::max(self.referred, group);
        Ok(group)
    }

    fn condition(
        &mut self,
        condition: &Expr,
        yes: &Expr,
        no: &Expr,
    ) -> Result<Special, RegexError> {
        if let Expr::BackrefExistsCondition {
            group,
            relative_recursion_level: None,
        } = condition
        {
            return Ok(Special::If {
                group: self.refer(*group)?,
                yes: self.node(yes)?,
                no: self.node(no)?,
            });
        }
        let condition = self.node(condition)?;
        let otherwise = Special::Around {
            branches: vec![(0, condition.clone())],
            negative: true,
        };
        let yes = vec![
            Node::Special(Box::new(Special::Atomic(condition))),
            self.node(yes)?,
        ];
        let no = vec![Node::Special(Box::new(otherwise)), self.node(no)?];
        // Not atomic itself: the branches may be tried in other ways.
        Ok(Special::Either(Node::Alt(vec![
            Node::Concat(yes),
            Node::Concat(no),
        ])))
    }

    fn around(&mut self, inner: &Expr, kind: LookAround) -> Result<Special, RegexError> {
        let (behind, negative) = match kind {
            LookAround::LookAhead => (false, false),
            LookAround::LookAheadNeg => (false, true),
            LookAround::LookBehind => (true, false),
            LookAround::LookBehindNeg => (true, true),
        };
        let node = self.node(inner)?;
        let branches = match (behind, node) {
            (false, node) => vec![(0, node)],
            (true, Node::Alt(nodes)) => {
                nodes.into_iter().map(behind_of).collect::<Result<_, _>>()?
            }
            (true, node) => vec![behind_of(node)?],
        };
        Ok(Special::Around { branches, negative })
    }

    fn repeat(
        &mut self,
        child: &Expr,
        lo: usize,
        hi: usize,
        greedy: bool,
    ) -> Result<Node, RegexError> {
        let node = Box::new(self.node(child)?);
        if lo > MAX_COUNT || hi > MAX_COUNT && hi != usize::MAX {
            return Err(wrong("number too big in {} quantifier"));
        }
        if hi == 0 {
            return Ok(Node::Empty);
        }
        Ok(Node::Repeat {
            node,
            min: u32::try_from(lo).unwrap_or(u32::MAX),
            max: u32::try_from(hi).ok().filter(|_| hi != usize::MAX),
            greedy,
        })
    }

    fn assertion(&self, assertion: Assertion) -> Node {
        let pick = |unicode: Look, ascii: Look| if self.flags.utf8 { unicode } else { ascii };
        Node::Look(match assertion {
            Assertion::StartText => Look::Start,
            Assertion::EndText => Look::End,
            Assertion::EndTextIgnoreTrailingNewlines { .. } => {
                return Node::Special(Box::new(Special::LastLine));
            }
            Assertion::StartLine { crlf } | Assertion::StartLineOniguruma { crlf } => match crlf {
                true => Look::StartCRLF,
                false => Look::StartLF,
            },
            Assertion::EndLine { crlf: true } => Look::EndCRLF,
            Assertion::EndLine { crlf: false } => Look::EndLF,
            Assertion::LeftWordBoundary => pick(Look::WordStartUnicode, Look::WordStartAscii),
            Assertion::LeftWordHalfBoundary => {
                pick(Look::WordStartHalfUnicode, Look::WordStartHalfAscii)
            }
            Assertion::RightWordBoundary => pick(Look::WordEndUnicode, Look::WordEndAscii),
            Assertion::RightWordHalfBoundary => {
                pick(Look::WordEndHalfUnicode, Look::WordEndHalfAscii)
            }
            Assertion::WordBoundary => pick(Look::WordUnicode, Look::WordAscii),
            Assertion::NotWordBoundary => pick(Look::WordUnicodeNegate, Look::WordAsciiNegate),
        })
    }

    fn any(&mut self, newline: bool, crlf: bool) -> Result<Node, RegexError> {
        let inner = match (newline, crlf) {
            (true, _) => "(?s:.)",
            (false, true) => "[^\\r\\n]",
            (false, false) => "[^\\n]",
        };
        self.class(inner, false)
    }

    fn newline(&mut self, unicode: bool) -> Result<Node, RegexError> {
        let single = match unicode && self.flags.utf8 {
            true => "[\\n\\x0b\\f\\r\\x{85}\\x{2028}\\x{2029}]",
            false => "[\\n\\x0b\\f\\r]",
        };
        let both = self.literal("\r\n", false)?;
        let either = Node::Alt(vec![both, self.class(single, false)?]);
        Ok(Node::Special(Box::new(Special::Atomic(either))))
    }

    fn literal(&mut self, text: &str, fold: bool) -> Result<Node, RegexError> {
        let mut nodes = Vec::new();
        for c in text.chars() {
            self.meter.steps(1)?;
            let mut buf = [0; 4];
            let bytes = c.encode_utf8(&mut buf).as_bytes();
            match (fold, self.flags.utf8) {
                // As a class, so that all paths move by whole characters.
                (true, true) | (false, true) if fold || !c.is_ascii() => {
                    nodes.push(self.kept(Class::Unicode(set::of_char(c, fold)))?);
                }
                (true, false) if c.is_ascii_alphabetic() => {
                    let (low, up) = (c.to_ascii_lowercase(), c.to_ascii_uppercase());
                    let [low, up] = [low, up].map(|c| u8::try_from(c).unwrap_or(0));
                    nodes.push(self.kept(Class::Bytes(set::bytes(&[(up, up), (low, low)])))?);
                }
                (_, true) => nodes.push(Node::Literal(SmallVec::from_slice(bytes))),
                (_, false) => nodes.extend(
                    bytes
                        .iter()
                        .map(|byte| Node::Literal(SmallVec::from_slice(&[*byte]))),
                ),
            }
        }
        Ok(match nodes.len() {
            1 => nodes.pop().unwrap_or(Node::Empty),
            _ => Node::Concat(nodes),
        })
    }

    /// Reads a class of one character.
    fn class(&mut self, inner: &str, fold: bool) -> Result<Node, RegexError> {
        let key = (inner.to_owned(), fold);
        if let Some(node) = self.sets.get(&key) {
            return Ok(node.clone());
        }
        self.meter.steps(1024)?;
        let parse = |unicode: bool| {
            regex_syntax::ParserBuilder::new()
                .utf8(false)
                .unicode(unicode)
                .case_insensitive(fold)
                .build()
                .parse(inner)
        };
        // Properties are only known of characters.
        let parsed = parse(self.flags.utf8).or_else(|_| parse(true));
        let parsed = parsed.map_err(|error| wrong(&message(&error.to_string())))?;
        let node = match parsed.into_kind() {
            HirKind::Class(class) => self.kept(class)?,
            HirKind::Literal(text) => match std::str::from_utf8(&text.0) {
                Ok(text) => self.literal(text, false)?,
                Err(_) => Node::Literal(SmallVec::from_slice(&text.0)),
            },
            _ => return Err(wrong("a class of this kind is not supported")),
        };
        self.sets.insert(key, node.clone());
        Ok(node)
    }

    /// Makes a node of a class; what it holds is counted.
    fn kept(&mut self, class: Class) -> Result<Node, RegexError> {
        let set = Set::new(class);
        self.ranges = self
            .ranges
            .checked_sub(set.len())
            .ok_or(RegexError::TooBig)?;
        self.meter.reserve(set.len() * 16)?;
        Ok(Node::Class(Arc::new(set)))
    }
}

/// Returns an alternative of a look-behind with how far it goes back.
fn behind_of(node: Node) -> Result<(u32, Node), RegexError> {
    match width(&node) {
        Some(width) => Ok((width, node)),
        None => Err(wrong("lookbehind assertion is not fixed length")),
    }
}

/// Returns how many characters a node matches, if that is one number.
fn width(node: &Node) -> Option<u32> {
    match node {
        Node::Empty | Node::Look(_) => Some(0),
        Node::Literal(_) | Node::Class(_) => Some(1),
        Node::Group { node, .. } => width(node),
        Node::Concat(nodes) => nodes
            .iter()
            .try_fold(0_u32, |sum, node| sum.checked_add(width(node)?)),
        Node::Alt(nodes) => {
            let mut widths = nodes.iter().map(width);
            let first = widths.next()??;
            widths.all(|width| width == Some(first)).then_some(first)
        }
        Node::Repeat { node, min, max, .. } if *max == Some(*min) => width(node)?.checked_mul(*min),
        Node::Repeat { .. } | Node::BackRef(_) => None,
        Node::Special(special) => match &**special {
            Special::Atomic(node) | Special::Either(node) => width(node),
            Special::Around { .. }
            | Special::Keep
            | Special::SearchStart
            | Special::LastLine
            | Special::Define(_)
            | Special::Fail => Some(0),
            Special::If { yes, no, .. } => width(yes).filter(|yes| width(no) == Some(*yes)),
            Special::BackRef { .. } | Special::Call(_) => None,
        },
    }
}

/// Says what is wrong in PCRE's words, where the cause is a common one.
fn message(text: &str) -> String {
    let known = [
        ("Opening parenthesis without", "missing closing parenthesis"),
        (
            "Target of repeat",
            "quantifier does not follow a repeatable item",
        ),
        ("Backslash without", "\\ at end of pattern"),
        (
            "Invalid character class",
            "missing terminating ] for character class",
        ),
        (
            "Invalid back reference",
            "reference to non-existent subpattern",
        ),
        (
            "not constant size",
            "lookbehind assertion is not fixed length",
        ),
    ];
    let found = known.iter().find(|(part, _)| text.contains(part));
    found.map_or_else(|| text.to_owned(), |(_, pcre)| (*pcre).to_owned())
}
