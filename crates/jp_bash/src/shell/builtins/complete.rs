//! `compgen`, `complete`, `compopt`, `bind`.

use std::collections::BTreeSet;

use super::args::Getopt;
use super::type_of::KEYWORDS;
use crate::shell::Shell;
use crate::shell::flow::Flow;
use crate::shell::options::{SET, SHOPT};
use crate::shell::pattern::Pattern;
use crate::shell::vars::{Attrs, Value};
use crate::shell::{jobs, signals};
use crate::system::{FileKind, Follow, System};

const LETTERS: &str = "abcdefgjko:prsuvA:DEG:F:IP:S:W:X:C:V:";

/// What is to be generated.
#[derive(Default)]
struct Spec {
    actions: Vec<Vec<u8>>,
    words: Option<Vec<u8>>,
    glob: Option<Vec<u8>>,
    function: Option<Vec<u8>>,
    filter: Option<Vec<u8>>,
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    print: bool,
    remove: bool,
}

fn read(args: &mut Getopt<'_>) -> Result<Spec, super::args::Bad> {
    let mut spec = Spec::default();
    while let Some(given) = args.next()? {
        let value = given.value.unwrap_or_default().to_vec();
        match given.letter {
            b'A' => spec.actions.push(value),
            b'W' => spec.words = Some(value),
            b'G' => spec.glob = Some(value),
            b'F' => spec.function = Some(value),
            b'X' => spec.filter = Some(value),
            b'P' => spec.prefix = value,
            b'S' => spec.suffix = value,
            b'p' => spec.print = true,
            b'r' => spec.remove = true,
            letter => {
                let action = match letter {
                    b'a' => "alias",
                    b'b' => "builtin",
                    b'c' => "command",
                    b'd' => "directory",
                    b'e' => "export",
                    b'f' => "file",
                    b'g' => "group",
                    b'j' => "job",
                    b'k' => "keyword",
                    b's' => "service",
                    b'u' => "user",
                    b'v' => "variable",
                    _ => continue,
                };
                spec.actions.push(action.as_bytes().to_vec());
            }
        }
    }
    Ok(spec)
}

pub(super) fn compgen(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str = "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]";
    let mut options = Getopt::new(args, LETTERS);
    let spec = match read(&mut options) {
        Ok(spec) => spec,
        Err(bad) => return shell.bad_option(b"compgen", &bad, USAGE),
    };
    let word = options.rest().first().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for action in &spec.actions {
        match generate(shell, action, &word)? {
            Some(mut list) => found.append(&mut list),
            None => {
                let text = [action, &b": invalid action name"[..]].concat();
                shell.complain_as(b"compgen", &text)?;
                return Ok(2);
            }
        }
    }
    if let Some(words) = &spec.words {
        let text = shell.expand_text(words)?;
        found.extend(
            text.split(u8::is_ascii_whitespace)
                .filter(|candidate| !candidate.is_empty() && candidate.starts_with(&word))
                .map(<[u8]>::to_vec),
        );
    }
    if let Some(pattern) = &spec.glob {
        found.extend(shell.glob(pattern)?.unwrap_or_default());
    }
    if let Some(function) = &spec.function {
        found.extend(by_function(shell, function, &word)?);
    }
    if let Some(filter) = &spec.filter {
        found = filtered(shell, found, filter, &word)?;
    }
    let mut out = Vec::new();
    for candidate in &found {
        out.extend_from_slice(&spec.prefix);
        out.extend_from_slice(candidate);
        out.extend_from_slice(&spec.suffix);
        out.push(b'\n');
    }
    let printed = shell.print(b"compgen", &out)?;
    Ok(i32::max(printed, i32::from(found.is_empty())))
}

fn filtered(
    shell: &mut Shell<'_>,
    found: Vec<Vec<u8>>,
    filter: &[u8],
    word: &[u8],
) -> Result<Vec<Vec<u8>>, Flow> {
    let (keep, pattern) = match filter.strip_prefix(b"!") {
        Some(rest) => (true, rest),
        None => (false, filter),
    };
    let mut text = Vec::new();
    let mut rest = pattern.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => {
                if rest.peek() == Some(&b'&') {
                    rest.next();
                    text.push(b'&');
                } else {
                    text.push(b'\\');
                }
            }
            b'&' => text.extend_from_slice(word),
            byte => text.push(byte),
        }
    }
    let compiled = Pattern::new(&text, shell.pattern_options());
    let mut out = Vec::new();
    for candidate in found {
        let matches = compiled.matches(&candidate, &shell.kernel.budget)?;
        if matches == keep {
            out.push(candidate);
        }
    }
    Ok(out)
}

/// Runs a completion function and takes `COMPREPLY`.
fn by_function(shell: &mut Shell<'_>, function: &[u8], word: &[u8]) -> Result<Vec<Vec<u8>>, Flow> {
    shell.complain_as(b"compgen", b"warning: -F option may not work as you expect")?;
    let reply = shell.intern(b"COMPREPLY")?;
    if !shell.functions.contains_key(function) {
        return Ok(Vec::new());
    }
    let call = [function, b" compgen \"$1\" \"$2\""].concat();
    let outer = std::mem::replace(
        &mut shell.args,
        crate::shell::args::Args::new(vec![word.to_vec(), Vec::new()]),
    );
    let result = shell.eval_text(&call);
    shell.args = outer;
    result?;
    Ok(match shell.value_of(reply)? {
        Value::Indexed(array) => array
            .iter()
            .map(|(_, text)| text.as_slice().to_vec())
            .collect(),
        Value::Scalar(text) => vec![text.as_slice().to_vec()],
        _ => Vec::new(),
    })
}

/// Lists one kind of name; `None` if there is no such kind.
fn generate(
    shell: &mut Shell<'_>,
    action: &[u8],
    word: &[u8],
) -> Result<Option<Vec<Vec<u8>>>, Flow> {
    let text = |name: &str| name.as_bytes().to_vec();
    let all: Vec<Vec<u8>> = match action {
        b"builtin" | b"enabled" | b"disabled" => super::names()
            .iter()
            .filter(|name| {
                let off = shell
                    .disabled
                    .iter()
                    .any(|known| **known == *name.as_bytes());
                match action {
                    b"enabled" => !off,
                    b"disabled" => off,
                    _ => true,
                }
            })
            .map(|name| text(name))
            .collect(),
        b"helptopic" => super::names().iter().map(|name| text(name)).collect(),
        b"keyword" => KEYWORDS.iter().map(|name| text(name)).collect(),
        b"alias" => shell.aliases.keys().map(|name| name.to_vec()).collect(),
        b"function" => shell.functions.keys().map(|name| name.to_vec()).collect(),
        b"setopt" => SET.iter().map(|(name, ..)| text(name)).collect(),
        b"shopt" => SHOPT.iter().map(|(name, _)| text(name)).collect(),
        b"signal" => (0..signals::COUNT)
            .filter_map(|signal| {
                let name = signals::name(signal)?;
                let real = (1..signals::DEBUG).contains(&signal);
                Some(text(&if real { format!("SIG{name}") } else { name }))
            })
            .collect(),
        b"variable" | b"export" | b"arrayvar" => variables(shell, action),
        b"job" | b"running" | b"stopped" => shell
            .jobs
            .list
            .iter()
            .filter(|job: &&jobs::Job| match action {
                b"running" => !job.done() && job.stopped.is_none(),
                b"stopped" => job.stopped.is_some(),
                _ => true,
            })
            .map(|job| {
                job.command
                    .split(|byte| *byte == b' ')
                    .next()
                    .unwrap_or_default()
                    .to_vec()
            })
            .collect(),
        b"command" => commands(shell)?,
        b"user" => vec![b"root".to_vec(), shell.kernel.identity.user.to_vec()],
        b"group" => vec![b"root".to_vec(), shell.kernel.identity.user.to_vec()],
        b"hostname" => vec![shell.kernel.identity.host.to_vec()],
        b"service" | b"binding" => Vec::new(),
        b"file" | b"directory" => return files(shell, action == b"directory", word).map(Some),
        _ => return Ok(None),
    };
    let mut all: Vec<Vec<u8>> = all
        .into_iter()
        .filter(|name| name.starts_with(word))
        .collect();
    if matches!(
        action,
        b"alias" | b"function" | b"variable" | b"export" | b"arrayvar"
    ) {
        all.sort();
    }
    Ok(Some(all))
}

fn variables(shell: &Shell<'_>, action: &[u8]) -> Vec<Vec<u8>> {
    let names = shell.kernel.names.borrow();
    let mut list: Vec<Vec<u8>> = shell
        .vars
        .all()
        .filter(|(_, var)| match action {
            b"export" => var.attrs.has(Attrs::EXPORT) && var.is_set(),
            b"arrayvar" => var.attrs.has(Attrs::INDEXED.with(Attrs::ASSOC)),
            _ => var.is_set() || var.attrs.has(Attrs::DYNAMIC),
        })
        .map(|(name, _)| names.text(name).to_vec())
        .collect();
    list.sort();
    list
}

fn commands(shell: &mut Shell<'_>) -> Result<Vec<Vec<u8>>, Flow> {
    let mut set: BTreeSet<Vec<u8>> = BTreeSet::new();
    set.extend(shell.aliases.keys().map(|name| name.to_vec()));
    set.extend(KEYWORDS.iter().map(|name| name.as_bytes().to_vec()));
    set.extend(shell.functions.keys().map(|name| name.to_vec()));
    set.extend(super::names().iter().map(|name| name.as_bytes().to_vec()));
    set.extend(
        crate::commands::table::names()
            .iter()
            .map(|name| name.as_bytes().to_vec()),
    );
    set.extend(shell.kernel.custom.keys().cloned());
    shell.work(8)?;
    Ok(set.into_iter().collect())
}

fn files(shell: &mut Shell<'_>, dirs_only: bool, word: &[u8]) -> Result<Vec<Vec<u8>>, Flow> {
    let (dir, start) = match word.iter().rposition(|byte| *byte == b'/') {
        Some(at) => word.split_at(at + 1),
        None => (&b""[..], word),
    };
    let path = if dir.is_empty() { &b"."[..] } else { dir };
    let Ok(entries) = shell.read_dir(path) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for entry in entries {
        if !entry.name.starts_with(start) || (start.is_empty() && entry.name.starts_with(b".")) {
            continue;
        }
        let full = [dir, &entry.name].concat();
        let is_dir = entry.kind == FileKind::Directory
            || (entry.kind == FileKind::Symlink
                && shell
                    .stat(&full, Follow::Yes)
                    .is_ok_and(|stat| stat.kind == FileKind::Directory));
        if !dirs_only || is_dir {
            found.push(full);
        }
    }
    Ok(found)
}

/// Completions are for people at a terminal: kept as texts so that `complete -p` shows them.
pub(super) fn complete(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str = "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]";
    let mut options = Getopt::new(args, LETTERS);
    let spec = match read(&mut options) {
        Ok(spec) => spec,
        Err(bad) => return shell.bad_option(b"complete", &bad, USAGE),
    };
    let names = options.rest();
    if spec.print || args.len() == 1 {
        let mut out = Vec::new();
        for (name, text) in shell.completions.iter() {
            if names.is_empty() || names.iter().any(|wanted| **wanted == **name) {
                out.extend_from_slice(&[text, &b" "[..], name, b"\n"].concat());
            }
        }
        let mut status = 0;
        for name in names {
            if !shell.completions.contains_key(name.as_slice()) {
                let text = [name, &b": no completion specification"[..]].concat();
                shell.complain_as(b"complete", &text)?;
                status = 1;
            }
        }
        shell.print(b"complete", &out)?;
        return Ok(status);
    }
    let completions = std::sync::Arc::make_mut(&mut shell.completions);
    if spec.remove {
        if names.is_empty() {
            completions.clear();
        }
        for name in names {
            completions.remove(name.as_slice());
        }
        return Ok(0);
    }
    let shown = args
        .get(..args.len() - names.len())
        .unwrap_or_default()
        .iter()
        .map(|arg| {
            let mut out = Vec::new();
            crate::shell::run::push_quoted(&mut out, arg);
            out
        })
        .collect::<Vec<_>>()
        .join(&b' ');
    shell
        .kernel
        .budget
        .reserve(shown.len() as u64 * names.len() as u64 + 64)?;
    for name in names {
        completions.insert(name.as_slice().into(), shown.clone().into());
    }
    Ok(0)
}

pub(super) fn compopt(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut options = Getopt::new(args, "+o:DEI");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(_)) => {}
            Err(bad) => {
                return shell.bad_option(
                    b"compopt",
                    &bad,
                    "compopt [-o|+o option] [-DEI] [name ...]",
                );
            }
        }
    }
    if options.rest().is_empty() {
        shell.complain_as(b"compopt", b"not currently executing completion function")?;
        return Ok(1);
    }
    for name in options.rest() {
        if !shell.completions.contains_key(name.as_slice()) {
            let text = [name, &b": no completion specification"[..]].concat();
            shell.complain_as(b"compopt", &text)?;
            return Ok(1);
        }
    }
    Ok(0)
}

/// There is no line editor.
pub(super) fn bind(shell: &mut Shell<'_>, _args: &[Vec<u8>]) -> Result<i32, Flow> {
    shell.complain_as(b"bind", b"warning: line editing not enabled")?;
    Ok(0)
}
