//! Runs `cases/*.txt` in our shell and in real bash, and compares both with what bash did when they
//! were recorded.
//!
//! `cases/known-failures.txt` lists the cases where ours differs, as `file: name`; it is strict both ways.
//! `JP_CASES=text` runs only the cases whose `file: name` contains the text.
//! Real bash repeats one case in seven, or with `JP_ORACLE=all` each.

mod format;
mod options;
mod oracle;
mod ours;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use format::{Case, Seen};
use oracle::Oracle;

/// One in so many cases is repeated in real bash.
const SAMPLE: usize = 7;

/// Returns the cases to run, and whether those are all.
fn wanted() -> anyhow::Result<(Vec<Case>, bool)> {
    let cases = format::all()?;
    Ok(match std::env::var("JP_CASES") {
        Ok(text) => {
            let cases = cases.into_iter().filter(|case| case.id.contains(&text));
            (cases.collect(), false)
        }
        Err(_) => (cases, true),
    })
}

/// Runs cases on all processors; returns the names of those that differ, and how.
fn differing(cases: &[Case], run: impl Fn(&Case) -> Seen + Sync) -> Vec<(String, String)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(difference) = case.expected.differs(&run(case)) {
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.push((case.id.clone(), difference));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort();
    found
}

#[test]
fn every_case_does_what_bash_did() {
    let (cases, complete) = wanted().unwrap();
    let known: BTreeSet<String> = std::fs::read_to_string(format::dir().join("known-failures.txt"))
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let differing = differing(&cases, ours::run);
    let failed: BTreeSet<&String> = differing.iter().map(|(id, _)| id).collect();
    for (id, difference) in &differing {
        if !complete || !known.contains(id) {
            eprintln!("=== {id}\n{difference}");
        }
    }
    eprintln!("{} cases, {} differ", cases.len(), failed.len());
    let new: Vec<&&String> = failed.iter().filter(|id| !known.contains(**id)).collect();
    assert!(
        new.is_empty(),
        "{} cases differ from bash: {new:#?}",
        new.len()
    );
    let fixed: Vec<&String> = known
        .iter()
        .filter(|id| complete && !failed.contains(id))
        .collect();
    assert!(fixed.is_empty(), "no longer known failures: {fixed:#?}");
}

#[test]
fn what_was_recorded_is_what_bash_does() {
    let Some(oracle) = Oracle::find() else {
        eprintln!("there is no bash 5.2 here: nothing to compare with");
        return;
    };
    let (mut cases, complete) = wanted().unwrap();
    if complete && std::env::var("JP_ORACLE").is_err() {
        cases = cases.into_iter().step_by(SAMPLE).collect();
    }
    cases.retain(|case| oracle.knows(case));
    let differing = differing(&cases, |case| oracle.run(case).unwrap());
    for (id, difference) in &differing {
        eprintln!("=== {id}\n{difference}");
    }
    let ids: Vec<&String> = differing.iter().map(|(id, _)| id).collect();
    assert!(
        ids.is_empty(),
        "{} of {} recordings are not what bash does: {ids:#?}",
        ids.len(),
        cases.len()
    );
}
