//! A pattern as the automata's own tree. Back-references become "anything": the automaton then finds
//! candidates, which the matcher with groups decides about.

use regex_syntax::hir::{Hir, Look, Repetition};

use super::node::Node;
use super::set;

/// Translates a tree; `line_end` is the byte that nothing matches, if lines are searched in bulk.
pub(crate) fn translate(node: &Node, line_end: Option<u8>) -> Hir {
    match node {
        Node::Empty => Hir::empty(),
        Node::Literal(bytes) => Hir::literal(bytes.to_vec()),
        Node::Class(set) => Hir::class(set.class().clone()),
        Node::Look(look) => Hir::look(syntax_look(*look)),
        Node::Group { node, .. } => translate(node, line_end),
        Node::BackRef(_) => {
            let mut any = set::any(false);
            if let Some(end) = line_end {
                set::remove(&mut any, end);
            }
            repetition(Hir::class(any), 0, None)
        }
        Node::Concat(nodes) => {
            Hir::concat(nodes.iter().map(|node| translate(node, line_end)).collect())
        }
        Node::Alt(nodes) => {
            Hir::alternation(nodes.iter().map(|node| translate(node, line_end)).collect())
        }
        Node::Repeat { node, min, max } => repetition(translate(node, line_end), *min, *max),
    }
}

fn repetition(sub: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(Repetition {
        min,
        max,
        greedy: true,
        sub: Box::new(sub),
    })
}

/// The two crates name the same things.
fn syntax_look(look: regex_automata::util::look::Look) -> Look {
    use regex_automata::util::look::Look as From;
    match look {
        From::Start => Look::Start,
        From::End => Look::End,
        From::StartLF => Look::StartLF,
        From::EndLF => Look::EndLF,
        From::StartCRLF => Look::StartCRLF,
        From::EndCRLF => Look::EndCRLF,
        From::WordAscii => Look::WordAscii,
        From::WordAsciiNegate => Look::WordAsciiNegate,
        From::WordUnicode => Look::WordUnicode,
        From::WordUnicodeNegate => Look::WordUnicodeNegate,
        From::WordStartAscii => Look::WordStartAscii,
        From::WordEndAscii => Look::WordEndAscii,
        From::WordStartUnicode => Look::WordStartUnicode,
        From::WordEndUnicode => Look::WordEndUnicode,
        From::WordStartHalfAscii => Look::WordStartHalfAscii,
        From::WordEndHalfAscii => Look::WordEndHalfAscii,
        From::WordStartHalfUnicode => Look::WordStartHalfUnicode,
        From::WordEndHalfUnicode => Look::WordEndHalfUnicode,
    }
}
