//! What `declare`, `local`, `export -p` and `set` print.

use jp_bash_syntax::names::Name;
use jp_bash_system::System;

use super::Wanted;
use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::access::is_name;
use crate::vars::{Attrs, print};

/// Returns the declarations of all variables whose attributes are wanted, by name.
pub(super) fn listing(
    shell: &mut Shell<'_>,
    wanted: impl Fn(Attrs) -> bool,
) -> Result<Vec<u8>, Flow> {
    let utf8 = shell.utf8();
    let mut out = Vec::new();
    for name in shell.sorted_names() {
        let attrs = shell.vars.attrs(name);
        if !wanted(attrs) {
            continue;
        }
        let value = shell.value_of(name)?;
        let text = shell.name_text(name);
        print::declaration(&mut out, &text, attrs, &value, utf8);
    }
    Ok(out)
}

pub(super) fn list(shell: &mut Shell<'_>, wanted: &Wanted, local: bool) -> Result<i32, Flow> {
    let add = wanted.add;
    let utf8 = shell.utf8();
    if local {
        let scope = wanted.scope;
        let mut out = Vec::new();
        for name in shell.sorted_names() {
            let Some(var) = shell.vars.get(name).cloned() else {
                continue;
            };
            if Some(var.scope) == scope && (add.is_empty() || var.attrs.has(add)) {
                let text = shell.name_text(name);
                print::declaration(&mut out, &text, var.attrs, &var.value, utf8);
            }
        }
        return shell.print(&wanted.builtin, &out);
    }
    if add.is_empty() && !wanted.print {
        let text = shell.list_variables()?;
        return shell.print(&wanted.builtin, &text);
    }
    let text = listing(shell, |attrs| add.is_empty() || attrs.has(add))?;
    shell.print(&wanted.builtin, &text)
}

pub(super) fn print_named(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    names: &[Vec<u8>],
) -> Result<i32, Flow> {
    let utf8 = shell.utf8();
    let mut out = Vec::new();
    let mut status = 0;
    for text in names {
        let name = shell.intern(text)?;
        let var = shell.vars.get(name).cloned().unwrap_or_default();
        if !is_name(text) || !var.exists() {
            shell.print(&wanted.builtin, &out)?;
            out.clear();
            shell.complain_as(&wanted.builtin, &[text, &b": not found"[..]].concat())?;
            status = 1;
            continue;
        }
        let value = if var.attrs.has(Attrs::DYNAMIC) {
            shell.computed(name)?
        } else {
            var.value
        };
        print::declaration(&mut out, text, var.attrs, &value, utf8);
    }
    let printed = shell.print(&wanted.builtin, &out)?;
    Ok(status.max(printed))
}

/// `declare -f` and `declare -F`
pub(super) fn functions(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    letter: u8,
    names: &[Vec<u8>],
) -> Result<i32, Flow> {
    let functions = shell.functions.clone();
    let mut out = Vec::new();
    let mut status = 0;
    if names.is_empty() {
        for (name, definition) in functions.iter() {
            if letter == b'F' {
                out.extend_from_slice(b"declare -f");
                if definition.readonly {
                    out.push(b'r');
                }
                if definition.traced {
                    out.push(b't');
                }
                if definition.exported {
                    out.push(b'x');
                }
                out.push(b' ');
                out.extend_from_slice(name);
                out.push(b'\n');
            } else {
                let names = shell.kernel.names.borrow();
                out.extend(jp_bash_syntax::print::print_function(
                    &definition.function,
                    &names,
                ));
            }
        }
        return shell.print(&wanted.builtin, &out);
    }
    if !wanted.add.is_empty() || !wanted.remove.is_empty() {
        let mut changed = (*functions).clone();
        for name in names {
            match changed.get_mut(name.as_slice()) {
                Some(definition) => {
                    definition.exported |= wanted.add.has(Attrs::EXPORT);
                    definition.exported &= !wanted.remove.has(Attrs::EXPORT);
                    definition.readonly |= wanted.add.has(Attrs::READONLY);
                    definition.traced |= wanted.add.has(Attrs::TRACE);
                    definition.traced &= !wanted.remove.has(Attrs::TRACE);
                }
                None => status = 1,
            }
        }
        shell.functions = changed.into();
        return Ok(status);
    }
    for name in names {
        match functions.get(name.as_slice()) {
            Some(definition) if letter == b'f' => {
                let names = shell.kernel.names.borrow();
                out.extend(jp_bash_syntax::print::print_function(
                    &definition.function,
                    &names,
                ));
            }
            Some(definition) => {
                out.extend_from_slice(name);
                if shell.options.has(Opt::ExtDebug) {
                    let function = &definition.function;
                    out.extend_from_slice(format!(" {} ", function.line).as_bytes());
                    out.extend_from_slice(&function.source);
                }
                out.push(b'\n');
            }
            None => status = 1,
        }
    }
    let printed = shell.print(&wanted.builtin, &out)?;
    Ok(status.max(printed))
}

impl Shell<'_> {
    /// Returns the names of all variables that exist, sorted.
    pub(crate) fn sorted_names(&self) -> Vec<Name> {
        let names = self.kernel.names.borrow();
        let mut all: Vec<_> = self
            .vars
            .all()
            .filter(|(_, var)| var.exists())
            .map(|(name, _)| (names.text(name), name))
            .collect();
        all.sort();
        all.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns what `set` without arguments prints about variables.
    pub(crate) fn list_variables(&mut self) -> Result<Vec<u8>, Flow> {
        let utf8 = self.utf8();
        let mut out = Vec::new();
        for name in self.sorted_names() {
            let value = self.value_of(name)?;
            let text = self.name_text(name);
            print::listing(&mut out, &text, &value, utf8);
        }
        Ok(out)
    }
}
