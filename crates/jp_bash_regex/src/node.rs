//! A pattern as a tree, whatever its syntax was, and what can be told from the tree alone.

use std::sync::Arc;

use regex_automata::util::look::Look;
use smallvec::SmallVec;

use super::set::Set;

/// A part of a pattern. Nesting is bounded by the parser, so plain recursion is safe.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Empty,
    /// One character.
    Literal(SmallVec<[u8; 8]>),
    Class(Arc<Set>),
    Look(Look),
    Group {
        index: u32,
        node: Box<Node>,
    },
    BackRef(u32),
    Concat(Vec<Node>),
    Alt(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        /// More turns are preferred to fewer.
        greedy: bool,
    },
    /// What only Perl patterns have.
    Special(Box<Special>),
}

/// What no automaton can decide.
#[derive(Debug, Clone)]
pub(crate) enum Special {
    /// A part that is not tried another way once it has matched.
    Atomic(Node),
    /// A part that must match, or not, around here; each alternative after going back by so many characters.
    Around {
        branches: Vec<(u32, Node)>,
        negative: bool,
    },
    /// One part or the other, by whether a group has matched.
    If {
        group: u32,
        yes: Node,
        no: Node,
    },
    BackRef {
        index: u32,
        fold: bool,
    },
    /// A group again, or with 0 the whole pattern.
    Call(u32),
    /// `\K`: the match begins here.
    Keep,
    /// `\G`: the search began here.
    SearchStart,
    /// `\Z`: the end, or before a newline there.
    LastLine,
    /// Groups that are only there to be called.
    Define(Node),
    /// One part: alternatives that no automaton can decide about.
    Either(Node),
    Fail,
}

impl Special {
    /// Returns the parts that a match consumes, one of which it is.
    pub(crate) fn parts(&self) -> Vec<&Node> {
        match self {
            Self::Atomic(node) | Self::Either(node) => vec![node],
            Self::If { yes, no, .. } => vec![yes, no],
            _ => Vec::new(),
        }
    }

    /// Returns all parts.
    fn all_parts(&self) -> Vec<&Node> {
        match self {
            Self::Around { branches, .. } => branches.iter().map(|(_, node)| node).collect(),
            Self::Define(node) => vec![node],
            _ => self.parts(),
        }
    }
}

impl Node {
    /// Repeats a node; simple repeats of repeats collapse, so that a million stars stay one.
    pub(crate) fn repeat(self, min: u32, max: Option<u32>) -> Self {
        let simple = |min: u32, max: Option<u32>| min <= 1 && max.is_none_or(|max| max == 1);
        match self {
            Self::Empty => Self::Empty,
            Self::Repeat {
                node,
                min: inner_min,
                max: inner_max,
                greedy: true,
            } if simple(min, max) && simple(inner_min, inner_max) => Self::Repeat {
                node,
                min: min.min(inner_min),
                max: if max == Some(1) && inner_max == Some(1) {
                    Some(1)
                } else {
                    None
                },
                greedy: true,
            },
            node => Self::Repeat {
                node: Box::new(node),
                min,
                max,
                greedy: true,
            },
        }
    }

    /// Tells whether the node can match nothing.
    pub(crate) fn nullable(&self) -> bool {
        match self {
            Self::Empty | Self::Look(_) | Self::BackRef(_) | Self::Special(_) => true,
            Self::Literal(_) | Self::Class(_) => false,
            Self::Group { node, .. } => node.nullable(),
            Self::Concat(nodes) => nodes.iter().all(Self::nullable),
            Self::Alt(nodes) => nodes.iter().any(Self::nullable),
            Self::Repeat { node, min, .. } => *min == 0 || node.nullable(),
        }
    }

    /// Counts nested levels.
    pub(crate) fn depth(&self) -> u32 {
        match self {
            Self::Group { node, .. } | Self::Repeat { node, .. } => node.depth() + 1,
            Self::Concat(nodes) | Self::Alt(nodes) => {
                nodes.iter().map(Self::depth).max().unwrap_or(0) + 1
            }
            Self::Special(special) => {
                let parts = special.all_parts();
                parts.iter().map(|node| node.depth()).max().unwrap_or(0) + 1
            }
            _ => 1,
        }
    }

    /// Estimates how large the node becomes when its intervals are written out.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Group { node, .. } => node.size().saturating_add(2),
            Self::Concat(nodes) | Self::Alt(nodes) => nodes
                .iter()
                .fold(1, |sum: u64, node| sum.saturating_add(node.size())),
            Self::Repeat { node, min, max, .. } => {
                let times = u64::from(max.unwrap_or(*min).max(*min).max(1));
                node.size().saturating_mul(times).saturating_add(1)
            }
            Self::Special(special) => special
                .all_parts()
                .iter()
                .fold(2, |sum: u64, node| sum.saturating_add(node.size())),
            _ => 1,
        }
    }

    /// Tells whether the node matches one number of characters at most, wherever it is tried.
    fn rigid(&self) -> bool {
        match self {
            Self::Empty | Self::Literal(_) | Self::Class(_) | Self::Look(_) => true,
            Self::BackRef(_) | Self::Alt(_) | Self::Special(_) => false,
            Self::Group { node, .. } => node.rigid(),
            Self::Concat(nodes) => nodes.iter().all(Self::rigid),
            Self::Repeat { node, min, max, .. } => Some(*min) == *max && node.rigid(),
        }
    }

    /// Tells whether the first match by preference is also the longest: at most one greedy repeat of
    /// something rigid, everything else rigid. More repeats can leave room for a longer match.
    pub(crate) fn greedy_is_longest(&self) -> bool {
        match self {
            Self::Group { node, .. } => node.greedy_is_longest(),
            Self::Repeat { node, .. } => node.rigid(),
            Self::Concat(nodes) => {
                let mut loose = nodes.iter().filter(|node| !node.rigid());
                let first = loose.next();
                loose.next().is_none() && first.is_none_or(Self::greedy_is_longest)
            }
            node => node.rigid(),
        }
    }

    /// Tells whether an automaton can only find candidates: there are back-references or other special parts.
    pub(crate) fn is_hard(&self) -> bool {
        self.any(&|node| matches!(node, Self::BackRef(_) | Self::Special(_)))
    }

    /// Tells whether a group is called.
    pub(crate) fn has_call(&self) -> bool {
        self.any(
            &|node| matches!(node, Self::Special(special) if matches!(**special, Special::Call(_))),
        )
    }

    /// Tells whether what matches depends on what groups have matched, or on calls.
    pub(crate) fn depends_on_groups(&self) -> bool {
        self.any(&|node| match node {
            Self::BackRef(_) => true,
            Self::Special(special) => matches!(
                **special,
                Special::BackRef { .. } | Special::If { .. } | Special::Call(_)
            ),
            _ => false,
        })
    }

    fn any(&self, test: &dyn Fn(&Self) -> bool) -> bool {
        if test(self) {
            return true;
        }
        match self {
            Self::Group { node, .. } | Self::Repeat { node, .. } => node.any(test),
            Self::Concat(nodes) | Self::Alt(nodes) => nodes.iter().any(|node| node.any(test)),
            Self::Special(special) => special.all_parts().iter().any(|node| node.any(test)),
            _ => false,
        }
    }

    /// Counts the ranges of characters that classes have, written out as often as they are repeated.
    pub(crate) fn ranges(&self) -> u64 {
        match self {
            Self::Class(set) => set.len() as u64,
            Self::Group { node, .. } => node.ranges(),
            Self::Concat(nodes) | Self::Alt(nodes) => nodes
                .iter()
                .fold(0, |sum: u64, node| sum.saturating_add(node.ranges())),
            Self::Repeat { node, min, max, .. } => {
                let times = u64::from(max.unwrap_or(*min).max(*min).max(1));
                node.ranges().saturating_mul(times)
            }
            Self::Special(special) => special
                .all_parts()
                .iter()
                .fold(0, |sum: u64, node| sum.saturating_add(node.ranges())),
            _ => 0,
        }
    }

    /// Returns the text that the pattern matches and nothing else, if it is just a text.
    pub(crate) fn literal(&self) -> Option<Vec<u8>> {
        match self {
            Self::Literal(bytes) => Some(bytes.to_vec()),
            Self::Concat(nodes) => {
                let mut all = Vec::new();
                for node in nodes {
                    match node {
                        Self::Literal(bytes) => all.extend_from_slice(bytes),
                        _ => return None,
                    }
                }
                Some(all)
            }
            _ => None,
        }
    }
}
