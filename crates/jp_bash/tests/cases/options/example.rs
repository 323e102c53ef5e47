//! Reads `cases/options/*.txt`: for each option a line that shows what it changes. `text.txt` says how.

use anyhow::{Context, Result, bail, ensure};

use super::documented::{Documented, Table, Takes};
use crate::format;

/// What is expected of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// With it something else happens.
    Differs,
    /// It changes nothing, and the line says why.
    Same,
    /// It is refused, and the message names it.
    Refused,
}

/// One line.
pub(crate) struct Example {
    pub(crate) command: String,
    /// What prepares the directory.
    setup: String,
    /// The text before, between and behind the marks.
    parts: [String; 3],
    pub(crate) effect: Effect,
    /// Cannot be compared with the machine's own tools.
    pub(crate) ours: bool,
}

/// The scripts of an example.
pub(crate) struct Scripts {
    pub(crate) without: String,
    /// One for each spelling.
    pub(crate) with: Vec<(String, String)>,
}

/// What the files say.
pub(crate) struct Examples {
    pub(crate) list: Vec<Example>,
    /// `## b = a`
    pub(crate) alike: Vec<(String, String)>,
}

/// Reads all files.
pub(crate) fn all() -> Result<Examples> {
    let mut examples = Examples {
        list: Vec::new(),
        alike: Vec::new(),
    };
    let mut files: Vec<_> = std::fs::read_dir(format::dir().join("options"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path)?;
        // What stands before the first heading is for readers.
        for section in text.split("\n## ").skip(1) {
            read(section, &mut examples).with_context(|| format!("in {}", path.display()))?;
        }
    }
    Ok(examples)
}

fn read(section: &str, examples: &mut Examples) -> Result<()> {
    let mut lines = section.lines().filter(|line| !line.is_empty());
    let heading = lines.next().unwrap_or_default();
    if let Some((name, other)) = heading.split_once(" = ") {
        examples.alike.push((name.to_owned(), other.to_owned()));
        return Ok(());
    }
    let (command, all_ours) = match heading.split_once(" ours [") {
        Some((command, _)) => (command, true),
        None => (heading, false),
    };
    let mut setup = String::new();
    for line in lines {
        if let Some(more) = line.strip_prefix("| ") {
            setup = more.to_owned();
            continue;
        }
        let (flags, text) = match line.split_once("] ") {
            Some((flags, text)) if flags.contains(" [") && !flags.contains('«') => (flags, text),
            _ => match line.strip_prefix("refused ") {
                Some(text) => ("refused", text),
                None => ("", line),
            },
        };
        let marks = text
            .split_once('«')
            .and_then(|(a, rest)| rest.split_once('»').map(|(b, c)| (a, b, c)));
        let Some((before, option, behind)) = marks else {
            bail!("no option is marked in `{line}`");
        };
        let flags = flags.split(" [").next().unwrap_or_default();
        ensure!(
            ["", "ours", "same", "ours same", "refused"].contains(&flags),
            "unknown mark `{flags}` in `{line}`"
        );
        examples.list.push(Example {
            command: command.to_owned(),
            setup: setup.clone(),
            parts: [before, option, behind].map(str::to_owned),
            effect: match flags {
                "refused" => Effect::Refused,
                flags if flags.contains("same") => Effect::Same,
                _ => Effect::Differs,
            },
            ours: all_ours || flags.contains("ours") || flags == "refused",
        });
    }
    Ok(())
}

impl Example {
    /// Returns what names this example in a list.
    pub(crate) fn id(&self) -> String {
        let [before, option, behind] = &self.parts;
        format!("{}: {before}«{option}»{behind}", self.command)
    }

    /// Splits `-i 3`, `--field=2`, `-I.bak` into the option and its value.
    fn option(&self) -> (&str, Option<&str>) {
        let option = self.parts[1].split(" vs ").next().unwrap_or_default();
        let at = if option.starts_with("--") {
            option.find([' ', '=']).unwrap_or(option.len())
        } else {
            let letter = option.chars().nth(1).map_or(1, char::len_utf8);
            1 + letter
        };
        let (name, value) = option.split_at(at.min(option.len()));
        let value = value.strip_prefix([' ', '=']).unwrap_or(value);
        (name, (!value.is_empty()).then_some(value))
    }

    /// Finds the option that is shown.
    pub(crate) fn shows<'t>(&self, table: &'t Table) -> Option<&'t Documented> {
        let (name, _) = self.option();
        let options = table.get(&self.command)?;
        options
            .iter()
            .find(|option| option.spellings.iter().any(|known| known == name))
    }

    /// Returns an operator of `test` as if it were an option.
    pub(crate) fn operator(&self) -> Documented {
        Documented {
            spellings: vec![self.option().0.to_owned()],
            takes: Takes::Required,
            refused: false,
        }
    }

    /// Makes the scripts.
    pub(crate) fn scripts(&self, option: &Documented) -> Scripts {
        let (_, value) = self.option();
        let write = |name: &str, value: Option<&str>| match value {
            None => name.to_owned(),
            Some(value) => format!("{name}{}{value}", self.joint(name, option.takes)),
        };
        let first = option.spellings.first().map_or("", String::as_str);
        let without = match self.parts[1].split_once(" vs ") {
            Some((_, other)) => write(first, Some(other)),
            None => String::new(),
        };
        let with = option.spellings.iter().map(|name| {
            let written = write(name, value);
            (name.clone(), self.script(&written))
        });
        Scripts {
            without: self.script(&without),
            with: with.collect(),
        }
    }

    /// What stands between an option and its value.
    fn joint(&self, name: &str, takes: Takes) -> &'static str {
        let words_of_their_own = ["curl", "jq"].contains(&self.command.as_str());
        match takes {
            Takes::Optional if !name.starts_with("--") => "",
            Takes::Required | Takes::Optional if name.starts_with("--") && !words_of_their_own => {
                "="
            }
            _ => " ",
        }
    }

    fn script(&self, option: &str) -> String {
        let [before, _, behind] = &self.parts;
        // The status is part of what is seen, and a subshell keeps `exit` and `exec` from ending the script.
        format!(
            "{}\n{{ ( {before}{option}{behind}\n); echo \"[$?]\"; }} 2>&1\n",
            self.setup
        )
    }
}
