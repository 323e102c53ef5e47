//! Finds the leftmost-longest match with the automata of `regex-automata`.
//!
//! Its meta engine finds where the leftmost match begins, with all its literal searches; a lazy DFA that
//! follows all paths then finds the longest end from there. Groups come from [`super::backtrack`].

use std::cell::{OnceCell, RefCell};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::look::LookMatcher;
use regex_automata::{Anchored, Input, MatchKind, meta};
use regex_syntax::hir::Hir;

use super::Flags;
use super::backtrack::{Goal, Matcher, Scratch};
use super::error::{MatchError, RegexError};
use super::hir::translate;
use super::node::Node;
use super::program::{Program, compile};
use super::sieve::Sieve;

/// The largest automaton, in bytes.
const MAX_AUTOMATON: usize = 16 << 20;
/// The most that a lazy DFA keeps of its states.
const DFA_CACHE: usize = 2 << 20;
/// The most nodes once intervals are written out.
const MAX_SIZE: u64 = 150_000;

/// The DFA that follows all paths, and its states so far.
type Longest = (DFA, RefCell<Cache>);

/// A compiled basic or extended pattern.
pub(super) struct Automaton {
    node: Node,
    hir: Hir,
    groups: usize,
    flags: Flags,
    back_refs: bool,
    first_is_longest: bool,
    looks: LookMatcher,
    meta: meta::Regex,
    cache: RefCell<Option<Box<meta::Cache>>>,
    longest: OnceCell<Option<Box<Longest>>>,
    program: OnceCell<Option<Box<Program>>>,
    scratch: RefCell<Box<Scratch>>,
    sieve: Sieve,
}

impl Automaton {
    /// Compiles a tree.
    pub(super) fn new(node: Node, groups: usize, flags: Flags) -> Result<Self, RegexError> {
        if node.size() > MAX_SIZE {
            return Err(RegexError::TooBig);
        }
        let hir = translate(&node, flags.lines);
        let config = meta::Config::new()
            .which_captures(WhichCaptures::Implicit)
            .utf8_empty(false)
            .nfa_size_limit(Some(MAX_AUTOMATON))
            .hybrid_cache_capacity(DFA_CACHE)
            .line_terminator(flags.lines.unwrap_or(b'\n'));
        let meta = meta::Builder::new()
            .configure(config)
            .build_from_hir(&hir)
            .map_err(|_| RegexError::TooBig)?;
        let mut looks = LookMatcher::new();
        looks.set_line_terminator(flags.lines.unwrap_or(b'\n'));
        let back_refs = node.has_back_ref();
        Ok(Self {
            first_is_longest: !back_refs && (node.greedy_is_longest() || ordered_literals(&node)),
            back_refs,
            node,
            hir,
            groups,
            flags,
            looks,
            meta,
            cache: RefCell::new(None),
            longest: OnceCell::new(),
            program: OnceCell::new(),
            scratch: RefCell::default(),
            sieve: Sieve::default(),
        })
    }

    /// Tells whether there is a match at or after `start`.
    pub(super) fn is_match(&self, text: &[u8], start: usize) -> Result<bool, MatchError> {
        if self.back_refs {
            return Ok(self.find(text, start)?.is_some());
        }
        Ok(self
            .candidate(&Input::new(text).range(start..).earliest(true))
            .is_some())
    }

    /// Finds a position in the first line that matches, of lines that end in `eol`.
    pub(super) fn line(
        &self,
        text: &[u8],
        start: usize,
        eol: u8,
    ) -> Result<Option<usize>, MatchError> {
        if self.back_refs {
            return Ok(self.find(text, start)?.map(|(_, to)| to));
        }
        if let Some(texts) = self.sieve.ready(&self.node, text, eol) {
            let matches = |from, to| Ok(self.within(text, from, to));
            return self.sieve.find(texts, text, start, eol, matches);
        }
        Ok(self.half(&Input::new(text).range(start..).earliest(true)))
    }

    /// Finds where the first match to end ends.
    fn half(&self, input: &Input<'_>) -> Option<usize> {
        let mut cache = self.cache.borrow_mut();
        let cache = cache.get_or_insert_with(|| Box::new(self.meta.create_cache()));
        let half = self.meta.search_half_with(cache, input)?;
        Some(half.offset())
    }

    /// Tells whether there is a match in one line of a text: the DFA alone, which is less to begin with.
    fn within(&self, text: &[u8], from: usize, to: usize) -> bool {
        let input = Input::new(text).range(from..to).earliest(true);
        let dfa = self.longest.get_or_init(|| self.build_longest());
        if let Some(dfa) = dfa {
            let (dfa, cache) = &**dfa;
            if let Ok(found) = dfa.try_search_fwd(&mut cache.borrow_mut(), &input) {
                return found.is_some();
            }
        }
        self.half(&input).is_some()
    }

    /// Finds the leftmost-longest match.
    pub(super) fn find(
        &self,
        text: &[u8],
        start: usize,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        if self.back_refs {
            return self.find_with_back_refs(text, start);
        }
        let Some((from, to)) = self.candidate(&Input::new(text).range(start..)) else {
            return Ok(None);
        };
        if self.first_is_longest {
            return Ok(Some((from, to)));
        }
        Ok(Some((from, self.longest_end(text, from)?)))
    }

    /// Finds the match and its groups.
    pub(super) fn captures(
        &self,
        text: &[u8],
        start: usize,
        groups: &mut Vec<Option<(usize, usize)>>,
    ) -> Result<bool, MatchError> {
        groups.clear();
        let Some(whole) = self.find(text, start)? else {
            return Ok(false);
        };
        groups.push(Some(whole));
        if self.groups == 0 {
            return Ok(true);
        }
        let mut scratch = self.scratch.borrow_mut();
        if !self.back_refs {
            let goal = Goal::EndsAt(whole.1);
            scratch.begin();
            if self.matcher(text)?.run(&mut scratch, whole.0, goal)? != Some(whole.1) {
                return Err(MatchError);
            }
        }
        groups.extend((1..=self.groups).map(|index| scratch.group(index)));
        Ok(true)
    }

    /// Finds a match by preference: its start is that of the longest.
    fn candidate(&self, input: &Input<'_>) -> Option<(usize, usize)> {
        let mut cache = self.cache.borrow_mut();
        let cache = cache.get_or_insert_with(|| Box::new(self.meta.create_cache()));
        let found = self.meta.search_with(cache, input)?;
        Some((found.start(), found.end()))
    }

    fn find_with_back_refs(
        &self,
        text: &[u8],
        start: usize,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        let matcher = self.matcher(text)?;
        let mut scratch = self.scratch.borrow_mut();
        scratch.begin();
        let mut from = start;
        while from <= text.len() {
            let Some((at, _)) = self.candidate(&Input::new(text).range(from..)) else {
                return Ok(None);
            };
            if let Some(end) = matcher.run(&mut scratch, at, Goal::Longest)? {
                return Ok(Some((at, end)));
            }
            from = at + 1;
            while self.flags.utf8 && text.get(from).is_some_and(|byte| byte & 0xc0 == 0x80) {
                from += 1;
            }
        }
        Ok(None)
    }

    /// Returns the end of the longest match that begins at `from`; there is one.
    fn longest_end(&self, text: &[u8], from: usize) -> Result<usize, MatchError> {
        let dfa = self.longest.get_or_init(|| self.build_longest());
        if let Some(dfa) = dfa {
            let (dfa, cache) = &**dfa;
            let input = Input::new(text).range(from..).anchored(Anchored::Yes);
            if let Ok(Some(half)) = dfa.try_search_fwd(&mut cache.borrow_mut(), &input) {
                return Ok(half.offset());
            }
        }
        // The DFA gives up on word borders beside characters outside ASCII, or when it keeps forgetting.
        self.matcher(text)?.longest_end(from).ok_or(MatchError)
    }

    fn build_longest(&self) -> Option<Box<Longest>> {
        let config = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .look_matcher(self.looks.clone())
            .nfa_size_limit(Some(MAX_AUTOMATON));
        let nfa = thompson::Compiler::new()
            .configure(config)
            .build_from_hir(&self.hir)
            .ok()?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .unicode_word_boundary(true)
            .cache_capacity(DFA_CACHE)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(8))
            .minimum_bytes_per_state(Some(10));
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        let cache = RefCell::new(dfa.create_cache());
        Some(Box::new((dfa, cache)))
    }

    fn matcher<'m>(&'m self, text: &'m [u8]) -> Result<Matcher<'m>, MatchError> {
        let program = self
            .program
            .get_or_init(|| compile(&self.node).ok().map(Box::new));
        Ok(Matcher {
            program: program.as_deref().ok_or(MatchError)?,
            looks: &self.looks,
            text,
            utf8: self.flags.utf8,
            fold: self.flags.ignore_case,
            groups: self.groups,
        })
    }
}

/// Tells whether these are texts of which a longer one never comes after a shorter one.
fn ordered_literals(node: &Node) -> bool {
    let Node::Alt(nodes) = node else {
        return false;
    };
    let mut last = usize::MAX;
    nodes.iter().all(|node| match node.literal() {
        Some(text) if text.len() <= last => {
            last = text.len();
            true
        }
        _ => false,
    })
}
