//! `unset`: variables, elements, namerefs, functions.

use super::args::Getopt;
use crate::Shell;
use crate::flow::Flow;
use crate::vars::subscript::{Key, Place, split_target};
use crate::vars::{Attrs, Value};

/// `unset`
pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut functions = false;
    let mut variables = false;
    let mut reference = false;
    let mut options = Getopt::new(args, "fvn");
    loop {
        match options.next() {
            Ok(Some(given)) => match given.letter {
                b'f' => functions = true,
                b'v' => variables = true,
                _ => reference = true,
            },
            Ok(None) => break,
            Err(bad) => {
                return shell.bad_option(b"unset", &bad, "unset [-f] [-v] [-n] [name ...]");
            }
        }
    }
    if functions && variables {
        shell.complain_as(
            b"unset",
            b"cannot simultaneously unset a function and a variable",
        )?;
        return Ok(1);
    }
    let mut status = 0;
    for text in options.rest() {
        let done = if functions {
            unset_function(shell, text)?
        } else {
            unset_variable(shell, text, variables, reference)?
        };
        if !done {
            status = 1;
        }
    }
    Ok(status)
}

fn unset_function(shell: &mut Shell<'_>, name: &[u8]) -> Result<bool, Flow> {
    let Some(definition) = shell.functions.get(name) else {
        return Ok(true);
    };
    if definition.readonly {
        shell.complain_as(
            b"unset",
            &[name, b": cannot unset: readonly function"].concat(),
        )?;
        return Ok(false);
    }
    let mut functions = (*shell.functions).clone();
    functions.remove(name);
    shell.functions = functions.into();
    Ok(true)
}

fn unset_variable(
    shell: &mut Shell<'_>,
    text: &[u8],
    only: bool,
    reference: bool,
) -> Result<bool, Flow> {
    let Some((name, subscript)) = split_target(text) else {
        if !only && !text.contains(&b'[') {
            // Without `-v`, whatever is no variable's name may be a function's.
            return unset_function(shell, text);
        }
        shell.complain_as(
            b"unset",
            &[b"`", text, b"': not a valid identifier"].concat(),
        )?;
        return Ok(false);
    };
    let own = shell.intern(name)?;
    let mut place = if reference {
        Place {
            name: own,
            key: None,
        }
    } else {
        shell.resolve(own)?
    };
    if let Some(subscript) = subscript {
        let key = shell.key_of_text(place.name, subscript)?;
        place.key = Some(key);
    }
    let Some(var) = shell.vars.get(place.name) else {
        return if only || subscript.is_some() {
            Ok(true)
        } else {
            unset_function(shell, text)
        };
    };
    if var.attrs.has(Attrs::READONLY) {
        let shown = shell.name_text(place.name);
        shell.complain_as(
            b"unset",
            &[&shown, &b": cannot unset: readonly variable"[..]].concat(),
        )?;
        return Ok(false);
    }
    if !var.exists() && !only && subscript.is_none() {
        return unset_function(shell, text);
    }
    unset_place(shell, &place, subscript.unwrap_or_default())
}

fn unset_place(shell: &mut Shell<'_>, place: &Place, shown: &[u8]) -> Result<bool, Flow> {
    let name = place.name;
    let value = shell
        .vars
        .get(name)
        .map(|var| var.value.clone())
        .unwrap_or_default();
    let budget = std::rc::Rc::clone(&shell.kernel);
    let budget = &budget.budget;
    match (&place.key, &value) {
        (None, _) => {
            shell.vars.unset(budget, name)?;
            Ok(true)
        }
        (Some(Key::At | Key::Star), Value::Indexed(_)) => {
            shell
                .vars
                .set_value(budget, name, Value::Indexed(Default::default()))?;
            Ok(true)
        }
        (Some(Key::At | Key::Star), Value::Assoc(_)) => {
            shell.vars.unset_key(budget, name, shown)?;
            Ok(true)
        }
        // Nothing happens to `BASH_ALIASES` and `BASH_CMDS`, and nothing is said.
        (Some(Key::Text(_)), _) if shell.vars.attrs(name).has(Attrs::DYNAMIC) => Ok(true),
        (Some(Key::Text(key)), _) => {
            shell.vars.unset_key(budget, name, key)?;
            Ok(true)
        }
        (Some(Key::Index(0)), Value::Scalar(_)) => {
            shell.vars.unset(budget, name)?;
            Ok(true)
        }
        (Some(Key::Index(index)), Value::Indexed(_)) => match shell.real_index(name, *index)? {
            Some(index) => {
                shell.vars.unset_index(budget, name, index)?;
                Ok(true)
            }
            None => {
                shell.complain_as(
                    b"unset",
                    &[&b"["[..], shown, b"]: bad array subscript"].concat(),
                )?;
                Ok(false)
            }
        },
        (Some(_), Value::None) => Ok(true),
        (Some(_), _) => {
            let text = shell.name_text(name);
            shell.complain_as(b"unset", &[&text, &b": not an array variable"[..]].concat())?;
            Ok(false)
        }
    }
}
