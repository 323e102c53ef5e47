//! A pattern as the automata's own tree. Back-references become "anything": the automaton then finds
//! candidates, which the matcher with groups decides about.

use regex_syntax::hir::{Hir, Look, Repetition};

use super::node::{Node, Special};
use super::set;

/// Translates a tree; `line_end` is the byte that nothing matches, if lines are searched in bulk. A hard
/// pattern only gives candidates: what is special is left out or becomes anything, as short as possible.
pub(crate) fn translate(node: &Node, line_end: Option<u8>) -> Hir {
    let translator = Translator {
        line_end,
        lazy: node.is_hard(),
    };
    translator.translate(node)
}

struct Translator {
    line_end: Option<u8>,
    /// Where a candidate begins is all that matters: the sooner that is known the better.
    lazy: bool,
}

impl Translator {
    fn translate(&self, node: &Node) -> Hir {
        match node {
            Node::Empty => Hir::empty(),
            Node::Literal(bytes) => Hir::literal(bytes.to_vec()),
            Node::Class(set) => Hir::class(set.class().clone()),
            Node::Look(look) => Hir::look(syntax_look(*look)),
            Node::Group { node, .. } => self.translate(node),
            Node::BackRef(_) => self.anything(),
            Node::Concat(nodes) => {
                Hir::concat(nodes.iter().map(|node| self.translate(node)).collect())
            }
            Node::Alt(nodes) => {
                Hir::alternation(nodes.iter().map(|node| self.translate(node)).collect())
            }
            Node::Repeat {
                node,
                min,
                max,
                greedy,
            } => repetition(self.translate(node), *min, *max, *greedy && !self.lazy),
            Node::Special(special) => self.special(special),
        }
    }

    fn special(&self, special: &Special) -> Hir {
        match special {
            Special::Around { .. }
            | Special::Keep
            | Special::SearchStart
            | Special::LastLine
            | Special::Define(_) => Hir::empty(),
            Special::BackRef { .. } | Special::Call(_) => self.anything(),
            Special::Fail => Hir::fail(),
            Special::Atomic(_) | Special::Either(_) | Special::If { .. } => {
                let parts = special.parts();
                Hir::alternation(parts.iter().map(|node| self.translate(node)).collect())
            }
        }
    }

    fn anything(&self) -> Hir {
        let mut any = set::any(false);
        if let Some(end) = self.line_end {
            set::remove(&mut any, end);
        }
        repetition(Hir::class(any), 0, None, false)
    }
}

fn repetition(sub: Hir, min: u32, max: Option<u32>, greedy: bool) -> Hir {
    Hir::repetition(Repetition {
        min,
        max,
        greedy,
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
