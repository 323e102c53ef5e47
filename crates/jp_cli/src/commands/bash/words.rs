//! The words of `--limit`, `--env` and `--net`.

use std::time::Duration;

use jp_bash::Bounds;
use jp_llm::script::bounds;
use jp_policy::{HostPattern, Limits, Net};

use crate::error::CliError;

/// The limits there are, with what each counts.
const NAMES: &str = "commands, loops, output, memory, files, depth, time";

/// Reads all `--limit NAME=N`; what they do not say is as it is for the tool `bash`.
pub(super) fn limits(words: &[String]) -> Result<Bounds, CliError> {
    let mut bounds = bounds(&Limits::default());
    for word in words {
        let wrong = |why: String| CliError::Usage {
            message: format!("--limit {word}: {why}"),
            hint: Some(format!("write NAME=N with one of {NAMES}")),
        };
        let (name, text) = word
            .split_once('=')
            .ok_or_else(|| wrong("no `=`".to_owned()))?;
        let number =
            number(text).ok_or_else(|| wrong(format!("invalid number `{text}`: expected a whole number above zero, with K, M or G behind it where it is large")))?;
        match name {
            "commands" => bounds.commands = number,
            "loops" => bounds.loops = number,
            "output" => bounds.output = number,
            "memory" => bounds.memory = number,
            "files" => bounds.files = number,
            "depth" => bounds.depth = number,
            "time" => bounds.time = Duration::from_secs(number),
            _ => return Err(wrong(format!("there is no limit `{name}`"))),
        }
    }
    Ok(bounds)
}

/// Reads a number with an optional K, M or G. Zero is an error: it would mean that nothing may run.
fn number(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' | b'k' => (text.get(..text.len() - 1)?, 1 << 10),
        b'M' | b'm' => (text.get(..text.len() - 1)?, 1 << 20),
        b'G' | b'g' => (text.get(..text.len() - 1)?, 1 << 30),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(unit).filter(|number| *number > 0)
}

/// Reads one `--env NAME=VALUE`.
pub(super) fn variable(word: &str) -> Result<(&str, &str), CliError> {
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        bytes
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    word.split_once('=')
        .filter(|(name, _)| is_name(name))
        .ok_or_else(|| CliError::Usage {
            message: format!("--env {word}: no variable"),
            hint: Some("write NAME=VALUE".to_owned()),
        })
}

/// Reads all `--net HOST`.
pub(super) fn network(words: &[String]) -> Result<Net, CliError> {
    let hosts = words.iter().map(|word| {
        word.parse::<HostPattern>()
            .map_err(|error| CliError::Usage {
                message: format!("--net {word}: {error}"),
                hint: Some("write a name or address, and :PORT behind it".to_owned()),
            })
    });
    Ok(Net::hosts(hosts.collect::<Result<Vec<_>, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_set_by_name_and_wrong_ones_are_refused() {
        let words = ["commands=5", "memory=2M", "time=3"].map(str::to_owned);
        let bounds = limits(&words).unwrap();
        assert_eq!((bounds.commands, bounds.memory), (5, 2 << 20));
        assert_eq!(bounds.time, Duration::from_secs(3));
        for wrong in [
            "commands",
            "nonsense=1",
            "loops=0",
            "loops=x",
            "memory=99999999999G",
            "files=",
        ] {
            assert!(limits(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn variables_need_a_name() {
        assert_eq!(variable("A_1=x=y").unwrap(), ("A_1", "x=y"));
        for wrong in ["A", "=x", "1A=x", "A-B=x"] {
            assert!(variable(wrong).is_err(), "{wrong}");
        }
    }
}
