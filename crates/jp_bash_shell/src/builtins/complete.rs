//! `compgen`, `complete`, `compopt`, `bind`.

use std::collections::BTreeSet;

use jp_bash_system::{FileKind, Follow, PIECE, System};

use super::args::Getopt;
use super::type_of::KEYWORDS;
use crate::Shell;
use crate::args::WORDS;
use crate::flow::Flow;
use crate::options::{SET, SHOPT};
use crate::pattern::Pattern;
use crate::vars::{Attrs, Value};
use crate::{jobs, signals};

const LETTERS: &str = "abcdefgjko:prsuvA:DEG:F:IP:S:W:X:C:";

/// What `-o` may name, in the order of `complete -p`.
const OPTIONS: &[&str] = &[
    "bashdefault",
    "default",
    "dirnames",
    "filenames",
    "noquote",
    "nosort",
    "nospace",
    "plusdirs",
];

/// What `-A` may name, in the order of `complete -p`, with its letter if it has one.
const ACTIONS: &[(&str, Option<u8>)] = &[
    ("alias", Some(b'a')),
    ("builtin", Some(b'b')),
    ("command", Some(b'c')),
    ("directory", Some(b'd')),
    ("export", Some(b'e')),
    ("file", Some(b'f')),
    ("group", Some(b'g')),
    ("job", Some(b'j')),
    ("keyword", Some(b'k')),
    ("service", Some(b's')),
    ("user", Some(b'u')),
    ("variable", Some(b'v')),
    ("arrayvar", None),
    ("binding", None),
    ("disabled", None),
    ("enabled", None),
    ("function", None),
    ("helptopic", None),
    ("hostname", None),
    ("running", None),
    ("setopt", None),
    ("shopt", None),
    ("signal", None),
    ("stopped", None),
];

/// What is to be generated.
#[derive(Default)]
struct Spec {
    actions: Vec<Vec<u8>>,
    words: Option<Vec<u8>>,
    glob: Option<Vec<u8>>,
    function: Option<Vec<u8>>,
    command: Option<Vec<u8>>,
    options: Vec<Vec<u8>>,
    /// `-D`, `-E`, `-I`: for commands without a completion, the empty line, the first word.
    special: Vec<&'static [u8]>,
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
            b'C' => spec.command = Some(value),
            b'o' => spec.options.push(value),
            b'D' => spec.special.push(b"-D"),
            b'E' => spec.special.push(b"-E"),
            b'I' => spec.special.push(b"-I"),
            letter => {
                let action = ACTIONS.iter().find(|(_, known)| *known == Some(letter));
                let name = action.map_or("", |(name, _)| name);
                spec.actions.push(name.as_bytes().to_vec());
            }
        }
    }
    Ok(spec)
}

impl Spec {
    /// Returns the message about a name of `-A` or `-o` that there is not.
    fn unknown(&self) -> Option<Vec<u8>> {
        let is_action = |name: &[u8]| ACTIONS.iter().any(|(known, _)| known.as_bytes() == name);
        if let Some(name) = self.actions.iter().find(|name| !is_action(name)) {
            return Some([name, &b": invalid action name"[..]].concat());
        }
        let is_option = |name: &[u8]| OPTIONS.iter().any(|known| known.as_bytes() == name);
        let option = self.options.iter().find(|name| !is_option(name))?;
        Some([option, &b": invalid option name"[..]].concat())
    }

    /// Tells whether nothing is to be generated at all.
    fn is_empty(&self) -> bool {
        self.actions.is_empty()
            && self.options.is_empty()
            && self.words.is_none()
            && self.glob.is_none()
            && self.function.is_none()
            && self.command.is_none()
    }

    /// Writes the command that sets this, without the name, as `complete -p` shows it.
    fn text(&self) -> Vec<u8> {
        let mut out = b"complete".to_vec();
        for name in OPTIONS {
            if self.options.iter().any(|given| given == name.as_bytes()) {
                out.extend_from_slice(format!(" -o {name}").as_bytes());
            }
        }
        for (name, letter) in ACTIONS {
            if self.actions.iter().any(|given| given == name.as_bytes()) {
                let text = match letter {
                    Some(letter) => format!(" -{}", char::from(*letter)),
                    None => format!(" -A {name}"),
                };
                out.extend_from_slice(text.as_bytes());
            }
        }
        let prefix = Some(&self.prefix).filter(|text| !text.is_empty());
        let suffix = Some(&self.suffix).filter(|text| !text.is_empty());
        for (letter, text) in [
            (b'G', self.glob.as_ref()),
            (b'W', self.words.as_ref()),
            (b'P', prefix),
            (b'S', suffix),
            (b'X', self.filter.as_ref()),
            (b'C', self.command.as_ref()),
        ] {
            if let Some(text) = text {
                let quoted = super::args::single_quoted(text);
                out.extend_from_slice(&[b" -", &[letter][..], b" ", &quoted].concat());
            }
        }
        if let Some(function) = &self.function {
            out.extend_from_slice(&[b" -F ", function.as_slice()].concat());
        }
        out
    }
}

pub(super) fn compgen(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str = "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]";
    let mut options = Getopt::new(args, LETTERS);
    let spec = match read(&mut options) {
        Ok(spec) => spec,
        Err(bad) => return shell.bad_option(b"compgen", &bad, USAGE),
    };
    if let Some(message) = spec.unknown() {
        shell.complain_as(b"compgen", &message)?;
        return Ok(2);
    }
    if spec.is_empty() {
        return Ok(0);
    }
    let word = options.rest().first().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for action in &spec.actions {
        if let Some(mut list) = generate(shell, action, &word)? {
            found.append(&mut list);
        }
    }
    if let Some(words) = &spec.words {
        let text = shell.expand_text(words)?;
        add_words(shell, &text, &word, &mut found)?;
    }
    if let Some(pattern) = &spec.glob {
        found.extend(shell.glob(pattern)?.unwrap_or_default());
    }
    if let Some(function) = &spec.function {
        found.extend(by_function(shell, function, &word)?);
    }
    if let Some(command) = &spec.command {
        found.extend(by_command(shell, command, &word)?);
    }
    let wants = |name: &str| spec.options.iter().any(|given| given == name.as_bytes());
    if found.is_empty() && (wants("default") || wants("bashdefault")) {
        found = files(shell, false, &word)?;
    } else if wants("plusdirs") || (found.is_empty() && wants("dirnames")) {
        found.extend(files(shell, true, &word)?);
    }
    if let Some(filter) = &spec.filter {
        found = filtered(shell, found, filter, &word)?;
    }
    let mut out = Vec::new();
    for some in found.chunks(WORDS) {
        shell.kernel.budget.work_bytes(PIECE)?;
        for candidate in some {
            out.extend_from_slice(&spec.prefix);
            out.extend_from_slice(candidate);
            out.extend_from_slice(&spec.suffix);
            out.push(b'\n');
        }
    }
    let printed = shell.print(b"compgen", &out)?;
    Ok(i32::max(printed, i32::from(found.is_empty())))
}

/// Adds the words of `-W` that begin like the word.
fn add_words(
    shell: &Shell<'_>,
    text: &[u8],
    word: &[u8],
    found: &mut Vec<Vec<u8>>,
) -> Result<(), Flow> {
    for candidate in text.split(u8::is_ascii_whitespace) {
        if candidate.is_empty() || !candidate.starts_with(word) {
            continue;
        }
        if found.len() % WORDS == WORDS - 1 {
            shell.kernel.budget.work_bytes(PIECE)?;
        }
        found.push(candidate.to_vec());
    }
    Ok(())
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
        crate::args::Args::new(vec![word.to_vec(), Vec::new()]),
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

/// Runs a command; each line that it prints is a candidate.
fn by_command(shell: &mut Shell<'_>, command: &[u8], word: &[u8]) -> Result<Vec<Vec<u8>>, Flow> {
    shell.complain_as(b"compgen", b"warning: -C option may not work as you expect")?;
    let call = [b"$(", command, b" compgen \"$1\" \"$2\")"].concat();
    let outer = std::mem::replace(
        &mut shell.args,
        crate::args::Args::new(vec![word.to_vec(), Vec::new()]),
    );
    let printed = shell.expand_text(&call);
    shell.args = outer;
    let printed = printed?;
    let lines = printed.split(|byte| *byte == b'\n');
    Ok(lines
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
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
        shell
            .kernel
            .programs
            .names()
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
    if let Some(message) = spec.unknown() {
        shell.complain_as(b"complete", &message)?;
        return Ok(2);
    }
    let named = options.rest().iter().map(Vec::as_slice);
    let names: Vec<&[u8]> = named.chain(spec.special.iter().copied()).collect();
    if spec.print || args.len() == 1 {
        return show_completions(shell, &names);
    }
    let completions = std::sync::Arc::make_mut(&mut shell.completions);
    if spec.remove {
        if names.is_empty() {
            completions.clear();
        }
        for name in names {
            completions.remove(name);
        }
        return Ok(0);
    }
    if names.is_empty() {
        return shell.usage(b"complete", USAGE);
    }
    let shown = spec.text();
    shell
        .kernel
        .budget
        .reserve(shown.len() as u64 * names.len() as u64 + 64)?;
    for name in names {
        completions.insert(name.into(), shown.clone().into());
    }
    Ok(0)
}

fn show_completions(shell: &mut Shell<'_>, names: &[&[u8]]) -> Result<i32, Flow> {
    let mut out = Vec::new();
    for (name, text) in shell.completions.iter() {
        if names.is_empty() || names.iter().any(|wanted| **wanted == **name) {
            out.extend_from_slice(&[text, &b" "[..], name, b"\n"].concat());
        }
    }
    let mut status = 0;
    for name in names {
        if !shell.completions.contains_key(*name) {
            let text = [name, &b": no completion specification"[..]].concat();
            shell.complain_as(b"complete", &text)?;
            status = 1;
        }
    }
    shell.print(b"complete", &out)?;
    Ok(status)
}

pub(super) fn compopt(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str = "compopt [-o|+o option] [-DEI] [name ...]";
    let mut options = Getopt::new(args, "+o:DEI");
    let mut special: Vec<&[u8]> = Vec::new();
    let mut changes: Vec<(Vec<u8>, bool)> = Vec::new();
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'D' => special.push(b"-D"),
                b'E' => special.push(b"-E"),
                b'I' => special.push(b"-I"),
                _ => {
                    let name = given.value.unwrap_or_default().to_vec();
                    if !OPTIONS
                        .iter()
                        .any(|known| known.as_bytes() == name.as_slice())
                    {
                        let text = [&name[..], b": invalid option name"].concat();
                        shell.complain_as(b"compopt", &text)?;
                        return Ok(2);
                    }
                    changes.push((name, !given.plus));
                }
            },
            Err(bad) => return shell.bad_option(b"compopt", &bad, USAGE),
        }
    }
    let named = options.rest().iter().map(Vec::as_slice);
    let names: Vec<&[u8]> = named.chain(special).collect();
    if names.is_empty() {
        shell.complain_as(b"compopt", b"not currently executing completion function")?;
        return Ok(1);
    }
    for name in names {
        let Some(old) = shell.completions.get(name).cloned() else {
            let text = [name, &b": no completion specification"[..]].concat();
            shell.complain_as(b"compopt", &text)?;
            return Ok(1);
        };
        let (mut set, rest) = options_of(&old);
        if changes.is_empty() {
            let text = shown_options(&set, name);
            shell.print(b"compopt", &text)?;
            continue;
        }
        for (option, on) in &changes {
            set.retain(|known| known != option);
            if *on {
                set.push(option.clone());
            }
        }
        let spec = Spec {
            options: set,
            ..Spec::default()
        };
        let text = [spec.text().as_slice(), rest].concat();
        shell.kernel.budget.reserve(text.len() as u64)?;
        let completions = std::sync::Arc::make_mut(&mut shell.completions);
        completions.insert(name.into(), text.into());
    }
    Ok(0)
}

/// Takes the text of a completion apart: the names behind `-o`, and what follows them.
fn options_of(text: &[u8]) -> (Vec<Vec<u8>>, &[u8]) {
    let mut set = Vec::new();
    let mut rest = text.strip_prefix(b"complete").unwrap_or(text);
    while let Some(tail) = rest.strip_prefix(b" -o ") {
        let end = memchr::memchr(b' ', tail).unwrap_or(tail.len());
        let (name, after) = tail.split_at_checked(end).unwrap_or((tail, b""));
        set.push(name.to_vec());
        rest = after;
    }
    (set, rest)
}

/// Shows which options are on and off, as `compopt NAME` does.
fn shown_options(set: &[Vec<u8>], name: &[u8]) -> Vec<u8> {
    let mut out = b"compopt".to_vec();
    for option in OPTIONS {
        let on = set.iter().any(|known| known == option.as_bytes());
        let sign = if on { '-' } else { '+' };
        out.extend_from_slice(format!(" {sign}o {option}").as_bytes());
    }
    [&out, &b" "[..], name, b"\n"].concat()
}

/// There is no line editor: its options are refused by name.
pub(super) fn bind(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str = "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] [keyseq:readline-function or readline-command]";
    let mut options = Getopt::new(args, "lpsvPSVXm:f:q:u:r:x:");
    match options.next() {
        Err(bad) => return shell.bad_option(b"bind", &bad, USAGE),
        Ok(Some(given)) => {
            let name = [b'-', given.letter];
            let text = [&name[..], b": not supported: there is no line editor"].concat();
            shell.complain_as(b"bind", &text)?;
            return Ok(1);
        }
        Ok(None) => {}
    }
    shell.complain_as(b"bind", b"warning: line editing not enabled")?;
    Ok(0)
}
