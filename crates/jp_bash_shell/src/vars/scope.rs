//! Marks for subshells and scopes for functions: what is saved, and how it comes back.
//!
//! Scoping is dynamic: a slot always holds the visible variable, and what it hides waits in `shadowed`.

use jp_bash_syntax::names::Name;
use jp_bash_system::{Budget, Stop};

use crate::vars::{Attrs, Mark, Value, Var, Vars, known};

/// What unwinding a mark puts back.
#[derive(Debug, Clone)]
pub(crate) enum Undo {
    Slot(Name, Var),
    /// A hidden variable that was changed where it waits (`declare -g`).
    Shadowed(usize, Var),
    /// A hidden variable that came back before its time (`unset` in a called function).
    Revealed(usize, Name),
}

/// The name of an entry that hides nothing any more.
const REVEALED: Name = Name(u32::MAX);

/// A variable that a local one hides.
#[derive(Debug, Clone)]
pub(crate) struct Shadowed {
    name: Name,
    var: Var,
    /// The scope of the local variable that hides it.
    scope: u32,
}

/// A function call, or a command with assignments before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    kind: ScopeKind,
    shadowed: usize,
}

/// What a scope is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// A function: `local` binds here.
    Function,
    /// `x=1 command`: ends with the command.
    Temporary,
}

/// A global variable that is visible for a moment.
#[derive(Debug)]
#[must_use = "the global variable must be hidden again"]
pub(crate) struct Global {
    name: Name,
    at: usize,
}

impl Vars {
    /// Begins a subshell that runs inline.
    pub(crate) fn mark(&mut self) -> Mark {
        let mark = Mark {
            trail: self.trail.len(),
            shadowed: self.shadowed.len(),
            scopes: self.scopes.len(),
            stamp: self.stamp,
        };
        self.next_stamp += 1;
        self.stamp = self.next_stamp;
        self.marks += 1;
        mark
    }

    /// Puts back everything that changed since the mark.
    pub(crate) fn unwind(&mut self, budget: &Budget, mark: Mark) {
        self.shadowed.truncate(mark.shadowed);
        self.scopes.truncate(mark.scopes);
        while self.trail.len() > mark.trail {
            match self.trail.pop() {
                Some(Undo::Slot(name, old)) => {
                    if name.0 <= known::LAST_WATCHED.0 {
                        self.changes += 1;
                    }
                    if let Some(var) = self.slots.get_mut(name.0 as usize) {
                        let gone = std::mem::replace(var, old).value.cost();
                        self.release(budget, gone + 96);
                    }
                }
                Some(Undo::Shadowed(at, old)) => {
                    if let Some(shadowed) = self.shadowed.get_mut(at) {
                        shadowed.var = old;
                    }
                }
                Some(Undo::Revealed(at, name)) => {
                    if let Some(shadowed) = self.shadowed.get_mut(at) {
                        shadowed.name = name;
                    }
                }
                None => break,
            }
        }
        self.stamp = mark.stamp;
        self.marks = self.marks.saturating_sub(1);
    }

    /// Returns the number of the current scope; 0 is global.
    pub(crate) fn depth(&self) -> u32 {
        u32::try_from(self.scopes.len()).unwrap_or(u32::MAX)
    }

    /// Returns the scope that `local` binds in: the innermost function.
    pub(crate) fn function_scope(&self) -> Option<u32> {
        let at = self
            .scopes
            .iter()
            .rposition(|scope| scope.kind == ScopeKind::Function)?;
        u32::try_from(at + 1).ok()
    }

    /// Enters a function or a command with assignments before it.
    pub(crate) fn push_scope(&mut self, kind: ScopeKind) {
        self.scopes.push(Scope {
            kind,
            shadowed: self.shadowed.len(),
        });
    }

    /// Leaves it: what its local variables hid comes back.
    pub(crate) fn pop_scope(&mut self, budget: &Budget) {
        let depth = self.depth();
        let Some(scope) = self.scopes.pop() else {
            return;
        };
        // A `local` run by `x=1 eval 'local y'` belongs to the function outside: it stays.
        let mut kept = Vec::new();
        while self.shadowed.len() > scope.shadowed {
            let Some(shadowed) = self.shadowed.pop() else {
                break;
            };
            if shadowed.scope < depth {
                kept.push(shadowed);
                continue;
            }
            if shadowed.name.0 <= known::LAST_WATCHED.0 {
                self.changes += 1;
            }
            if let Some(var) = self.slots.get_mut(shadowed.name.0 as usize) {
                let gone = std::mem::replace(var, shadowed.var).value.cost();
                self.release(budget, gone + 96);
            }
        }
        self.shadowed.extend(kept.into_iter().rev());
    }

    /// Makes a variable of that scope, hiding the visible one; a variable that already belongs there stays.
    /// Returns whether it is new.
    pub(crate) fn hide(&mut self, budget: &Budget, name: Name, scope: u32) -> Result<bool, Stop> {
        self.touch(budget, name)?;
        if self.get(name).is_some_and(|var| var.scope == scope) {
            return Ok(false);
        }
        self.reserve(budget, 96)?;
        if let Some(var) = self.slots.get_mut(name.0 as usize) {
            let new = Var {
                value: Value::None,
                attrs: Attrs::LOCAL,
                scope,
                stamp: self.stamp,
            };
            let old = std::mem::replace(var, new);
            self.shadowed.push(Shadowed {
                name,
                var: old,
                scope,
            });
        }
        Ok(true)
    }

    /// Removes a variable. A local one of the current function stays local without a value; one of a calling
    /// function gives way to what it hid, as in bash.
    pub(crate) fn unset(&mut self, budget: &Budget, name: Name) -> Result<(), Stop> {
        let Some(var) = self.get(name) else {
            return Ok(());
        };
        let scope = var.scope;
        let here = scope != 0 && Some(scope) == self.function_scope();
        self.touch(budget, name)?;
        if scope == 0 || here {
            let Some(var) = self.slots.get_mut(name.0 as usize) else {
                return Ok(());
            };
            let gone = std::mem::take(&mut var.value).cost();
            var.attrs = if here { Attrs::LOCAL } else { Attrs::NONE };
            let owned = var.stamp >= self.base;
            if owned && self.marks == 0 {
                self.release(budget, gone);
            }
            return Ok(());
        }
        let found = self
            .shadowed
            .iter()
            .rposition(|shadowed| shadowed.name == name && shadowed.scope == scope);
        let Some((at, shadowed)) =
            found.and_then(|at| self.shadowed.get_mut(at).map(|shadowed| (at, shadowed)))
        else {
            return Ok(());
        };
        // The entry stays, since the trail counts on its index.
        shadowed.name = REVEALED;
        let old = shadowed.var.clone();
        if self.marks > 0 {
            self.trail.push(Undo::Revealed(at, name));
        }
        if let Some(var) = self.slots.get_mut(name.0 as usize) {
            let stamp = self.stamp;
            *var = Var { stamp, ..old };
        }
        Ok(())
    }

    /// Makes the global variable of that name visible (`declare -g`), until [`Vars::end_global`] is given the result.
    pub(crate) fn begin_global(
        &mut self,
        budget: &Budget,
        name: Name,
    ) -> Result<Option<Global>, Stop> {
        if self.get(name).is_none_or(|var| var.scope == 0) {
            return Ok(None);
        }
        let found = self
            .shadowed
            .iter()
            .position(|shadowed| shadowed.name == name);
        let Some(at) = found else { return Ok(None) };
        self.touch(budget, name)?;
        if self.marks > 0
            && let Some(shadowed) = self.shadowed.get(at)
        {
            self.trail.push(Undo::Shadowed(at, shadowed.var.clone()));
        }
        self.swap(name, at);
        Ok(Some(Global { name, at }))
    }

    /// Hides the global variable again.
    pub(crate) fn end_global(&mut self, global: Option<Global>) {
        if let Some(Global { name, at }) = global {
            self.swap(name, at);
        }
    }

    fn swap(&mut self, name: Name, at: usize) {
        if let (Some(var), Some(shadowed)) = (
            self.slots.get_mut(name.0 as usize),
            self.shadowed.get_mut(at),
        ) {
            std::mem::swap(var, &mut shadowed.var);
        }
    }
}
