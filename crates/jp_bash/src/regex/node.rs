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
    },
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
            } if simple(min, max) && simple(inner_min, inner_max) => Self::Repeat {
                node,
                min: min.min(inner_min),
                max: if max == Some(1) && inner_max == Some(1) {
                    Some(1)
                } else {
                    None
                },
            },
            node => Self::Repeat {
                node: Box::new(node),
                min,
                max,
            },
        }
    }

    /// Tells whether the node can match nothing.
    pub(crate) fn nullable(&self) -> bool {
        match self {
            Self::Empty | Self::Look(_) | Self::BackRef(_) => true,
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
            Self::Repeat { node, min, max } => {
                let times = u64::from(max.unwrap_or(*min).max(*min).max(1));
                node.size().saturating_mul(times).saturating_add(1)
            }
            _ => 1,
        }
    }

    /// Tells whether the node matches one number of characters at most, wherever it is tried.
    fn rigid(&self) -> bool {
        match self {
            Self::Empty | Self::Literal(_) | Self::Class(_) | Self::Look(_) => true,
            Self::BackRef(_) | Self::Alt(_) => false,
            Self::Group { node, .. } => node.rigid(),
            Self::Concat(nodes) => nodes.iter().all(Self::rigid),
            Self::Repeat { node, min, max } => Some(*min) == *max && node.rigid(),
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

    /// Tells whether there is a back-reference.
    pub(crate) fn has_back_ref(&self) -> bool {
        match self {
            Self::BackRef(_) => true,
            Self::Group { node, .. } | Self::Repeat { node, .. } => node.has_back_ref(),
            Self::Concat(nodes) | Self::Alt(nodes) => nodes.iter().any(Self::has_back_ref),
            _ => false,
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
