//! The documentation as a book: every page is listed, every link leads somewhere, and code that a page
//! shows is the code that is built.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn pages_below(dir: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_below(&path, found);
        } else if path.extension().is_some_and(|end| end == "md") {
            found.insert(path);
        }
    }
}

/// Returns all pages: those of docs, and those beside the README.
fn pages() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    pages_below(&root().join("docs"), &mut found);
    let beside = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    found.extend(beside.filter(|path| path.extension().is_some_and(|end| end == "md")));
    found
}

/// Returns the lines of a page outside of its blocks of code.
fn prose(page: &str) -> Vec<&str> {
    let mut inside = None;
    let mut lines = Vec::new();
    for line in page.lines() {
        let fence = line.len() - line.trim_start_matches('`').len();
        match inside {
            None if fence >= 3 => inside = Some(fence),
            None => lines.push(line),
            Some(opened) if fence >= opened && line.trim_matches('`').is_empty() => inside = None,
            Some(_) => {}
        }
    }
    lines
}

/// Returns where the links of a line lead; text in backticks is not a link.
fn links(line: &str) -> Vec<&str> {
    let code = |at: usize| line[..at].matches('`').count() % 2 == 1;
    let starts = line.match_indices("](").filter(|(at, _)| !code(*at));
    starts
        .filter_map(|(at, _)| Some(line[at + 2..].split_once(')')?.0))
        .collect()
}

/// Returns the anchors of a page, as GitHub and mdbook make them from headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let heading = |line: &&str| line.starts_with('#');
    let lines = prose(page);
    let headings = lines.into_iter().filter(heading);
    headings
        .map(|line| {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                _ => letter.is_alphanumeric().then_some(letter),
            });
            kept.collect()
        })
        .collect()
}

/// Says what is wrong with a link of a page, if anything is.
fn problem(page: &Path, link: &str) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => page.to_owned(),
        _ => page.parent().unwrap().join(path),
    };
    let Ok(text) = fs::read_to_string(&target) else {
        return (!target.is_dir()).then(|| format!("{}: no such file: {link}", page.display()));
    };
    let known = anchor.is_empty() || anchors(&text).contains(anchor);
    (!known).then(|| format!("{}: no such heading: {link}", page.display()))
}

#[test]
fn every_page_is_listed_in_the_summary() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: Vec<PathBuf> = summary
        .lines()
        .flat_map(links)
        .map(|link| docs.join(link))
        .collect();
    let once: BTreeSet<PathBuf> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), once.len(), "a page is listed twice");
    let mut found = BTreeSet::new();
    pages_below(&docs, &mut found);
    found.remove(&docs.join("SUMMARY.md"));
    assert_eq!(once, found);
}

#[test]
fn every_link_leads_somewhere() {
    let mut problems = Vec::new();
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in prose(&text).into_iter().flat_map(links) {
            seen += 1;
            problems.extend(problem(&page, link));
        }
    }
    assert!(seen > 100, "only {seen} links were found");
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn examples_that_pages_show_are_the_ones_that_are_built() {
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("\n```rust example=").skip(1) {
            let (path, code) = block.split_once('\n').unwrap();
            let code = code.split("\n```").next().unwrap();
            let file = fs::read_to_string(root().join(path)).unwrap();
            assert_eq!(
                code,
                file.trim_end(),
                "{} shows another {path}",
                page.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 0, "no page shows an example");
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() < 130);
}
