//! Patterns without extended forms: one pass with one place to come back to, and no memory.

use crate::pattern::set::cases;
use crate::pattern::{Chars, Node};

/// Tells whether a node that stands for one character matches this one.
#[inline]
pub(crate) fn one(node: &Node, c: u32, fold: bool) -> bool {
    match node {
        Node::Char(want) => *want == c || (fold && same(*want, c)),
        Node::Any => true,
        Node::Set(set) => set.matches(c, fold),
        Node::Star | Node::Ext(..) => false,
    }
}

fn same(a: u32, b: u32) -> bool {
    let ((a_lower, a_upper), (b_lower, b_upper)) = (cases(a), cases(b));
    a_lower == b_lower || a_upper == b_upper
}

/// Returns how many characters the nodes match, if that is always the same.
pub(crate) fn width(nodes: &[Node]) -> Option<usize> {
    nodes
        .iter()
        .all(|node| !matches!(node, Node::Star | Node::Ext(..)))
        .then_some(nodes.len())
}

/// Tells whether the whole text matches. A later star makes earlier ones final, so this takes at most
/// nodes × characters steps (`*a*a*a*b` included).
pub(crate) fn matches<C: Chars>(nodes: &[Node], chars: &C, fold: bool) -> bool {
    let (mut node, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (nodes.get(node), chars.at(at)) {
            (Some(Node::Star), _) => {
                node += 1;
                retry = Some((node, at));
                continue;
            }
            (Some(want), Some(c)) if one(want, c, fold) => {
                node += 1;
                at += 1;
                continue;
            }
            (None, None) => return true,
            (_, None) => return false,
            _ => {}
        }
        let Some((star, from)) = retry else {
            return false;
        };
        if star == nodes.len() {
            return true;
        }
        node = star;
        at = from + 1;
        retry = Some((star, at));
    }
}
