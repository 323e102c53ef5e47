//! What is documented: the options of the page of commands, and those that `help -s` prints for builtins.

use std::collections::BTreeMap;

use jp_bash::Bash;

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Required,
    Optional,
}

/// One option as the documentation shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Documented {
    /// `-i`, `--ignore-initial`
    pub(crate) spellings: Vec<String>,
    pub(crate) takes: Takes,
    pub(crate) refused: bool,
}

impl Documented {
    /// Tells whether this is `--help` or `--version`, which every command answers alike.
    pub(crate) fn asks_about_the_command(&self) -> bool {
        self.spellings
            .iter()
            .any(|name| name == "--help" || name == "--version")
    }
}

/// All commands with their options.
pub(crate) type Table = BTreeMap<String, Vec<Documented>>;

/// Commands and builtins, by name. A builtin that is a program too has the builtin's options.
pub(crate) fn all() -> Table {
    let page = jp_bash::commands_reference();
    let mut table = commands(&page);
    for name in builtins(&page) {
        let options = of_builtin(&name);
        table.insert(name, options);
    }
    table.insert("time".to_owned(), of_builtin("time"));
    table
}

fn commands(page: &str) -> Table {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<&str> = line.split('|').collect();
        let mut options = read(cells[3], false);
        options.extend(read(cells[4], true));
        (code(cells[1])[0].clone(), options)
    })
    .collect()
}

fn read(cell: &str, refused: bool) -> Vec<Documented> {
    code(cell)
        .into_iter()
        .map(|shown| {
            let (names, takes) = if let Some(names) = shown.strip_suffix("[=ARG]") {
                (names, Takes::Optional)
            } else if let Some(names) = shown.strip_suffix("[ARG]") {
                (names, Takes::Optional)
            } else if let Some(names) = shown.strip_suffix("=ARG") {
                (names, Takes::Required)
            } else if let Some(names) = shown.strip_suffix(" ARG") {
                (names, Takes::Required)
            } else {
                (shown.as_str(), Takes::Nothing)
            };
            Documented {
                spellings: names.split(", ").map(str::to_owned).collect(),
                takes,
                refused,
            }
        })
        .collect()
}

/// Returns what stands between backticks.
fn code(cell: &str) -> Vec<String> {
    let parts = cell.split('`').skip(1).step_by(2);
    parts.map(|part| part.replace('\u{1}', "|")).collect()
}

fn builtins(page: &str) -> Vec<String> {
    let line = page.lines().find(|line| line.starts_with("`.`"));
    code(line.unwrap_or_default())
}

/// Reads the options of a synopsis such as `read [-ers] [-a array]`.
fn of_builtin(name: &str) -> Vec<Documented> {
    let script = format!("help -s '{name}'");
    let printed = Bash::new().exec(script.as_bytes()).stdout;
    let synopsis = String::from_utf8_lossy(&printed).into_owned();
    let mut options: Vec<Documented> = Vec::new();
    let mut before = ' ';
    for (at, sign) in synopsis.char_indices() {
        let letters: String = synopsis[at + 1..]
            .chars()
            .take_while(|letter| letter.is_ascii_alphabetic() || *letter == '@')
            .collect();
        let starts = sign == '-' && !before.is_alphanumeric() && !letters.is_empty();
        before = sign;
        let after = synopsis.get(at + 1 + letters.len()..).unwrap_or_default();
        // `-N` of `dirs` is a number, `-sigspec` of `kill` a name.
        let number = letters == "N" && !after.starts_with(" nchars");
        if !starts || letters == "sigspec" || number {
            continue;
        }
        let value = after.strip_prefix(' ').unwrap_or_default();
        let takes = letters.len() == 1
            && value.starts_with(|first: char| first.is_ascii_lowercase())
            && !value.starts_with("or ");
        for letter in letters.chars() {
            let option = Documented {
                spellings: vec![format!("-{letter}")],
                takes: if takes {
                    Takes::Required
                } else {
                    Takes::Nothing
                },
                refused: false,
            };
            if !options
                .iter()
                .any(|known| known.spellings == option.spellings)
            {
                options.push(option);
            }
        }
    }
    options
}
