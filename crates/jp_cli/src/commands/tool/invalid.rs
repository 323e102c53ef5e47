//! Arguments that do not fit, for the person who typed them: the argument first, and the schema only where it
//! is asked for.

/// What stands before the schema.
const SCHEMA: &str = "\n\nThe schema of the arguments:";

/// What stands before all of it.
const START: &str = "Invalid arguments:\n";

/// Writes what is wrong with arguments, one line each. `known` are the names of the tool's arguments.
pub(super) fn for_people(message: &str, known: &[&str]) -> String {
    let problems = message.split(SCHEMA).next().unwrap_or(message);
    let Some(problems) = problems.strip_prefix(START) else {
        return problems.to_owned();
    };
    let lines: Vec<String> = problems
        .lines()
        .flat_map(|line| problem(line, known))
        .collect();
    match lines.as_slice() {
        [one] => one.clone(),
        lines => format!("invalid arguments:\n{}", lines.join("\n")),
    }
}

/// Reads one line of the form ``- at `PATH`: TEXT (rule: RULE)``.
fn problem(line: &str, known: &[&str]) -> Vec<String> {
    let parts = line
        .strip_prefix("- at `")
        .and_then(|rest| rest.split_once("`: "));
    let Some((path, text)) = parts else {
        return vec![line.to_owned()];
    };
    let (text, rule) = match text.rsplit_once(" (rule: ") {
        Some((text, rule)) => (text, rule.trim_end_matches(')')),
        None => (text, ""),
    };
    let place = path.trim_start_matches('/').replace('/', ".");
    let inside = match place.as_str() {
        "" => String::new(),
        place => format!(" in `{place}`"),
    };
    match rule.rsplit('/').next() {
        Some("additionalProperties") => {
            let names = text.split('\'').skip(1).step_by(2);
            let unknown = names.map(|name| {
                let near = nearest(name, known).filter(|_| place.is_empty());
                let near =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                format!("unknown argument `{name}`{inside}{near}")
            });
            let unknown: Vec<String> = unknown.collect();
            match unknown.is_empty() {
                true => vec![format!("{text}{inside}")],
                false => unknown,
            }
        }
        Some("required") => {
            let name = text.split('"').nth(1).unwrap_or(text);
            vec![format!("missing argument `{name}`{inside}")]
        }
        _ if place.is_empty() => vec![text.to_owned()],
        _ => vec![format!("invalid argument `{place}`: {text}")],
    }
}

/// Returns the known name that is most like another one, if one is like it.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    jp_policy::nearest(name, known.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(problems: &str) -> String {
        for_people(
            &format!("Invalid arguments:\n{problems}{SCHEMA} {{\"a\": 1}}"),
            &["path", "text"],
        )
    }

    #[test]
    fn the_argument_comes_first_and_the_schema_not_at_all() {
        let unknown = "- at `/`: Additional properties are not allowed ('pth' was unexpected) (rule: /additionalProperties)";
        let missing = "- at `/`: \"path\" is a required property (rule: /required)";
        assert_eq!(
            check(unknown),
            "unknown argument `pth`; did you mean `path`?"
        );
        assert_eq!(check(missing), "missing argument `path`");
        assert_eq!(
            check(&format!("{unknown}\n{missing}")),
            "invalid arguments:\nunknown argument `pth`; did you mean `path`?\nmissing argument `path`"
        );
        let typed =
            "- at `/path/0`: 1 is not of type \"string\" (rule: /properties/path/items/type)";
        assert_eq!(
            check(typed),
            "invalid argument `path.0`: 1 is not of type \"string\""
        );
        let inner = "- at `/text`: Additional properties are not allowed ('a', 'b' were unexpected) (rule: /properties/text/additionalProperties)";
        assert_eq!(
            check(inner),
            "invalid arguments:\nunknown argument `a` in `text`\nunknown argument `b` in `text`"
        );
        assert_eq!(check("- and 3 more"), "- and 3 more");
        assert_eq!(for_people("Something else", &[]), "Something else");
    }
}
