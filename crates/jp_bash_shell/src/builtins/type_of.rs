//! `type`, and `command -v`.

use jp_bash_syntax::print;

use super::args::{Getopt, single_quoted};
use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;

const USAGE: &str = "type [-afptP] name [name ...]";

/// Reserved words, as `compgen -k` lists them.
pub(crate) const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
    "done", "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc",
];

#[derive(Default)]
struct Wanted {
    all: bool,
    no_functions: bool,
    path_only: bool,
    type_only: bool,
    force_path: bool,
}

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut wanted = Wanted::default();
    let mut options = Getopt::new(args, "afptP");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'a' => wanted.all = true,
                b'f' => wanted.no_functions = true,
                b'p' => (wanted.path_only, wanted.type_only) = (true, false),
                b't' => (wanted.type_only, wanted.path_only) = (true, false),
                _ => (wanted.path_only, wanted.force_path) = (true, true),
            },
            Err(bad) => return shell.bad_option(b"type", &bad, USAGE),
        }
    }
    let mut status = 0;
    for name in options.rest() {
        let mut out = Vec::new();
        if !tell(shell, name, &wanted, &mut out)? {
            status = 1;
            if !wanted.type_only && !wanted.path_only {
                shell.complain_as(b"type", &[name, &b": not found"[..]].concat())?;
            }
        }
        let printed = shell.print(b"type", &out)?;
        status = i32::max(status, printed);
    }
    Ok(status)
}

/// Says what one name is; `false` if it is nothing.
fn tell(
    shell: &mut Shell<'_>,
    name: &[u8],
    wanted: &Wanted,
    out: &mut Vec<u8>,
) -> Result<bool, Flow> {
    let mut found = false;
    if !wanted.force_path {
        for (kind, text) in inside(shell, name, wanted.no_functions) {
            if wanted.path_only {
                if !wanted.all {
                    return Ok(true);
                }
                found = true;
                continue;
            }
            found = true;
            if wanted.type_only {
                out.extend_from_slice(kind.as_bytes());
                out.push(b'\n');
            } else {
                out.extend_from_slice(&text);
            }
            if !wanted.all {
                return Ok(true);
            }
        }
    }
    let hashed = shell.hashed.get(name).map(|(path, _)| path.to_vec());
    if let (Some(path), false) = (&hashed, wanted.all || wanted.force_path) {
        let line = match (wanted.type_only, wanted.path_only) {
            (true, _) => b"file\n".to_vec(),
            (_, true) => [path, &b"\n"[..]].concat(),
            _ => [name, b" is hashed (", path, b")\n"].concat(),
        };
        out.extend_from_slice(&line);
        return Ok(true);
    }
    for path in shell.program_paths(name)? {
        found = true;
        let line = match (wanted.type_only, wanted.path_only) {
            (true, _) => b"file\n".to_vec(),
            (_, true) => [&path, &b"\n"[..]].concat(),
            _ => [name, b" is ", &path, b"\n"].concat(),
        };
        out.extend_from_slice(&line);
        if !wanted.all {
            break;
        }
    }
    if !found && shell.kernel.custom.contains_key(name) {
        let line = if wanted.type_only {
            b"builtin\n".to_vec()
        } else {
            [name, b" is a shell builtin\n"].concat()
        };
        out.extend_from_slice(&line);
        return Ok(true);
    }
    Ok(found)
}

/// Returns what a name is to the shell itself: the word of `type -t`, and the text of `type`.
fn inside(shell: &Shell<'_>, name: &[u8], no_functions: bool) -> Vec<(&'static str, Vec<u8>)> {
    let mut list = Vec::new();
    if let Some(text) = shell
        .aliases
        .get(name)
        .filter(|_| shell.options.has(Opt::ExpandAliases))
    {
        list.push(("alias", [name, b" is aliased to `", text, b"'\n"].concat()));
    }
    if KEYWORDS.iter().any(|word| word.as_bytes() == name) {
        list.push(("keyword", [name, b" is a shell keyword\n"].concat()));
    }
    if let (Some(definition), false) = (shell.functions.get(name), no_functions) {
        let text = print::print_function(&definition.function, &shell.kernel.names.borrow());
        list.push(("function", [name, b" is a function\n", &text].concat()));
    }
    if let Some(entry) = shell.find_builtin(name) {
        let special = entry.special && shell.options.has(Opt::Posix);
        let text: &[u8] = if special {
            b" is a special shell builtin\n"
        } else {
            b" is a shell builtin\n"
        };
        list.push(("builtin", [name, text].concat()));
    }
    list
}

/// `command -v` and `command -V`.
pub(super) fn describe(shell: &mut Shell<'_>, names: &[Vec<u8>], long: bool) -> Result<i32, Flow> {
    let mut any = false;
    for name in names {
        let mut out = Vec::new();
        if long {
            let found = tell(shell, name, &Wanted::default(), &mut out)?;
            if !found {
                shell.complain_as(b"command", &[name, &b": not found"[..]].concat())?;
            }
            any |= found;
        } else if let Some(text) = short(shell, name)? {
            out = text;
            any = true;
        }
        shell.print(b"command", &out)?;
    }
    Ok(i32::from(!any))
}

fn short(shell: &mut Shell<'_>, name: &[u8]) -> Result<Option<Vec<u8>>, Flow> {
    if let Some(text) = shell
        .aliases
        .get(name)
        .filter(|_| shell.options.has(Opt::ExpandAliases))
    {
        let line = [b"alias ", name, b"=", &single_quoted(text), b"\n"].concat();
        return Ok(Some(line));
    }
    let known = KEYWORDS.iter().any(|word| word.as_bytes() == name)
        || shell.functions.contains_key(name)
        || shell.find_builtin(name).is_some();
    if known {
        return Ok(Some([name, b"\n"].concat()));
    }
    if let Some((path, _)) = shell.hashed.get(name) {
        return Ok(Some([path, &b"\n"[..]].concat()));
    }
    if let Some(path) = shell.program_path(name)? {
        // A path with a slash is shown as an absolute one.
        let path = if name.contains(&b'/') && !name.starts_with(b"/") {
            super::cd::absolute(&shell.cwd.logical, name)
        } else {
            path
        };
        return Ok(Some([&path, &b"\n"[..]].concat()));
    }
    if shell.kernel.custom.contains_key(name) {
        return Ok(Some([name, b"\n"].concat()));
    }
    Ok(None)
}
