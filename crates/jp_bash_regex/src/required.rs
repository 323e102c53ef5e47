//! Texts of which every match holds one: what a search for whole lines can look for first.
//!
//! A pattern like `[0-9]+ the .* (1|2)[0-9] ` gives the sets `{ the }`, `{ 1,  2}` and `{ 10 , …,  29 }`. Which of
//! them is rare only the text can tell; see [`super::sieve`]. Knows nothing of texts or engines.

use std::cmp::Reverse;

use regex_syntax::hir::Class;

use super::node::Node;

/// The most texts in one set: more are no faster to look for than the pattern.
const MOST_TEXTS: usize = 64;
/// The most members of a class that are written out.
const MOST_MEMBERS: usize = 16;
/// The longest text, in parts side by side, and in bytes: alternatives in alternatives would make long ones.
const MOST_PARTS: usize = 12;
const MOST_BYTES: usize = 64;
/// The most parts, and the most nodes, that are looked at.
const MOST_LOOKED_AT: usize = 256;
const MOST_NODES: u32 = 4096;
/// The most sets that are offered.
const MOST_SETS: usize = 6;

/// One of these texts is in each match.
pub(super) type Texts = Vec<Vec<u8>>;

/// A stretch of a pattern.
enum Part {
    /// Exactly one of these, right behind the part before.
    One(Texts),
    /// One of these, somewhere.
    Somewhere(Texts),
    /// Anything.
    Gap,
}

/// Returns sets of texts; a match holds one text of each set, whole.
pub(super) fn required(node: &Node) -> Vec<Texts> {
    let mut walk = Walk { nodes: 0 };
    let mut parts = Vec::new();
    walk.flatten(node, &mut parts);
    let mut sets = sets(&parts);
    sets.truncate(MOST_SETS);
    sets
}

struct Walk {
    nodes: u32,
}

impl Walk {
    /// Writes a node out as parts. Whatever is too much becomes a gap, which is always true.
    fn flatten(&mut self, node: &Node, parts: &mut Vec<Part>) {
        self.nodes += 1;
        if self.nodes > MOST_NODES || parts.len() >= MOST_LOOKED_AT {
            parts.push(Part::Gap);
            return;
        }
        match node {
            // What matches no characters leaves its neighbours side by side.
            Node::Empty | Node::Look(_) => {}
            Node::Literal(bytes) => parts.push(Part::One(vec![bytes.to_vec()])),
            Node::Class(set) => parts.push(members(set.class()).map_or(Part::Gap, Part::One)),
            Node::Group { node, .. } => self.flatten(node, parts),
            Node::BackRef(_) | Node::Special(_) => parts.push(Part::Gap),
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.flatten(node, parts)),
            Node::Alt(nodes) => self.alternatives(nodes, parts),
            Node::Repeat { node, min, max, .. } => {
                let times = usize::try_from(*min).unwrap_or(usize::MAX).min(MOST_PARTS);
                (0..times).for_each(|_| self.flatten(node, parts));
                if *max != Some(*min) || usize::try_from(*min) != Ok(times) {
                    parts.push(Part::Gap);
                }
            }
        }
    }

    fn alternatives(&mut self, nodes: &[Node], parts: &mut Vec<Part>) {
        let mut exact = Some(Texts::new());
        let mut somewhere = Some(Texts::new());
        for node in nodes {
            let mut branch = Vec::new();
            self.flatten(node, &mut branch);
            let texts = product(&branch);
            exact = joined(exact, texts);
            // The longest is the rarest, as far as the pattern can tell.
            somewhere = joined(somewhere, sets(&branch).into_iter().max_by_key(shortest));
            if exact.is_none() && somewhere.is_none() {
                break;
            }
        }
        match (exact, somewhere) {
            (Some(texts), _) if !texts.is_empty() => parts.push(Part::One(texts)),
            (_, Some(texts)) if !texts.is_empty() => parts.push(Part::Somewhere(texts)),
            _ => parts.push(Part::Gap),
        }
    }
}

/// Puts the texts of another branch beside those before it, if both have some.
fn joined(before: Option<Texts>, more: Option<Texts>) -> Option<Texts> {
    let mut all = before?;
    all.extend(more?);
    all.sort_unstable();
    all.dedup();
    (all.len() <= MOST_TEXTS).then_some(all)
}

/// Writes a small class out.
fn members(class: &Class) -> Option<Texts> {
    let mut texts = Texts::new();
    match class {
        Class::Unicode(set) => {
            for range in set.ranges() {
                for c in range.start()..=range.end() {
                    if texts.len() >= MOST_MEMBERS {
                        return None;
                    }
                    texts.push(c.encode_utf8(&mut [0; 4]).as_bytes().to_vec());
                }
            }
        }
        Class::Bytes(set) => {
            for range in set.ranges() {
                for byte in range.start()..=range.end() {
                    if texts.len() >= MOST_MEMBERS {
                        return None;
                    }
                    texts.push(vec![byte]);
                }
            }
        }
    }
    (!texts.is_empty()).then_some(texts)
}

/// Returns all texts that these parts can be, if they are few.
fn product(parts: &[Part]) -> Option<Texts> {
    if parts.len() > MOST_PARTS {
        return None;
    }
    let mut texts: Texts = vec![Vec::new()];
    for part in parts {
        let Part::One(options) = part else {
            return None;
        };
        if texts.len() * options.len() > MOST_TEXTS {
            return None;
        }
        texts = texts
            .iter()
            .flat_map(|text| options.iter().map(move |more| [&text[..], more].concat()))
            .collect();
        if texts.iter().any(|text| text.len() > MOST_BYTES) {
            return None;
        }
    }
    Some(texts)
}

/// Returns the sets that parts side by side give: the longest texts for few of them, and for more.
fn sets(parts: &[Part]) -> Vec<Texts> {
    let mut sets: Vec<Texts> = Vec::new();
    for part in parts {
        if let Part::Somewhere(texts) = part {
            sets.push(texts.clone());
        }
    }
    for run in parts.split(|part| !matches!(part, Part::One(_))) {
        for most in [1, 4, 16, MOST_TEXTS] {
            let windows = longest_windows(run, most);
            sets.extend(windows.into_iter().filter_map(product));
        }
    }
    // A single byte is hardly ever rare.
    sets.retain(|texts| shortest(texts) > 1);
    sets.sort_by_cached_key(|texts| (Reverse(shortest(texts)), texts.len(), texts.clone()));
    sets.dedup();
    sets
}

fn shortest(texts: &Texts) -> usize {
    texts.iter().map(Vec::len).min().unwrap_or(0)
}

/// Returns the first and the last of the stretches that give the longest texts, at most so many of them.
fn longest_windows(run: &[Part], most: usize) -> [&[Part]; 2] {
    let sizes = |part: &Part| match part {
        Part::One(texts) => (texts.len(), shortest(texts)),
        _ => (usize::MAX, 0),
    };
    let (mut longest, mut windows): (usize, [&[Part]; 2]) = (0, [&[], &[]]);
    for from in 0..run.len() {
        let (mut count, mut length) = (1_usize, 0);
        for (at, part) in run.iter().enumerate().skip(from).take(MOST_PARTS) {
            let (options, bytes) = sizes(part);
            count = count.saturating_mul(options);
            if count > most {
                break;
            }
            length += bytes;
            let window = run.get(from..=at).unwrap_or_default();
            if length > longest {
                (longest, windows) = (length, [window, window]);
            } else if length == longest {
                let [first, _] = windows;
                windows = [first, window];
            }
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::super::meter::{Meter, Tally};
    use super::super::{Flags, Flavor, parse};
    use super::required;
    use jp_bash_system::{Bounds, Budget};

    fn shown(pattern: &str, ignore_case: bool) -> String {
        let flags = Flags {
            utf8: true,
            ignore_case,
            lines: Some(b'\n'),
            ..Flags::default()
        };
        let clock = std::sync::Arc::new(|| std::time::Duration::ZERO);
        let budget = Budget::new(Bounds::default(), std::sync::Arc::default(), clock);
        let (tally, mut asks) = (Tally::default(), &budget);
        let mut meter = Meter::new(&mut asks, &tally);
        let mut room = parse::Room::default();
        let pattern = pattern.as_bytes();
        let parsed = parse::parse(pattern, Flavor::Extended, flags, 0, &mut room, &mut meter);
        let node = parsed.expect("a valid pattern").node;
        let sets = required(&node).into_iter().map(|texts| {
            let texts: Vec<_> = texts
                .iter()
                .map(|text| String::from_utf8_lossy(text))
                .collect();
            texts.join("|")
        });
        sets.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn every_match_holds_a_text_of_each_set() {
        for (pattern, expected) in [
            ("foo", "foo"),
            ("^foo$", "foo"),
            ("foo.*bars", "bars; foo"),
            (
                "[a-z]+ing[0-9]",
                "ing0|ing1|ing2|ing3|ing4|ing5|ing6|ing7|ing8|ing9; ing",
            ),
            (" (1|2)x", " 1x| 2x"),
            ("a(b|c.*)d", ""),
            ("(foo.*|bar+)x", "bar|foo"),
            ("(foo)*x", ""),
            ("(ab){2}", "abab"),
            ("(ab){2,}c", "abab"),
            ("fo?x", ""),
            ("(foo|)bar", "bar; bar|foobar"),
            ("a|.*", ""),
            ("[^a]bc", "bc"),
            ("a\nb", ""),
        ] {
            assert_eq!(shown(pattern, false), expected, "{pattern:?}");
        }
        assert_eq!(shown("AB-", true), "AB-|Ab-|aB-|ab-");
        assert!(
            shown("FOX 4[27]", true).ends_with("; OX 4|Ox 4|oX 4|ox 4; X 42|X 47|x 42|x 47;  4")
        );
        assert_eq!(shown("k8", true), "K8|k8|\u{212a}8");
    }

    #[test]
    fn large_patterns_are_cut_to_what_is_true() {
        assert_eq!(
            shown(&"(ab|cd){30}".repeat(100), false)
                .split("; ")
                .next()
                .map(str::len),
            Some(64 * 13 - 1)
        );
        let many: Vec<String> = (0..500).map(|n| format!("word{n}")).collect();
        assert_eq!(shown(&many.join("|"), false), "");
    }
}
