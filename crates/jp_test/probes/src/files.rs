//! Operations on files, for probes of every kind.
//!
//! Does a list of them, `{"do": [["read", "/workspace/a"], …]}`, and reports each:
//! `ok`, `ok: what was read`, or the error of the system. `keep` opens and keeps a file open;
//! `pour` appends that many bytes, `grow` changes the length, `poke` writes one byte that far in;
//! `{"times": n}` beside the list repeats it, and `{n}` in a path is then the number of the turn.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
};

use jp_tool::Outcome;
use serde_json::Value;

use crate::Call;

/// Does what a component was asked to.
#[must_use]
pub fn run(call: &Call) -> Outcome {
    reports(&call.arguments).into()
}

/// Does what the arguments say and returns a list of reports.
#[must_use]
pub fn reports(arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let times = arguments["times"].as_u64().unwrap_or_default().max(1);
    let mut kept = Vec::new();
    let mut reports = Vec::new();
    for turn in 0..times {
        for step in arguments["do"].as_array().into_iter().flatten() {
            let word = |at: usize| {
                let word = step.get(at).and_then(Value::as_str).unwrap_or_default();
                word.replace("{n}", &turn.to_string())
            };
            reports.push(match act(&word(0), &word(1), &word(2), &mut kept) {
                Ok(text) if text.is_empty() => "ok".to_owned(),
                Ok(text) => format!("ok: {text}"),
                Err(error) => error.to_string(),
            });
        }
    }
    Value::from(reports).to_string()
}

fn act(what: &str, path: &str, other: &str, kept: &mut Vec<File>) -> io::Result<String> {
    match what {
        "read" => return fs::read_to_string(path),
        "first" => {
            let mut bytes = [0; 64];
            let read = File::open(path)?.read(&mut bytes)?;
            return Ok(String::from_utf8_lossy(&bytes[..read]).into_owned());
        }
        "keep" => kept.push(File::open(path)?),
        "drop" => kept.clear(),
        "write" => fs::write(path, other)?,
        "append" => OpenOptions::new()
            .append(true)
            .open(path)?
            .write_all(other.as_bytes())?,
        "truncate" => drop(OpenOptions::new().write(true).truncate(true).open(path)?),
        "resize" => File::open(path)?.set_len(0)?,
        "pour" => pour(path, number(other)?)?,
        "grow" => OpenOptions::new()
            .write(true)
            .open(path)?
            .set_len(number(other)?)?,
        "poke" => {
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.seek(SeekFrom::Start(number(other)?))?;
            file.write_all(b"x")?;
        }
        "create" => drop(File::create_new(path)?),
        "rename" => fs::rename(path, other)?,
        "link" => fs::hard_link(path, other)?,
        "symlink" => symlink(path, other)?,
        "unlink" => fs::remove_file(path)?,
        "mkdir" => fs::create_dir(path)?,
        "rmdir" => fs::remove_dir(path)?,
        "stat" => return Ok(format!("{} bytes", fs::metadata(path)?.len())),
        "lstat" => return Ok(format!("{:?}", fs::symlink_metadata(path)?.file_type())),
        "readlink" => return Ok(fs::read_link(path)?.display().to_string()),
        "list" => {
            let names = fs::read_dir(path)?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect::<io::Result<Vec<_>>>()?;
            return Ok(names.join(" "));
        }
        other => return Err(io::Error::other(format!("no operation `{other}`"))),
    }
    Ok(String::new())
}

fn number(word: &str) -> io::Result<u64> {
    word.parse().map_err(io::Error::other)
}

fn pour(path: &str, mut bytes: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    while bytes > 0 {
        let now = bytes.min(10_000);
        file.write_all(&vec![b'x'; now as usize])?;
        bytes -= now;
    }
    Ok(())
}

#[expect(
    deprecated,
    reason = "the successor for WASI is unstable, and there are no other kinds of links there"
)]
fn symlink(target: &str, path: &str) -> io::Result<()> {
    fs::soft_link(target, path)
}
