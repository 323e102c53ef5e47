//! `declare`, `typeset`, `local`, `export`, `readonly`.

mod list;

use jp_bash_syntax::names::Name;
use jp_bash_syntax::text::parse_array_text;

use super::args::Getopt;
use crate::Shell;
use crate::expand::assign::Item;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::access::{Assigned, How, is_name};
use crate::vars::subscript::Place;
use crate::vars::{Attrs, Bytes, Value};

const USAGE: &str =
    "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]";

/// What the options asked for.
struct Wanted {
    builtin: Vec<u8>,
    add: Attrs,
    remove: Attrs,
    print: bool,
    global: bool,
    inherit: bool,
    functions: Option<u8>,
    /// The scope in which names are bound; `None` where they are.
    scope: Option<u32>,
}

/// One operand, taken apart.
struct Operand<'a> {
    shown: &'a [u8],
    name: &'a [u8],
    subscript: Option<&'a [u8]>,
    value: Option<(How, &'a [u8])>,
}

fn take_apart(text: &[u8]) -> Option<Operand<'_>> {
    let end = text
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))
        .unwrap_or(text.len());
    let (name, mut rest) = text.split_at_checked(end)?;
    if !is_name(name) {
        return None;
    }
    let mut subscript = None;
    if let Some(inside) = rest.strip_prefix(b"[") {
        let close = match memchr::memmem::find(inside, b"]=")
            .or_else(|| memchr::memmem::find(inside, b"]+="))
        {
            Some(close) => close,
            None => inside
                .len()
                .checked_sub(1)
                .filter(|_| inside.ends_with(b"]"))?,
        };
        subscript = Some(inside.get(..close)?);
        rest = inside.get(close + 1..)?;
    }
    let value = match rest {
        [] => None,
        [b'=', value @ ..] => Some((How::Replace, value)),
        [b'+', b'=', value @ ..] => Some((How::Append, value)),
        _ => return None,
    };
    Some(Operand {
        shown: text,
        name,
        subscript,
        value,
    })
}

/// `declare`, `typeset` and `local`.
pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let arrays = std::mem::take(&mut shell.vars.array_words);
    let builtin = args.first().cloned().unwrap_or_default();
    let local = builtin == b"local";
    let scope = shell.vars.function_scope();
    if local && scope.is_none() {
        shell.complain_as(&builtin, b"can only be used in a function")?;
        return Ok(1);
    }
    let mut wanted = Wanted {
        builtin,
        add: Attrs::NONE,
        remove: Attrs::NONE,
        print: false,
        global: false,
        inherit: shell.options.has(Opt::LocalvarInherit),
        functions: None,
        scope,
    };
    let mut options = Getopt::new(args, "+aAfFgiIlcnprtux");
    loop {
        let given = match options.next() {
            Ok(Some(given)) => given,
            Ok(None) => break,
            Err(bad) => return shell.bad_option(&wanted.builtin, &bad, usage_of(&wanted.builtin)),
        };
        match given.letter {
            b'p' => wanted.print = true,
            b'g' => wanted.global = !local,
            b'I' => wanted.inherit = true,
            letter @ (b'f' | b'F') => wanted.functions = Some(letter),
            letter => {
                let attr = Attrs::of_letter(letter).unwrap_or(Attrs::NONE);
                if given.plus {
                    wanted.remove.insert(attr);
                } else {
                    wanted.add.insert(attr);
                }
            }
        }
    }
    if wanted.global {
        wanted.scope = None;
    }
    let operands = options.rest();
    let first = args.len() - operands.len();
    if let Some(letter) = wanted.functions {
        return list::functions(shell, &wanted, letter, operands);
    }
    if operands.is_empty() {
        return list::list(shell, &wanted, local);
    }
    if wanted.print {
        return list::print_named(shell, &wanted, operands);
    }
    apply_all(shell, &wanted, operands, first, arrays)
}

fn usage_of(builtin: &[u8]) -> &'static str {
    match builtin {
        b"local" => "local [option] name[=value] ...",
        b"typeset" => {
            "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]"
        }
        _ => USAGE,
    }
}

/// `export` and `readonly`.
pub(super) fn export(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let arrays = std::mem::take(&mut shell.vars.array_words);
    let builtin = args.first().cloned().unwrap_or_default();
    let readonly = builtin == b"readonly";
    let attr = if readonly {
        Attrs::READONLY
    } else {
        Attrs::EXPORT
    };
    let mut wanted = Wanted {
        builtin,
        add: attr,
        remove: Attrs::NONE,
        print: false,
        global: false,
        inherit: false,
        functions: None,
        scope: None,
    };
    let (letters, usage) = if readonly {
        ("aAfp", "readonly [-aAf] [name[=value] ...] or readonly -p")
    } else {
        ("fnp", "export [-fn] [name[=value] ...] or export -p")
    };
    let mut options = Getopt::new(args, letters);
    loop {
        match options.next() {
            Ok(Some(given)) => match given.letter {
                b'n' => {
                    wanted.add = Attrs::NONE;
                    wanted.remove = attr;
                }
                b'f' => wanted.functions = Some(b'f'),
                b'p' => wanted.print = true,
                letter => wanted
                    .add
                    .insert(Attrs::of_letter(letter).unwrap_or(Attrs::NONE)),
            },
            Ok(None) => break,
            Err(bad) => return shell.bad_option(&wanted.builtin, &bad, usage),
        }
    }
    let operands = options.rest();
    if wanted.functions.is_some() && !operands.is_empty() {
        return mark_functions(shell, &wanted, operands);
    }
    if operands.is_empty() {
        let kinds = Attrs::INDEXED.with(Attrs::ASSOC);
        let mut add = Attrs::NONE;
        if wanted.add.has(kinds) {
            add = wanted.add;
            add.remove(attr);
        }
        let text = list::listing(shell, |attrs| {
            attrs.has(attr) && (add.is_empty() || attrs.has(add))
        })?;
        return shell.print(&wanted.builtin, &text);
    }
    let first = args.len() - operands.len();
    apply_all(shell, &wanted, operands, first, arrays)
}

fn mark_functions(shell: &mut Shell<'_>, wanted: &Wanted, names: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut status = 0;
    for name in names {
        let mut functions = (*shell.functions).clone();
        match functions.get_mut(name.as_slice()) {
            Some(definition) => {
                if wanted.builtin == b"readonly" {
                    definition.readonly = true;
                } else {
                    definition.exported = wanted.remove.is_empty();
                }
                shell.functions = functions.into();
            }
            None => {
                shell.complain_as(&wanted.builtin, &[name, &b": not a function"[..]].concat())?;
                status = 1;
            }
        }
    }
    Ok(status)
}

fn apply_all(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    operands: &[Vec<u8>],
    first: usize,
    mut arrays: Vec<(usize, Vec<Item>)>,
) -> Result<i32, Flow> {
    let mut status = 0;
    for (at, text) in (first..).zip(operands) {
        let items = arrays
            .iter()
            .position(|(index, _)| *index == at)
            .map(|found| arrays.swap_remove(found).1);
        if text == b"-" && wanted.builtin == b"local" {
            let options = shell.options;
            if let Some(frame) = shell.frames.last_mut() {
                frame.options.get_or_insert(options);
            }
            continue;
        }
        let Some(operand) = take_apart(text) else {
            shell.complain_as(
                &wanted.builtin,
                &[b"`", text.as_slice(), b"': not a valid identifier"].concat(),
            )?;
            status = 1;
            continue;
        };
        if !apply(shell, wanted, &operand, items)? {
            status = 1;
        }
    }
    Ok(status)
}

fn refuse(shell: &mut Shell<'_>, wanted: &Wanted, name: &[u8], why: &[u8]) -> Result<bool, Flow> {
    shell.complain_as(&wanted.builtin, &[name, b": ", why].concat())?;
    Ok(false)
}

/// Declares one name; `false` if it was refused.
fn apply(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    operand: &Operand<'_>,
    items: Option<Vec<Item>>,
) -> Result<bool, Flow> {
    let mut name = shell.intern(operand.name)?;
    let reference = wanted.add.has(Attrs::NAMEREF) || wanted.remove.has(Attrs::NAMEREF);
    let in_function = wanted.scope.is_some();
    if !reference && !in_function {
        let place = shell.resolve(name)?;
        if place.key.is_none() {
            name = place.name;
        }
    }
    if let Some(scope) = wanted.scope {
        let readonly = shell.vars.attrs(name).has(Attrs::READONLY);
        let here = shell.vars.get(name).is_some_and(|var| var.scope == scope);
        if readonly && !here && shell.vars.get(name).is_some_and(|var| var.scope == 0) {
            return refuse(shell, wanted, operand.name, b"readonly variable");
        }
        bind_local(shell, wanted, name, scope)?;
        if !reference {
            let place = shell.resolve(name)?;
            if place.key.is_none() {
                name = place.name;
            }
        }
    }
    let global = if wanted.global {
        shell.vars.begin_global(&shell.kernel.budget, name)?
    } else {
        None
    };
    let done = change(shell, wanted, operand, name, items);
    shell.vars.end_global(global);
    done
}

/// Makes the variable local to the function.
fn bind_local(shell: &mut Shell<'_>, wanted: &Wanted, name: Name, scope: u32) -> Result<(), Flow> {
    let outer = shell.vars.get(name).cloned();
    if !shell.vars.hide(&shell.kernel.budget, name, scope)? {
        return Ok(());
    }
    let Some(outer) = outer else { return Ok(()) };
    let temporary = outer.attrs.has(Attrs::TEMPORARY);
    if (wanted.inherit || temporary) && !outer.attrs.has(Attrs::NAMEREF.with(Attrs::DYNAMIC)) {
        shell
            .vars
            .set_value(&shell.kernel.budget, name, outer.value)?;
        let mut attrs = outer.attrs.shown();
        attrs.remove(Attrs::NAMEREF);
        shell
            .vars
            .change_attrs(&shell.kernel.budget, name, attrs, Attrs::NONE)?;
    }
    Ok(())
}

fn change(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    operand: &Operand<'_>,
    name: Name,
    items: Option<Vec<Item>>,
) -> Result<bool, Flow> {
    let attrs = shell.vars.attrs(name);
    if attrs.has(Attrs::READONLY) {
        let export = wanted.builtin == b"export" || wanted.builtin == b"readonly";
        if export && (operand.value.is_some() || items.is_some()) {
            shell.complain_readonly(name)?;
            return Ok(false);
        }
        let loses = wanted.remove.has(Attrs::READONLY);
        let mut more = wanted.add.shown();
        more.remove(Attrs::READONLY.with(Attrs::EXPORT).with(attrs));
        if loses || operand.value.is_some() || items.is_some() || !more.is_empty() {
            return refuse(shell, wanted, operand.name, b"readonly variable");
        }
    }
    let value = shell.vars.get(name).map(|var| &var.value);
    let is_indexed = matches!(value, Some(Value::Indexed(_))) || attrs.has(Attrs::INDEXED);
    let is_assoc = matches!(value, Some(Value::Assoc(_))) || attrs.has(Attrs::ASSOC);
    if wanted.add.has(Attrs::ASSOC) && is_indexed {
        return refuse(
            shell,
            wanted,
            operand.name,
            b"cannot convert indexed to associative array",
        );
    }
    if wanted.add.has(Attrs::INDEXED) && is_assoc {
        return refuse(
            shell,
            wanted,
            operand.name,
            b"cannot convert associative to indexed array",
        );
    }
    let array = Attrs::INDEXED.with(Attrs::ASSOC);
    if wanted.remove.has(array) && (is_indexed || is_assoc) {
        return refuse(
            shell,
            wanted,
            operand.name,
            b"cannot destroy array variables in this way",
        );
    }
    if wanted.add.has(Attrs::NAMEREF) {
        return make_reference(shell, wanted, operand, name);
    }
    set_attrs(shell, wanted, name)?;
    let done = assign(shell, wanted, operand, name, items)?;
    if wanted.add.has(Attrs::READONLY) {
        shell
            .vars
            .change_attrs(&shell.kernel.budget, name, Attrs::READONLY, Attrs::NONE)?;
    }
    Ok(done)
}

/// Sets the attributes that count for the assignment; `-r` comes after it.
fn set_attrs(shell: &mut Shell<'_>, wanted: &Wanted, name: Name) -> Result<(), Flow> {
    let mut add = wanted.add.with(Attrs::LOCAL);
    add.remove(Attrs::READONLY);
    let mut remove = wanted.remove;
    let cases = Attrs::LOWER.with(Attrs::UPPER).with(Attrs::CAPITAL);
    if add.has(cases) {
        let mut others = cases;
        others.remove(add);
        remove.insert(others);
    }
    let budget = &shell.kernel.budget;
    shell.vars.change_attrs(budget, name, add, remove)?;
    let has_text = shell
        .vars
        .get(name)
        .is_some_and(|var| matches!(var.value, Value::Scalar(_)));
    if has_text {
        if add.has(Attrs::ASSOC) {
            shell.vars.make_assoc(budget, name)?;
        } else if add.has(Attrs::INDEXED) {
            shell.vars.make_indexed(budget, name)?;
        }
    }
    Ok(())
}

fn make_reference(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    operand: &Operand<'_>,
    name: Name,
) -> Result<bool, Flow> {
    let target = match operand.value {
        Some((_, value)) => Some(value.to_vec()),
        None => shell.vars.text(name).map(<[u8]>::to_vec),
    };
    if shell
        .vars
        .get(name)
        .is_some_and(|var| matches!(var.value, Value::Indexed(_) | Value::Assoc(_)))
    {
        return refuse(
            shell,
            wanted,
            operand.name,
            b"reference variable cannot be an array",
        );
    }
    if let Some(target) = &target {
        if target.as_slice() == operand.name {
            if wanted.scope.is_none() {
                return refuse(
                    shell,
                    wanted,
                    operand.name,
                    b"nameref variable self references not allowed",
                );
            }
            let own = operand.name;
            shell.complain_as(
                &wanted.builtin,
                &[&b"warning: "[..], own, b": circular name reference"].concat(),
            )?;
        }
        if crate::vars::subscript::split_target(target).is_none() {
            shell.complain_as(
                &wanted.builtin,
                &[
                    &b"`"[..],
                    target,
                    b"': invalid variable name for name reference",
                ]
                .concat(),
            )?;
            return Ok(false);
        }
        shell.vars.set_value(
            &shell.kernel.budget,
            name,
            Value::Scalar(Bytes::from(target.as_slice())),
        )?;
    }
    shell
        .vars
        .change_attrs(&shell.kernel.budget, name, wanted.add, wanted.remove)?;
    Ok(true)
}

fn assign(
    shell: &mut Shell<'_>,
    wanted: &Wanted,
    operand: &Operand<'_>,
    name: Name,
    items: Option<Vec<Item>>,
) -> Result<bool, Flow> {
    let how = operand.value.map_or(How::Replace, |(how, _)| how);
    if let Some(items) = items {
        return Ok(shell.assign_items(name, items, how)? == Assigned::Done);
    }
    let Some((how, text)) = operand.value else {
        if let Some(subscript) = operand.subscript
            && subscript != b"@"
        {
            shell
                .vars
                .change_attrs(&shell.kernel.budget, name, Attrs::INDEXED, Attrs::NONE)?;
        }
        return Ok(true);
    };
    let array = wanted.add.has(Attrs::INDEXED.with(Attrs::ASSOC));
    if array && operand.subscript.is_none() && text.starts_with(b"(") && text.ends_with(b")") {
        let options = shell.runtime_parse_options();
        let parsed = parse_array_text(text, &mut shell.kernel.names.borrow_mut(), &options);
        if let Ok(elements) = parsed {
            let assoc = shell.is_assoc(name);
            let items = shell.expand_elements(assoc, &elements)?;
            return Ok(shell.assign_items(name, items, how)? == Assigned::Done);
        }
    }
    let place = match operand.subscript {
        None => Place { name, key: None },
        Some(subscript) => {
            let key = shell.key_of_text(name, subscript)?;
            match shell.writable(name, key, subscript)? {
                Some(place) => place,
                None => return Ok(false),
            }
        }
    };
    if shell.vars.attrs(name).has(Attrs::NAMEREF) {
        return Ok(shell.assign_text(name, Bytes::from(text), how)? == Assigned::Done);
    }
    if shell.vars.attrs(name).has(Attrs::INTEGER) {
        // Errors name the builtin.
        let prefix = [&wanted.builtin, &b": "[..]].concat();
        shell.arith_text_as(text, &prefix)?;
    }
    if array && place.key.is_none() {
        let budget = &shell.kernel.budget;
        if wanted.add.has(Attrs::ASSOC) {
            shell.vars.make_assoc(budget, name)?;
        } else {
            shell.vars.make_indexed(budget, name)?;
        }
    }
    let _ = operand.shown;
    Ok(shell.set_place(&place, Bytes::from(text), how)? == Assigned::Done)
}
