//! A pattern as instructions for the matcher that knows groups and back-references.

use std::sync::Arc;

use regex_automata::util::look::Look;
use rustc_hash::FxHashMap;

use super::error::RegexError;
use super::node::Node;
use super::set::Set;

/// The most instructions that a pattern may become when its intervals are written out.
const MAX_INSTRUCTIONS: usize = 400_000;

/// One step. Jumps are indexes of instructions.
#[derive(Debug, Clone)]
pub(crate) enum Inst {
    Byte(u8),
    Class(u32),
    Look(Look),
    Save(u32),
    /// Tries `first`, then `second`. `mark` numbers the places where paths can meet.
    Split {
        first: u32,
        second: u32,
        mark: u32,
    },
    /// As many characters of a set as possible, then fewer. Takes two marks.
    Run {
        set: u32,
        min: u32,
        max: u32,
        mark: u32,
    },
    Jump(u32),
    /// Remembers where a turn of a loop began.
    TurnStart(u32),
    /// Refuses a turn that matched nothing.
    TurnEnd(u32),
    BackRef(u32),
    Match,
}

/// The instructions and what they refer to.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) insts: Vec<Inst>,
    pub(crate) sets: Vec<Arc<Set>>,
    pub(crate) marks: u32,
    pub(crate) turns: u32,
    /// Where each set was put, by its address.
    known: FxHashMap<usize, u32>,
}

/// Writes a pattern out.
pub(crate) fn compile(node: &Node) -> Result<Program, RegexError> {
    let mut program = Program::default();
    program.add(node)?;
    program.push(Inst::Match)?;
    Ok(program)
}

impl Program {
    fn push(&mut self, inst: Inst) -> Result<u32, RegexError> {
        if self.insts.len() >= MAX_INSTRUCTIONS {
            return Err(RegexError::TooBig);
        }
        let at = self.here();
        self.insts.push(inst);
        Ok(at)
    }

    fn here(&self) -> u32 {
        u32::try_from(self.insts.len()).unwrap_or(u32::MAX)
    }

    fn mark(&mut self) -> u32 {
        self.marks += 1;
        self.marks - 1
    }

    fn set(&mut self, set: &Arc<Set>) -> u32 {
        let next = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        let at = *self.known.entry(Arc::as_ptr(set).addr()).or_insert(next);
        if at == next {
            self.sets.push(set.clone());
        }
        at
    }

    fn split(&mut self) -> Result<u32, RegexError> {
        let mark = self.mark();
        self.push(Inst::Split {
            first: 0,
            second: 0,
            mark,
        })
    }

    fn patch(&mut self, at: u32, to_first: u32, to_second: u32) {
        if let Some(Inst::Split { first, second, .. }) = self.insts.get_mut(at as usize) {
            *first = to_first;
            *second = to_second;
        }
    }

    fn add(&mut self, node: &Node) -> Result<(), RegexError> {
        match node {
            Node::Empty => {}
            Node::Literal(bytes) => {
                for byte in bytes {
                    self.push(Inst::Byte(*byte))?;
                }
            }
            Node::Class(set) => {
                let set = self.set(set);
                self.push(Inst::Class(set))?;
            }
            Node::Look(look) => {
                self.push(Inst::Look(*look))?;
            }
            Node::Group { index, node } => {
                self.push(Inst::Save(index * 2))?;
                self.add(node)?;
                self.push(Inst::Save(index * 2 + 1))?;
            }
            Node::BackRef(index) => {
                self.push(Inst::BackRef(*index))?;
            }
            Node::Concat(nodes) => {
                for node in nodes {
                    self.add(node)?;
                }
            }
            Node::Alt(nodes) => self.add_alternatives(nodes)?,
            Node::Repeat { node, min, max } => self.add_repeat(node, *min, *max)?,
        }
        Ok(())
    }

    fn add_alternatives(&mut self, nodes: &[Node]) -> Result<(), RegexError> {
        let mut ends = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            if i + 1 == nodes.len() {
                self.add(node)?;
                break;
            }
            let split = self.split()?;
            self.add(node)?;
            ends.push(self.push(Inst::Jump(0))?);
            self.patch(split, split + 1, self.here());
        }
        let here = self.here();
        for end in ends {
            if let Some(Inst::Jump(to)) = self.insts.get_mut(end as usize) {
                *to = here;
            }
        }
        Ok(())
    }

    fn add_repeat(&mut self, node: &Node, min: u32, max: Option<u32>) -> Result<(), RegexError> {
        if let Node::Class(set) = node {
            let set = self.set(set);
            let mark = self.mark();
            self.mark();
            self.push(Inst::Run {
                set,
                min,
                max: max.unwrap_or(u32::MAX),
                mark,
            })?;
            return Ok(());
        }
        for _ in 0..min {
            self.add(node)?;
        }
        let Some(max) = max else {
            return self.add_loop(node);
        };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.split()?);
            self.add(node)?;
        }
        let here = self.here();
        for split in splits {
            self.patch(split, split + 1, here);
        }
        Ok(())
    }

    fn add_loop(&mut self, node: &Node) -> Result<(), RegexError> {
        let split = self.split()?;
        if node.nullable() {
            let turn = self.turns;
            self.turns += 1;
            self.push(Inst::TurnStart(turn))?;
            self.add(node)?;
            self.push(Inst::TurnEnd(turn))?;
        } else {
            self.add(node)?;
        }
        self.push(Inst::Jump(split))?;
        self.patch(split, split + 1, self.here());
        Ok(())
    }
}
