//! A pattern as instructions for the matcher that knows groups and back-references.

use std::sync::Arc;

use regex_automata::util::look::Look;
use rustc_hash::FxHashMap;

use super::error::RegexError;
use super::meter::{Meter, push};
use super::node::{Node, Special};
use super::set::Set;

/// The most instructions that a pattern may become when its intervals are written out.
const MAX_INSTRUCTIONS: usize = 400_000;

/// The mark of a place that is not marked.
pub(crate) const UNMARKED: u32 = u32::MAX;

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
    /// Refuses a turn that matched nothing, unless the loop is marked and marks are looked at.
    TurnEnd {
        turn: u32,
        marked: bool,
    },
    BackRef {
        index: u32,
        fold: bool,
    },
    /// Begins a part whose choices are dropped at its end.
    Begin,
    /// Ends it: an atomic group, or with the position of its beginning a look-ahead.
    Commit,
    CommitBack,
    /// Begins a part that must not match; goes on there if it does not.
    BeginNot(u32),
    /// Ends it.
    Refuse,
    /// Goes back by so many characters.
    Back(u32),
    /// Goes elsewhere unless a group has matched.
    IfGroup {
        index: u32,
        otherwise: u32,
    },
    /// Is only right where the search began.
    SearchStart,
    /// Is only right at the end, or before a newline there.
    LastLine,
    /// Matches a group again.
    Call {
        to: u32,
        group: u32,
    },
    /// Ends a call of a group.
    Return(u32),
    Fail,
    Match,
}

/// The instructions and what they refer to.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) insts: Vec<Inst>,
    pub(crate) sets: Vec<Arc<Set>>,
    pub(crate) marks: u32,
    /// Whether a place that failed once fails always: nothing depends on groups or calls.
    pub(crate) plain: bool,
    pub(crate) turns: u32,
    /// Where each set was put, by its address.
    known: FxHashMap<usize, u32>,
    /// Where each group begins that is called, and the calls.
    groups: FxHashMap<u32, u32>,
    calls: Vec<u32>,
}

/// Writes a pattern out.
pub(crate) fn compile(node: &Node, meter: &mut Meter<'_>) -> Result<Program, RegexError> {
    let mut writer = Writer {
        program: Program {
            plain: !node.depends_on_groups(),
            ..Program::default()
        },
        called: node.has_call(),
        inside: 0,
        meter,
    };
    writer.add(node)?;
    if writer.called {
        writer.push(Inst::Return(0))?;
    }
    writer.push(Inst::Match)?;
    writer.finish()
}

struct Writer<'w, 'm> {
    program: Program,
    /// Groups are called, so they end in a return.
    called: bool,
    /// In how many parts we are whose choices are dropped: what fails there may do so for want of them.
    inside: u32,
    meter: &'w mut Meter<'m>,
}

impl Writer<'_, '_> {
    fn push(&mut self, inst: Inst) -> Result<u32, RegexError> {
        if self.program.insts.len() >= MAX_INSTRUCTIONS {
            return Err(RegexError::TooBig);
        }
        let at = self.here();
        self.meter.steps(1)?;
        push(&mut self.program.insts, inst, self.meter)?;
        Ok(at)
    }

    /// Lets the calls go to their groups.
    fn finish(mut self) -> Result<Program, RegexError> {
        for call in std::mem::take(&mut self.program.calls) {
            if let Some(Inst::Call { to, group }) = self.program.insts.get_mut(call as usize)
                && *group > 0
            {
                *to = *self.program.groups.get(group).ok_or(RegexError::Invalid)?;
            }
        }
        Ok(self.program)
    }

    fn here(&self) -> u32 {
        u32::try_from(self.program.insts.len()).unwrap_or(u32::MAX)
    }

    fn mark(&mut self) -> u32 {
        if self.inside > 0 {
            return UNMARKED;
        }
        self.program.marks += 1;
        self.program.marks - 1
    }

    fn set(&mut self, set: &Arc<Set>) -> u32 {
        let next = u32::try_from(self.program.sets.len()).unwrap_or(u32::MAX);
        let at = *self
            .program
            .known
            .entry(Arc::as_ptr(set).addr())
            .or_insert(next);
        if at == next {
            self.program.sets.push(set.clone());
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
        if let Some(Inst::Split { first, second, .. }) = self.program.insts.get_mut(at as usize) {
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
                let begin = self.push(Inst::Save(index * 2))?;
                self.add(node)?;
                self.push(Inst::Save(index * 2 + 1))?;
                if self.called {
                    self.push(Inst::Return(*index))?;
                    self.program.groups.insert(*index, begin);
                }
            }
            Node::BackRef(index) => {
                let (index, fold) = (*index, false);
                self.push(Inst::BackRef { index, fold })?;
            }
            Node::Special(special) => {
                let inside = !matches!(
                    **special,
                    Special::If { .. } | Special::Either(_) | Special::Define(_)
                );
                self.inside += u32::from(inside);
                let added = self.add_special(special);
                self.inside -= u32::from(inside);
                added?;
            }
            Node::Concat(nodes) => {
                for node in nodes {
                    self.add(node)?;
                }
            }
            Node::Alt(nodes) => self.add_alternatives(nodes)?,
            Node::Repeat {
                node,
                min,
                max,
                greedy,
            } => self.add_repeat(node, *min, *max, *greedy)?,
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
            if let Some(Inst::Jump(to)) = self.program.insts.get_mut(end as usize) {
                *to = here;
            }
        }
        Ok(())
    }

    fn add_repeat(
        &mut self,
        node: &Node,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    ) -> Result<(), RegexError> {
        if let (Node::Class(set), true) = (node, greedy) {
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
            return self.add_loop(node, greedy);
        };
        let mut splits = Vec::new();
        for _ in min..max {
            let split = self.split()?;
            push(&mut splits, split, self.meter)?;
            self.add(node)?;
        }
        let here = self.here();
        for split in splits {
            self.choose(split, split + 1, here, greedy);
        }
        Ok(())
    }

    fn add_loop(&mut self, node: &Node, greedy: bool) -> Result<(), RegexError> {
        let split = self.split()?;
        if node.nullable() {
            let turn = self.program.turns;
            self.program.turns += 1;
            self.push(Inst::TurnStart(turn))?;
            self.add(node)?;
            let marked = self.inside == 0;
            self.push(Inst::TurnEnd { turn, marked })?;
        } else {
            self.add(node)?;
        }
        self.push(Inst::Jump(split))?;
        self.choose(split, split + 1, self.here(), greedy);
        Ok(())
    }

    /// Lets a split prefer to go on with a repeat, or to leave it.
    fn choose(&mut self, split: u32, more: u32, leave: u32, greedy: bool) {
        match greedy {
            true => self.patch(split, more, leave),
            false => self.patch(split, leave, more),
        }
    }

    fn add_special(&mut self, special: &Special) -> Result<(), RegexError> {
        match special {
            Special::Atomic(node) => {
                self.push(Inst::Begin)?;
                self.add(node)?;
                self.push(Inst::Commit)?;
            }
            Special::Around {
                branches,
                negative: false,
            } => {
                self.push(Inst::Begin)?;
                self.add_around(branches)?;
                self.push(Inst::CommitBack)?;
            }
            Special::Around { branches, .. } => {
                let begin = self.push(Inst::BeginNot(0))?;
                self.add_around(branches)?;
                self.push(Inst::Refuse)?;
                let here = self.here();
                if let Some(Inst::BeginNot(to)) = self.program.insts.get_mut(begin as usize) {
                    *to = here;
                }
            }
            Special::If { group, yes, no } => {
                let index = *group;
                let begin = self.push(Inst::IfGroup {
                    index,
                    otherwise: 0,
                })?;
                self.add(yes)?;
                let end = self.push(Inst::Jump(0))?;
                let here = self.here();
                if let Some(Inst::IfGroup { otherwise, .. }) =
                    self.program.insts.get_mut(begin as usize)
                {
                    *otherwise = here;
                }
                self.add(no)?;
                let here = self.here();
                if let Some(Inst::Jump(to)) = self.program.insts.get_mut(end as usize) {
                    *to = here;
                }
            }
            Special::BackRef { index, fold } => {
                let (index, fold) = (*index, *fold);
                self.push(Inst::BackRef { index, fold })?;
            }
            Special::Call(group) => {
                let group = *group;
                let call = self.push(Inst::Call { to: 0, group })?;
                push(&mut self.program.calls, call, self.meter)?;
            }
            Special::Keep => {
                self.push(Inst::Save(0))?;
            }
            Special::SearchStart => {
                self.push(Inst::SearchStart)?;
            }
            Special::LastLine => {
                self.push(Inst::LastLine)?;
            }
            Special::Fail => {
                self.push(Inst::Fail)?;
            }
            Special::Either(node) => self.add(node)?,
            Special::Define(node) => {
                let jump = self.push(Inst::Jump(0))?;
                self.add(node)?;
                let here = self.here();
                if let Some(Inst::Jump(to)) = self.program.insts.get_mut(jump as usize) {
                    *to = here;
                }
            }
        }
        Ok(())
    }

    /// Writes alternatives, each after going back as far as it is long.
    fn add_around(&mut self, branches: &[(u32, Node)]) -> Result<(), RegexError> {
        let mut ends = Vec::new();
        for (i, (back, node)) in branches.iter().enumerate() {
            let last = i + 1 == branches.len();
            let split = if last { None } else { Some(self.split()?) };
            if *back > 0 {
                self.push(Inst::Back(*back))?;
            }
            self.add(node)?;
            if let Some(split) = split {
                ends.push(self.push(Inst::Jump(0))?);
                self.patch(split, split + 1, self.here());
            }
        }
        let here = self.here();
        for end in ends {
            if let Some(Inst::Jump(to)) = self.program.insts.get_mut(end as usize) {
                *to = here;
            }
        }
        Ok(())
    }
}
