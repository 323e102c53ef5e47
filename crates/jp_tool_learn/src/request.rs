//! From the entries of a call to the subjects they stand for. Reads nothing.

use crate::{
    limits::MAX_NOTES,
    scan::{Scan, Subject},
    selector::Selector,
    slug::quoted,
};

/// What the entries of a call stand for.
#[derive(Default)]
pub(crate) struct Request<'a> {
    /// The subjects to load, in the order they were first asked for.
    pub(crate) found: Vec<&'a Subject>,
    /// Whether subjects are wrapped even if there is only one.
    pub(crate) any_glob: bool,
    /// Entries that found something which is not given again.
    pub(crate) remarks: Vec<String>,
    /// Entries that found nothing.
    pub(crate) misses: Vec<Selector<'a>>,
}

impl<'a> Request<'a> {
    /// Looks up each entry.
    pub(crate) fn resolve(scan: &'a Scan, wanted: &[&'a String]) -> Self {
        let mut request = Self::default();
        let mut taken = vec![false; scan.subjects.len()];
        for entry in wanted {
            let selector = Selector::new(entry);
            // An exact slug goes first: `a[1]` is a legal file name.
            let exact = indices(scan, |subject| selector.is_exactly(&subject.slug));
            if !exact.is_empty() {
                request.take(&mut taken, &exact, Learned::Remark);
                continue;
            }
            let globbed = indices(scan, |subject| selector.selects(subject));
            if globbed.is_empty() {
                request.misses.push(selector);
                continue;
            }
            request.any_glob |= selector.is_glob();
            if globbed.iter().all(|(_, subject)| subject.learned) {
                let entry = quoted(entry);
                request.remark(format!(
                    "All that {entry} matches is already learned: it is in your system prompt."
                ));
            }
            request.take(&mut taken, &globbed, Learned::Skip);
        }
        request
    }

    fn take(&mut self, taken: &mut [bool], subjects: &[(usize, &'a Subject)], learned: Learned) {
        for &(index, subject) in subjects {
            if !subject.learned {
                let is_new = taken
                    .get_mut(index)
                    .is_some_and(|taken| !std::mem::replace(taken, true));
                if is_new {
                    self.found.push(subject);
                }
            } else if learned == Learned::Remark {
                let slug = quoted(&subject.slug);
                self.remark(format!(
                    "{slug} is already learned: it is in your system prompt."
                ));
            }
        }
    }

    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

/// What to do about a learned subject that was asked for.
#[derive(PartialEq)]
enum Learned {
    Remark,
    Skip,
}

fn indices(scan: &Scan, wanted: impl Fn(&Subject) -> bool) -> Vec<(usize, &Subject)> {
    let subjects = scan.subjects.iter().enumerate();
    subjects.filter(|(_, subject)| wanted(subject)).collect()
}

/// Says of each entry that found nothing that it did; of very many, only how many.
pub(crate) fn describe_misses(scan: &Scan, misses: &[Selector<'_>], place: &str) -> Vec<String> {
    let shown = misses.iter().take(MAX_NOTES);
    let mut lines: Vec<String> = shown.map(|miss| describe_miss(scan, miss, place)).collect();
    if misses.len() > lines.len() {
        lines.push(format!(
            "{} more entries match nothing.",
            misses.len() - lines.len()
        ));
    }
    lines
}

/// Says that an entry found nothing, with a hint where one can be given.
fn describe_miss(scan: &Scan, miss: &Selector<'_>, place: &str) -> String {
    let entry = miss.text();
    let hint = if miss.is_malformed() {
        " (nor is it a valid glob pattern)".to_owned()
    } else if scan
        .available()
        .any(|subject| is_below(&subject.slug, entry))
    {
        format!(
            " (there are subjects below it: {})",
            quoted(&format!("{entry}/**"))
        )
    } else {
        String::new()
    };
    format!("No subject matches {}{place}{hint}.", quoted(entry))
}

fn is_below(slug: &str, group: &str) -> bool {
    slug.strip_prefix(group)
        .is_some_and(|rest| rest.starts_with('/'))
}
