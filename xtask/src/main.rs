//! Project chores: `cargo xtask COMMAND`. Builds, checks and shows the workspace; ships in nothing.

mod ceilings;
mod ci;
mod compare;
mod conformance;
mod demo;
mod deny;
mod dist;
mod fuzz;
mod guests;
mod interop;
mod load;
mod metadata;
mod process;
mod record;
mod report;
mod sample;
mod started;
mod stress;
mod talk;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

/// One command: its name, what `--help` says of it, and what it does.
struct Chore {
    name: &'static str,
    help: &'static str,
    run: Run,
}

/// What a chore does, with the words behind its name if it takes any.
enum Run {
    Alone(fn(&Path) -> Result<()>),
    With(fn(&Path, &[&str]) -> Result<()>),
}

const CHORES: &[Chore] = &[
    Chore {
        name: "guests",
        help: guests::HELP,
        run: Run::Alone(guests::run),
    },
    Chore {
        name: "test",
        help: test::HELP,
        run: Run::Alone(test::run),
    },
    Chore {
        name: "demo",
        help: demo::HELP,
        run: Run::Alone(demo::run),
    },
    Chore {
        name: "tidy",
        help: tidy::HELP,
        run: Run::With(tidy::run),
    },
    Chore {
        name: "deny",
        help: deny::HELP,
        run: Run::Alone(deny::run),
    },
    Chore {
        name: "interop",
        help: interop::HELP,
        run: Run::Alone(interop::run),
    },
    Chore {
        name: "conformance",
        help: conformance::HELP,
        run: Run::With(conformance::run),
    },
    Chore {
        name: "load",
        help: load::HELP,
        run: Run::With(load::run),
    },
    Chore {
        name: "record-cases",
        help: record::HELP,
        run: Run::With(record::run),
    },
    Chore {
        name: "dist",
        help: dist::HELP,
        run: Run::With(dist::run),
    },
    Chore {
        name: "fuzz",
        help: fuzz::HELP,
        run: Run::With(fuzz::run),
    },
    Chore {
        name: "compare",
        help: compare::HELP,
        run: Run::With(compare::run),
    },
    Chore {
        name: "stress",
        help: stress::HELP,
        run: Run::With(stress::run),
    },
    Chore {
        name: "ci",
        help: ci::HELP,
        run: Run::Alone(ci::run),
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            report::data(&usage());
            Ok(())
        }
        [name, "--help" | "-h"] => {
            report::data(&format!("cargo xtask {name}\n\n{}", find(name)?.help));
            Ok(())
        }
        [name, rest @ ..] => match (&find(name)?.run, rest) {
            (Run::With(run), _) => run(&root()?, rest),
            (Run::Alone(run), []) => run(&root()?),
            (Run::Alone(_), [extra, ..]) => {
                bail!("`{name}` takes no `{extra}`; try: cargo xtask {name} --help")
            }
        },
    }
}

fn find(name: &str) -> Result<&'static Chore> {
    CHORES
        .iter()
        .find(|chore| chore.name == name)
        .with_context(|| format!("no chore is called `{name}`\n\n{}", usage()))
}

fn usage() -> String {
    let mut text = String::from("cargo xtask COMMAND\n\n");
    for chore in CHORES {
        let first_line = chore.help.lines().next().unwrap_or_default();
        text.push_str(&format!("  {:<12} {first_line}\n", chore.name));
    }
    text.push_str("\ncargo xtask COMMAND --help says more.");
    text
}

/// Returns the workspace's directory, the parent of this crate's.
fn root() -> Result<PathBuf> {
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = manifest_dir
        .parent()
        .context("xtask must lie inside the workspace")?;
    Ok(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_chore_with_its_first_line() {
        let text = usage();
        for chore in CHORES {
            assert!(
                text.contains(chore.help.lines().next().unwrap()),
                "{}",
                chore.name
            );
        }
    }

    #[test]
    fn an_unknown_chore_is_an_error_that_lists_the_known_ones() {
        let error = dispatch(&["tset".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("`tset`") && error.contains("interop"),
            "{error}"
        );
    }

    #[test]
    fn a_stray_argument_is_an_error() {
        let error = dispatch(&["tidy".to_owned(), "--fast".to_owned()])
            .unwrap_err()
            .to_string();
        assert!(error.contains("`--fast`"), "{error}");
    }
}
