//! `set`: options and positional parameters; without arguments, all variables.

use std::sync::Arc;

use jp_bash_syntax::names::Name;
use jp_bash_syntax::print::print_function;

use crate::Shell;
use crate::args::{Args, copied};
use crate::flow::Flow;
use crate::options::{self, Opt, SET};
use crate::vars::{Attrs, print};

const USAGE: &str = "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let rest = args.get(1..).unwrap_or_default();
    if rest.is_empty() {
        let text = shell.show_variables()?;
        return shell.print(b"set", &text);
    }
    let used = match shell.set_options(b"set", rest)? {
        Ok(used) => used,
        Err(status) => return Ok(status),
    };
    if let Some(operands) = used {
        shell.args = Args::new(operands);
    }
    Ok(0)
}

/// New positional parameters, or the status of a usage error.
type Applied = Result<Option<Vec<Vec<u8>>>, i32>;

impl Shell<'_> {
    /// Lists all variables and, outside POSIX mode, functions, as `set` alone does.
    fn show_variables(&mut self) -> Result<Vec<u8>, Flow> {
        let mut names: Vec<(Arc<[u8]>, Name)> = {
            let table = self.kernel.names.borrow();
            self.vars
                .all()
                .filter(|(_, var)| var.is_set() || var.attrs.has(Attrs::DYNAMIC))
                .map(|(name, _)| (table.text(name), name))
                .collect()
        };
        names.sort();
        let utf8 = self.utf8_locale();
        let mut out = Vec::new();
        for (text, name) in names {
            let value = self.value_of(name)?;
            print::listing(&mut out, &text, &value, utf8);
        }
        if !self.options.has(Opt::Posix) {
            let table = self.kernel.names.borrow();
            for definition in self.functions.values() {
                out.extend_from_slice(&print_function(&definition.function, &table));
            }
        }
        Ok(out)
    }

    /// Applies options as `set` and `bash` take them. `Ok(Some(..))` are new positional parameters.
    pub(crate) fn set_options(&mut self, name: &[u8], args: &[Vec<u8>]) -> Result<Applied, Flow> {
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let on = match arg.as_slice() {
                b"--" => {
                    let operands = args.get(at + 1..).unwrap_or_default();
                    return Ok(Ok(Some(copied(&self.kernel.budget, operands)?)));
                }
                b"-" => {
                    self.options.set(Opt::XTrace, false);
                    self.options.set(Opt::Verbose, false);
                    let operands = args.get(at + 1..).unwrap_or_default();
                    let operands = copied(&self.kernel.budget, operands)?;
                    return Ok(Ok((!operands.is_empty()).then_some(operands)));
                }
                [b'-', _, ..] => true,
                [b'+', _, ..] => false,
                _ => {
                    let operands = args.get(at..).unwrap_or_default();
                    return Ok(Ok(Some(copied(&self.kernel.budget, operands)?)));
                }
            };
            at += 1;
            for letter in arg.iter().skip(1) {
                if *letter == b'o' {
                    // Bash takes nothing, or what looks like another option, for no name at all.
                    let names = |word: &&Vec<u8>| !matches!(word.first(), None | Some(b'-' | b'+'));
                    let Some(option) = args.get(at).filter(names) else {
                        let text = list(self, on);
                        self.print(name, &text)?;
                        continue;
                    };
                    at += 1;
                    if !self.set_named(name, option, on)? {
                        return Ok(Err(2));
                    }
                    continue;
                }
                let Some(opt) = options::by_letter(*letter) else {
                    let text = [
                        if on { b"-" } else { b"+" },
                        &[*letter][..],
                        b": invalid option",
                    ]
                    .concat();
                    self.complain_as(name, &text)?;
                    return Ok(Err(self.usage(name, USAGE)?));
                };
                if !self.has_effect(name, opt, on, &[b'-', *letter])? {
                    return Ok(Err(1));
                }
                self.set_option(opt, on);
            }
        }
        Ok(Ok(None))
    }

    fn set_named(&mut self, builtin: &[u8], name: &[u8], on: bool) -> Result<bool, Flow> {
        match options::by_set_name(name) {
            Some(opt) => {
                let fine = self.has_effect(builtin, opt, on, name)?;
                if fine {
                    self.set_option(opt, on);
                }
                Ok(fine)
            }
            None => {
                self.complain_as(builtin, &[name, b": invalid option name"].concat())?;
                Ok(false)
            }
        }
    }

    /// Refuses to turn on what this shell would not do.
    fn has_effect(
        &mut self,
        builtin: &[u8],
        opt: Opt,
        on: bool,
        name: &[u8],
    ) -> Result<bool, Flow> {
        let why: &[u8] = match opt {
            Opt::Keyword if on => b"assignments stand before the command",
            _ => return Ok(true),
        };
        self.complain_as(builtin, &[name, b": not supported: ", why].concat())?;
        Ok(false)
    }

    /// Turns an option on or off, with what that brings.
    pub(crate) fn set_option(&mut self, opt: Opt, on: bool) {
        self.options.set(opt, on);
        match opt {
            Opt::Emacs if on => self.options.set(Opt::Vi, false),
            Opt::Vi if on => self.options.set(Opt::Emacs, false),
            Opt::Posix if on => {
                self.options.set(Opt::ExpandAliases, true);
                self.options.set(Opt::InheritErrExit, true);
            }
            Opt::Posix => self.options.set(Opt::ExpandAliases, false),
            Opt::ExtDebug => {
                self.options.set(Opt::ErrTrace, on);
                self.options.set(Opt::FuncTrace, on);
            }
            _ => {}
        }
    }
}

/// `set -o` (a table) and `set +o` (commands).
fn list(shell: &Shell<'_>, table: bool) -> Vec<u8> {
    let mut out = String::new();
    for (name, opt, _) in SET {
        let on = shell.options.has(*opt);
        if table {
            out.push_str(&format!("{name:<15}\t{}\n", if on { "on" } else { "off" }));
        } else {
            out.push_str(&format!("set {}o {name}\n", if on { '-' } else { '+' }));
        }
    }
    out.into_bytes()
}
