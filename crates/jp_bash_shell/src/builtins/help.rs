//! `help`: about builtins and the words of the language.

use jp_bash_system::Programs;

use super::args::Getopt;
use super::help_topics::{TOPICS, Topic};
use crate::Shell;
use crate::flow::Flow;
use crate::pattern::Pattern;

const USAGE: &str = "help [-dms] [pattern ...]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut options = Getopt::new(args, "dms");
    let mut how = 0;
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => how = given.letter,
            Err(bad) => return shell.bad_option(b"help", &bad, USAGE),
        }
    }
    let rest = options.rest();
    if rest.is_empty() {
        let text = overview(shell.kernel.programs);
        return shell.print(b"help", text.as_bytes());
    }
    let is_pattern = |word: &&Vec<u8>| word.iter().any(|byte| b"*?[".contains(byte));
    if rest.iter().any(|word| is_pattern(&word) && word.len() > 1) {
        let more = if rest.len() > 1 { "s" } else { "" };
        let words = rest.join(&b", "[..]);
        let head = format!("Shell commands matching keyword{more} `");
        shell.print(b"help", &[head.as_bytes(), &words, b"'\n\n"].concat())?;
    }
    let mut status = 0;
    for name in rest {
        let found = matching(shell, name)?;
        for topic in &found {
            let text = page(topic, how);
            shell.print(b"help", text.as_bytes())?;
        }
        if found.is_empty() {
            status = missing(shell, name)?;
        }
    }
    Ok(status)
}

/// Prints the page of a builtin, as its option `--help` does; the status is 2.
pub(crate) fn show(shell: &mut Shell<'_>, name: &str) -> Result<i32, Flow> {
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
        let text = page(topic, 0);
        shell.print(name.as_bytes(), text.as_bytes())?;
    }
    Ok(2)
}

/// Returns the topic of that name, or those that the pattern fits, or those that start so.
fn matching(shell: &mut Shell<'_>, name: &[u8]) -> Result<Vec<&'static Topic>, Flow> {
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name.as_bytes() == name) {
        return Ok(vec![topic]);
    }
    let pattern = Pattern::new(name, shell.pattern_options());
    let mut found = Vec::new();
    for topic in TOPICS {
        let fits = pattern.matches(topic.name.as_bytes(), &shell.kernel.budget)?;
        if fits || topic.name.as_bytes().starts_with(name) {
            found.push(topic);
        }
    }
    Ok(found)
}

fn page(topic: &Topic, how: u8) -> String {
    let Topic {
        name,
        synopsis,
        about,
    } = topic;
    match how {
        b'd' => format!("{name} - {about}\n"),
        b's' => format!("{name}: {synopsis}\n"),
        b'm' => format!(
            "NAME\n    {name} - {about}\n\nSYNOPSIS\n    {synopsis}\n\nDESCRIPTION\n    {about}\n"
        ),
        _ => format!("{name}: {synopsis}\n    {about}\n"),
    }
}

fn missing(shell: &mut Shell<'_>, name: &[u8]) -> Result<i32, Flow> {
    if let Some(spec) = shell.kernel.programs.find(name) {
        let text = format!("{}: {}\n", spec.name, spec.about);
        return shell.print(b"help", text.as_bytes());
    }
    let text = [
        &b"no help topics match `"[..],
        name,
        b"'.  Try `help help' or `man -k ",
        name,
        b"' or `info ",
        name,
        b"'.",
    ]
    .concat();
    shell.complain_as(b"help", &text)?;
    Ok(1)
}

fn overview(programs: &Programs) -> String {
    let mut out = String::from("jp bash: a virtual bash 5.2. Builtins:\n");
    for topic in TOPICS {
        out.push_str(&format!(" {:<12} {}\n", topic.name, topic.about));
    }
    out.push_str("Commands:\n");
    for spec in programs.all() {
        out.push_str(&format!(" {:<12} {}\n", spec.name, spec.about));
    }
    out
}
