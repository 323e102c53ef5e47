//! The arguments of a call, as they are typed: a JSON object, `key=value` words, or `-` for
//! standard input.

mod unique;

use std::{
    collections::BTreeMap,
    io::{self, Read},
};

use jp_llm::ChosenFile;
use jp_policy::Access;
use serde_json::{Map, Value, json};

use crate::error::CliError;

/// The most that is read from standard input.
const MAX_INPUT: u64 = 64 * 1024 * 1024;

/// Reads the words after the tool's name.
pub(crate) fn read(words: &[String]) -> Result<Map<String, Value>, CliError> {
    match words {
        [] => Ok(Map::new()),
        [word] if word == "-" => parse(&from_stdin()?, "standard input"),
        [word] if word.trim_start().starts_with(['{', '[']) => {
            parse(word.as_bytes(), "the arguments")
        }
        words => pairs(words),
    }
}

/// Takes the files a person chose: each becomes an argument that names it.
pub(crate) fn choose(
    words: &[String],
    arguments: &mut Map<String, Value>,
) -> Result<BTreeMap<String, ChosenFile>, CliError> {
    let mut files = BTreeMap::new();
    for word in words {
        let parts = word.split_once('=');
        let Some((name, path)) = parts.filter(|(name, path)| !name.is_empty() && !path.is_empty())
        else {
            return Err(CliError::usage(format!(
                "invalid `--file {word}`: expected ARGUMENT=PATH, such as source=./scan.pdf"
            )));
        };
        let (path, access) = match path.strip_suffix(":rw") {
            Some(path) => (path, Access::ReadWrite),
            None => (path, Access::Read),
        };
        let file = ChosenFile {
            path: std::path::absolute(path)
                .map_err(|source| CliError::at("cannot use", path, source))?,
            access,
        };
        let usable = std::fs::metadata(&file.path).map_err(|error| error.to_string());
        let usable = usable.and_then(|found| match found.is_file() {
            true => Ok(()),
            false => Err("not a regular file".to_owned()),
        });
        usable.map_err(|reason| CliError::usage(format!("cannot use {path}: {reason}")))?;
        let named = json!({ "$file": name });
        if arguments.insert(name.to_owned(), named).is_some() {
            return Err(CliError::usage(format!("`{name}` is given twice")));
        }
        files.insert(name.to_owned(), file);
    }
    Ok(files)
}

fn from_stdin() -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = io::stdin()
        .lock()
        .take(MAX_INPUT + 1)
        .read_to_end(&mut bytes);
    read.map_err(|source| CliError::System {
        what: "cannot read standard input".to_owned(),
        source,
    })?;
    if bytes.len() as u64 > MAX_INPUT {
        let most = MAX_INPUT >> 20;
        return Err(CliError::usage(format!(
            "standard input is larger than {most} MiB, the limit for arguments"
        )));
    }
    Ok(bytes)
}

fn parse(bytes: &[u8], what: &str) -> Result<Map<String, Value>, CliError> {
    match json(bytes, what)? {
        Value::Object(arguments) => Ok(arguments),
        other => Err(CliError::usage(format!(
            "{what} must be a JSON object, such as {{\"path\": \"notes.txt\"}}, not {}",
            kind(&other)
        ))),
    }
}

fn json(bytes: &[u8], what: &str) -> Result<Value, CliError> {
    let read = serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        CliError::usage(if text.contains("recursion limit") {
            format!(
                "{what}: the JSON is nested deeper than 128 levels (line {} column {})",
                error.line(),
                error.column()
            )
        } else {
            format!("{what}: invalid JSON: {text}")
        })
    })?;
    match unique::twice(bytes) {
        None => Ok(read),
        Some(key) => Err(CliError::usage(format!("{what}: duplicate key `{key}`"))),
    }
}

fn pairs(words: &[String]) -> Result<Map<String, Value>, CliError> {
    let mut arguments = Map::new();
    for word in words {
        let Some((key, text)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(CliError::Usage {
                message: format!("invalid argument `{word}`"),
                hint: Some(
                    "write key=value, key:=json, one JSON object, or - for standard input"
                        .to_owned(),
                ),
            });
        };
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => (key, json(text.as_bytes(), &format!("`{key}:=`"))?),
            None => (key, Value::from(text)),
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(CliError::usage(format!("`{key}` is given twice")));
        }
    }
    Ok(arguments)
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let read = read(&words);
        read.map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn words_become_arguments() {
        assert_eq!(check(&[]).unwrap(), json!({}));
        assert_eq!(check(&[r#"{"a": 1}"#]).unwrap(), json!({"a": 1}));
        let nested = r#"{"a": {"a": [{"a": 1}, {"a": 18446744073709551615}]}}"#;
        assert_eq!(
            check(&[nested]).unwrap(),
            serde_json::from_str::<Value>(nested).unwrap()
        );
        let sent = check(&["a=1", "b:=1", "c=x=y", "d:={\"e\":[]}", "f="]).unwrap();
        assert_eq!(
            sent,
            json!({"a": "1", "b": 1, "c": "x=y", "d": {"e": []}, "f": ""})
        );
    }

    #[test]
    fn e52_a_key_that_is_there_twice_is_refused_however_it_is_written() {
        for (word, reason) in [
            (r#"{"a": 1, "a": 2}"#, "duplicate key `a`"),
            (r#"{"x": [{"b": {}, "\u0062": 1}]}"#, "duplicate key `b`"),
            (r#"x:={"a": 1, "a": 1}"#, "`x:=`: duplicate key `a`"),
        ] {
            let error = check(&[word]).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn an_invalid_argument_is_refused_with_its_reason() {
        for (words, reason) in [
            (&["nonsense"][..], "invalid argument `nonsense`"),
            (&["=x"], "invalid argument `=x`"),
            (&["a=1", "a=2"], "given twice"),
            (&["[1]"], "must be a JSON object"),
            (&["{\"a\":"], "invalid JSON"),
            (&["a:=x"], "`a:=`: invalid JSON"),
        ] {
            let error = check(words).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        let deep = format!("{{\"a\":{}", "[".repeat(1_000_000));
        let error = check(&[&deep]).unwrap_err();
        assert!(error.contains("nested deeper than 128"), "{error}");
    }
}
