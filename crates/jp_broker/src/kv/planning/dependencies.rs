//! Which step waits for which: references as models write them, resolved.

use std::collections::BTreeMap;

use super::steps::Step;
use crate::{CallError, arguments::Entry};

/// What a reference to something other than a step of the same plan starts with.
const ELSEWHERE: [&str; 4] = ["plan_step:", "todo:", "task:", "reminder:"];

/// What the steps of a plan wait for.
pub(super) struct Dependencies {
    /// For each step, what it waits for, as references.
    by_step: Vec<Vec<String>>,
    /// References that name nothing, or more than one step.
    pub(super) unresolved: Vec<String>,
}

/// Returns the reference to a step, counted from 0.
pub(super) fn reference(plan: i64, step: usize) -> String {
    format!("plan_step:{plan}:{step}")
}

impl Dependencies {
    /// Resolves the references of all steps. A reference is the number of a step (from 0), its id,
    /// its title in whole or from its start, or `plan_step:…`, `todo:…`, `task:…`, `reminder:…`.
    pub(super) fn resolve(steps: &[Entry<Step>], plan: i64) -> Result<Self, CallError> {
        let names = Names::new(steps, plan);
        let mut waits: Vec<Vec<usize>> = Vec::with_capacity(steps.len());
        let mut found = Self {
            by_step: Vec::with_capacity(steps.len()),
            unresolved: Vec::new(),
        };
        for (at, Entry(step)) in steps.iter().enumerate() {
            let (mut inside, mut all) = (Vec::new(), Vec::new());
            for given in step.references.iter().flatten() {
                match names.find(given) {
                    Some(on) if on == at => {
                        let field = format!("steps[{at}].dependency_refs");
                        return Err(CallError::invalid(&field, "it names the step itself"));
                    }
                    Some(on) => {
                        inside.push(on);
                        all.push(reference(plan, on));
                    }
                    None if names.is_elsewhere(given) => all.push(given.clone()),
                    None => {
                        let shown = jp_text::start(given, 80);
                        found.unresolved.push(format!("steps[{at}]: {shown}"));
                    }
                }
            }
            all.sort();
            all.dedup();
            found.by_step.push(all);
            waits.push(inside);
        }
        check_order(&waits)?;
        Ok(found)
    }

    /// Returns what one step waits for.
    pub(super) fn of(&self, step: usize) -> &[String] {
        self.by_step.get(step).map_or(&[], Vec::as_slice)
    }

    /// Returns each step with each thing it waits for.
    pub(super) fn edges(&self) -> impl Iterator<Item = (usize, &str)> {
        let steps = self.by_step.iter().enumerate();
        steps.flat_map(|(step, on)| on.iter().map(move |on| (step, on.as_str())))
    }
}

/// What the steps can be called. A name that fits two steps names none.
struct Names {
    count: usize,
    own: String,
    ids: BTreeMap<String, Option<usize>>,
    titles: BTreeMap<String, Option<usize>>,
}

impl Names {
    fn new(steps: &[Entry<Step>], plan: i64) -> Self {
        let mut names = Self {
            count: steps.len(),
            own: format!("plan_step:{plan}:"),
            ids: BTreeMap::new(),
            titles: BTreeMap::new(),
        };
        for (at, Entry(step)) in steps.iter().enumerate() {
            let add = |map: &mut BTreeMap<String, Option<usize>>, name: String| {
                map.entry(name)
                    .and_modify(|known| *known = None)
                    .or_insert(Some(at));
            };
            if let Some(id) = &step.id {
                add(&mut names.ids, id.to_lowercase());
            }
            add(&mut names.titles, plain(&step.title));
        }
        names
    }

    fn find(&self, given: &str) -> Option<usize> {
        let given = given.trim().to_lowercase();
        if let Some(known) = self.ids.get(&given) {
            return *known;
        }
        let number = given.strip_prefix(self.own.as_str()).unwrap_or(&given);
        if let Ok(number) = number.parse::<usize>() {
            return Some(number).filter(|number| *number < self.count);
        }
        let title = plain(&given);
        if title.is_empty() {
            return None;
        }
        if let Some(known) = self.titles.get(&title) {
            return *known;
        }
        let from = self.titles.range(title.clone()..);
        let mut starting = from.take_while(|(known, _)| known.starts_with(&title));
        match (starting.next(), starting.next()) {
            (Some((_, only)), None) => *only,
            _ => None,
        }
    }

    /// Tells whether it refers to something that is not a step of this plan.
    fn is_elsewhere(&self, given: &str) -> bool {
        let starts = ELSEWHERE.iter().any(|start| given.starts_with(start));
        starts && !given.starts_with(self.own.as_str())
    }
}

/// Returns the words of a title, without case and punctuation.
fn plain(title: &str) -> String {
    let title = title.to_lowercase();
    let words = title.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Refuses steps that wait for each other in a circle: none of them could ever start.
fn check_order(waits: &[Vec<usize>]) -> Result<(), CallError> {
    let mut open: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); waits.len()];
    for (step, on) in waits.iter().enumerate() {
        for on in on {
            if let Some(followers) = followers.get_mut(*on) {
                followers.push(step);
            }
        }
    }
    let mut ready: Vec<usize> = (0..waits.len())
        .filter(|step| open.get(*step) == Some(&0))
        .collect();
    while let Some(step) = ready.pop() {
        for follower in followers.get(step).into_iter().flatten() {
            if let Some(open) = open.get_mut(*follower) {
                *open = open.saturating_sub(1);
                if *open == 0 {
                    ready.push(*follower);
                }
            }
        }
    }
    match open.iter().position(|open| *open > 0) {
        None => Ok(()),
        Some(step) => Err(CallError::invalid(
            &format!("steps[{step}].dependency_refs"),
            "it is part of a circle: the steps of a circle wait for each other for ever",
        )),
    }
}
