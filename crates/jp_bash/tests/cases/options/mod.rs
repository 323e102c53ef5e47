//! Every documented option changes something, as in GNU and bash, or is refused by name.
//!
//! `JP_OPTIONS=text` runs only the examples whose `command: line` contains the text; `JP_ORACLE=all` asks the
//! machine's own tools about each, not one in seven.

mod documented;
mod example;
mod machine;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use documented::{Documented, Table, Takes};
use example::{Effect, Example};

use crate::format::{Case, Seen};
use crate::oracle::Oracle;

/// One in so many examples is repeated with the machine's own tools.
const SAMPLE: usize = 7;

/// Goes through a list on all processors; returns what was found, in order.
fn check<T: Sync>(list: &[T], look: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let more = look(item);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.extend(more);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort();
    found
}

fn examples() -> anyhow::Result<Vec<Example>> {
    let mut list = example::all()?.list;
    if let Ok(text) = std::env::var("JP_OPTIONS") {
        list.retain(|example| example.id().contains(&text));
    }
    Ok(list)
}

fn nothing(found: &[String], what: &str) {
    assert!(
        found.is_empty(),
        "{} {what}:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn every_documented_option_has_an_example() {
    let table = documented::all();
    let examples = example::all().unwrap();
    let mut found = Vec::new();
    let mut shown: BTreeSet<(&str, &str)> = BTreeSet::new();
    for example in &examples.list {
        match example.shows(&table) {
            Some(option) => {
                shown.insert((&example.command, &option.spellings[0]));
            }
            // What `test` does is an expression, no list of options.
            None if example.command == "test" => {}
            None => found.push(format!("{} shows nothing documented", example.id())),
        }
    }
    for (name, other) in &examples.alike {
        if !table.contains_key(name) || table.get(name) != table.get(other) {
            found.push(format!("{name} does not have the options of {other}"));
        }
    }
    let alike = |name: &str| examples.alike.iter().any(|(known, _)| known == name);
    for (command, options) in table.iter().filter(|(name, _)| !alike(name)) {
        for option in options {
            let known = shown.contains(&(command, &option.spellings[0]));
            if !known && !option.refused && !option.asks_about_the_command() {
                found.push(format!("{command} {} has no example", option.spellings[0]));
            }
        }
    }
    nothing(&found, "gaps");
}

#[test]
fn every_documented_option_changes_something_or_is_refused_by_name() {
    let table = documented::all();
    let found = check(&examples().unwrap(), |example| faults(example, &table));
    nothing(&found, "options do not do what their example says");
}

/// Tells what is wrong with an option, as its example shows it.
fn faults(example: &Example, table: &Table) -> Vec<String> {
    let operator = example.operator();
    let option = example.shows(table).unwrap_or(&operator);
    let scripts = example.scripts(option);
    let without = machine::run(&scripts.without);
    let mut found = Vec::new();
    let mut first: Option<String> = None;
    for (name, script) in &scripts.with {
        let with = machine::run(script);
        let id = example.id();
        match example.effect {
            Effect::Differs if with == without => {
                found.push(format!("{id}: {name} changes nothing: {with:?}"));
            }
            Effect::Same if with != without => {
                found.push(format!("{id}: {name} changes {without:?} to {with:?}"));
            }
            Effect::Refused if with.contains("[0]") || !with.contains(name.as_str()) => {
                found.push(format!("{id}: {name} is not refused: {with:?}"));
            }
            _ => {}
        }
        let first = first.get_or_insert_with(|| with.clone());
        if *first != with && example.effect != Effect::Refused {
            found.push(format!("{id}: {name} does {with:?}, not {first:?}"));
        }
    }
    found
}

#[test]
fn options_do_what_they_do_in_gnu() {
    let Some(oracle) = Oracle::find() else {
        eprintln!("there is no bash 5.2 here: nothing to compare with");
        return;
    };
    let table = documented::all();
    let mut list = examples().unwrap();
    list.retain(|example| !example.ours);
    if std::env::var_os("JP_OPTIONS").is_none() && std::env::var_os("JP_ORACLE").is_none() {
        list = list.into_iter().step_by(SAMPLE).collect();
    }
    let found = check(&list, |example| {
        let Some(option) = example.shows(&table) else {
            return Vec::new();
        };
        let scripts = example.scripts(option);
        let with = scripts.with.into_iter().next().map(|(_, script)| script);
        let mut found = Vec::new();
        for script in [Some(scripts.without), with].into_iter().flatten() {
            let case = Case {
                file: "options".to_owned(),
                id: example.id(),
                script: script.clone().into_bytes(),
                expected: Seen::default(),
            };
            if !oracle.knows(&case) {
                continue;
            }
            let seen = oracle.run(&case).unwrap();
            let all = [seen.stdout, seen.stderr.unwrap_or_default()].concat();
            let (real, ours) = (String::from_utf8_lossy(&all), machine::run(&script));
            if real != ours {
                found.push(format!("{}\n--- expected\n{real}--- got\n{ours}", case.id));
            }
        }
        found
    });
    nothing(&found, "options do not do what GNU does");
}

#[test]
fn refused_options_are_named() {
    let list = spellings(|option| option.refused);
    let found = check(&list, |(command, option, name)| {
        let value = if option.takes == Takes::Required {
            " x"
        } else {
            ""
        };
        let script = format!("{command} {name}{value} < /dev/null 2>&1; echo \"[$?]\"");
        let printed = machine::run(&script);
        if printed.contains(name.as_str())
            && printed.contains("not supported")
            && !printed.contains("[0]")
        {
            return Vec::new();
        }
        vec![format!("{command} {name}: {printed:?}")]
    });
    nothing(&found, "options are not refused by name");
}

#[test]
fn help_and_version_are_answered() {
    let list = spellings(Documented::asks_about_the_command);
    let found = check(&list, |(command, _, name)| {
        let script = format!("{command} {name} < /dev/null; echo \"[$?]\"");
        let printed = machine::run(&script);
        if printed.len() > "[0]\n".len() && printed.ends_with("[0]\n") {
            return Vec::new();
        }
        vec![format!("{command} {name}: {printed:?}")]
    });
    nothing(&found, "questions are not answered");
}

/// Options whose bad values are tried in our shell alone: GNU is lenient, absent, or its answer depends on
/// the machine.
const BAD_VALUES: &[&str] = &[
    "echo abc | xxd -c «»",
    "echo abc | xxd -g «»",
    "echo abc | xxd -l «»",
    "echo abc | xxd -o «»",
    "echo abc | xxd -s «»",
    "echo abc | sed -l «» p",
    "echo 1 | jq --indent «» .",
    "curl -m «» http://h.test",
    "curl --max-filesize «» http://h.test",
    "curl --max-redirs «» http://h.test",
    "curl --retry «» http://h.test",
    "curl --retry-delay «» http://h.test",
    "curl --retry-max-time «» http://h.test",
    "tail -f -s «» /dev/null",
    "tail --pid=«» -f /dev/null",
    "tail --max-unchanged-stats=«» /dev/null",
    "tail -c «» /dev/null",
    "tail -n «» /dev/null",
    "timeout «» true",
    "timeout -k «» 1 true",
    "timeout -s «» 1 true",
    "nice -n «» true",
    "sort --batch-size=«» /dev/null",
    "xargs -s «» < /dev/null",
    "grep --color=«» a /dev/null",
    "grep --colour=«» a /dev/null",
    "rm --preserve-root=«» x",
    "tail --follow=«» /dev/null",
    "nproc --ignore=«»",
    "stdbuf -i «» true",
    "stdbuf -o «» true",
    "stdbuf -e «» true",
    "shuf -n «» /dev/null",
    "curl --proto-default «» h.test",
];

/// Options whose values are texts, files or programs: none of them is wrong in itself.
const FREE_VALUES: &[&str] = &[
    "awk -F",
    "awk -v",
    "awk -f",
    "awk -e",
    "awk -E",
    "curl -b",
    "curl -c",
    "curl -d",
    "curl --data-ascii",
    "curl --data-binary",
    "curl --data-raw",
    "curl --data-urlencode",
    "curl -D",
    "curl --etag-compare",
    "curl --etag-save",
    "curl -F",
    "curl --form-string",
    "curl -H",
    "curl --json",
    "curl --oauth2-bearer",
    "curl -o",
    "curl --output-dir",
    "curl -r",
    "curl -e",
    "curl -X",
    "curl -T",
    "curl --url",
    "curl --url-query",
    "curl -u",
    "curl -A",
    "curl -w",
    "date -s",
    "fc -e",
    "jobs -x",
    "jq -f",
    "jq -L",
    "jq --arg",
    "jq --argjson",
    "jq --slurpfile",
    "jq --rawfile",
    "mapfile -C",
    "mktemp --suffix",
    "sort --random-source",
    "xxd -n",
    // What they say is what `read -n` and `xargs -L` say.
    "read -N",
    "xargs -l",
];

#[test]
fn every_option_with_a_value_is_tried_with_bad_ones() {
    let recorded: BTreeSet<String> = crate::format::all()
        .unwrap()
        .into_iter()
        .filter(|case| case.file.starts_with("option-values-"))
        .filter_map(|case| Some(case.id.split_once(": ")?.1.to_owned()))
        .collect();
    let tried = |name: &str| {
        let (command, option) = name.split_once(' ').unwrap_or((name, ""));
        BAD_VALUES.iter().any(|line| {
            let mut words = line.split([' ', '=', '«']);
            words.any(|word| word == command) && words.any(|word| word == option)
        })
    };
    let alike = example::all().unwrap().alike;
    let mut found = Vec::new();
    for (command, options) in documented::all() {
        if alike.iter().any(|(known, _)| *known == command) || command == "bind" {
            continue;
        }
        for option in options {
            let name = format!("{command} {}", option.spellings[0]);
            let free = FREE_VALUES.contains(&name.as_str());
            let known = recorded.contains(&name) || tried(&name);
            if option.takes == Takes::Nothing || option.refused {
                continue;
            }
            if known == free {
                found.push(format!(
                    "{name} must be tried, or be listed as free, not both"
                ));
            }
        }
    }
    nothing(&found, "gaps");
}

#[test]
fn bad_values_are_refused_where_gnu_cannot_be_asked() {
    let found = check(BAD_VALUES, |line| {
        let mut found = Vec::new();
        for value in ["x", "''", "5x"] {
            // `--color=` is `--color` to us; GNU prints its help.
            if value == "''" && line.contains("--colo") {
                continue;
            }
            let line = line.replace('«', value).replace('»', "");
            let printed = machine::run(&format!("{{ {line}; }} 2>&1; echo \"[$?]\""));
            let words = [
                "invalid",
                "number",
                "numer",
                "sage:",
                "ambiguous",
                "unsupported",
                "unrecognized",
            ];
            let named = words.iter().any(|word| printed.contains(word));
            if printed.contains("[0]") || !named {
                found.push(format!("{line}: {printed:?}"));
            }
        }
        found
    });
    nothing(&found, "bad values are not refused");
}

/// Lists the spellings of some options of all commands.
fn spellings(wanted: impl Fn(&Documented) -> bool) -> Vec<(String, Documented, String)> {
    let mut list = Vec::new();
    for (command, options) in documented::all() {
        for option in options.into_iter().filter(&wanted) {
            for name in option.spellings.clone() {
                list.push((command.clone(), option.clone(), name));
            }
        }
    }
    list
}
