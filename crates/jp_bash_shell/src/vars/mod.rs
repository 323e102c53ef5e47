//! Variables: a slot for each name, an undo trail for subshells, saved values for function scopes.
//!
//! Knows storage only: no arithmetic, no namerefs followed, no messages. [`access`] adds those for the shell.

pub(crate) mod access;
pub(crate) mod assoc;
pub(crate) mod attrs;
pub(crate) mod bytes;
pub(crate) mod dynamic;
pub(crate) mod ifs;
pub(crate) mod indexed;
pub(crate) mod known;
pub(crate) mod print;
pub(crate) mod scope;
pub(crate) mod subscript;

use std::sync::Arc;

use jp_bash_syntax::names::{Name, Names};
use jp_bash_system::{Budget, Stop};

use crate::vars::assoc::Assoc;
pub(crate) use crate::vars::attrs::Attrs;
pub(crate) use crate::vars::bytes::Bytes;
use crate::vars::indexed::Indexed;
use crate::vars::scope::{Scope, Shadowed, Undo};

/// What a variable holds.
#[derive(Debug, Clone, Default)]
pub(crate) enum Value {
    /// Declared or never seen: unset.
    #[default]
    None,
    Scalar(Bytes),
    Indexed(Arc<Indexed>),
    Assoc(Arc<Assoc>),
}

impl Value {
    /// Tells whether someone else holds the same bytes.
    fn shared(&self) -> bool {
        match self {
            Self::None | Self::Scalar(Bytes::Inline { .. }) => false,
            Self::Scalar(Bytes::Shared(text)) => Arc::strong_count(text) > 1,
            Self::Indexed(array) => Arc::strong_count(array) > 1,
            Self::Assoc(array) => Arc::strong_count(array) > 1,
        }
    }

    fn cost(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Scalar(text) => text.cost(),
            Self::Indexed(array) => array.cost() + 40,
            Self::Assoc(array) => array.cost() + 40,
        }
    }
}

/// A variable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Var {
    pub(crate) value: Value,
    pub(crate) attrs: Attrs,
    /// The function scope it belongs to; 0 is global.
    pub(crate) scope: u32,
    /// The mark it was last saved under.
    stamp: u64,
}

impl Var {
    /// Tells whether it has a value; an array counts when it has an element.
    pub(crate) fn is_set(&self) -> bool {
        match &self.value {
            Value::None => false,
            Value::Scalar(_) => true,
            Value::Indexed(array) => array.len() > 0,
            Value::Assoc(array) => array.len() > 0,
        }
    }

    /// Returns what `$x` is: the text, or element 0 of an array.
    #[inline]
    pub(crate) fn text(&self) -> Option<&Bytes> {
        match &self.value {
            Value::None => None,
            Value::Scalar(text) => Some(text),
            Value::Indexed(array) => array.get(0),
            Value::Assoc(array) => array.get(b"0"),
        }
    }

    /// Tells whether it exists at all: it has a value, or was declared.
    pub(crate) fn exists(&self) -> bool {
        !matches!(self.value, Value::None) || !self.attrs.is_empty()
    }
}

/// A point to come back to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    trail: usize,
    shadowed: usize,
    scopes: usize,
    stamp: u64,
}

/// All variables of one shell.
#[derive(Default)]
pub(crate) struct Vars {
    slots: Vec<Var>,
    trail: Vec<Undo>,
    shadowed: Vec<Shadowed>,
    scopes: Vec<Scope>,
    /// The stamp of the newest mark; values with an older one are saved before they change.
    stamp: u64,
    next_stamp: u64,
    /// Marks that are open: without one, nothing is saved.
    marks: u32,
    /// Values with an older stamp belong to the shell this one was copied from.
    base: u64,
    /// Bytes this shell has reserved.
    held: u64,
    /// Those among them that are no longer in a variable here, but may be in a shell that was copied from this one.
    lent: u64,
    /// Counts changes of `IFS`, locale and other variables that parts of the shell keep a digest of.
    changes: u64,
    /// State of `RANDOM`, and the moment that `SECONDS` counts from, in seconds of the run.
    pub(crate) computed: dynamic::Computed,
    digest: std::cell::Cell<ifs::Digest>,
    /// Texts of variables that were evaluated as arithmetic.
    pub(crate) parsed: crate::arith::Cache,
    /// Where `getopts` is.
    pub(crate) getopts: crate::builtins::small::GetoptsState,
    /// Regular expressions of `[[ =~ ]]`.
    pub(crate) regexes: jp_bash_regex::RegexCache,
    /// Array literals among the words of the command being run, by the place of their word: `declare a=(…)`.
    pub(crate) array_words: Vec<(usize, Vec<crate::expand::assign::Item>)>,
}

/// What a slot and its name cost.
const SLOT: u64 = 160;

impl Vars {
    /// Makes the variables of a new session; `names` must be empty or made by this.
    pub(crate) fn new(names: &mut Names) -> Self {
        known::intern(names);
        let mut vars = Self::default();
        vars.slots.resize_with(names.count(), Var::default);
        for number in known::FIRST_DYNAMIC.0..=known::LAST_DYNAMIC.0 {
            if let Some(var) = vars.slots.get_mut(number as usize) {
                var.attrs = dynamic::attrs(Name(number));
            }
        }
        vars
    }

    /// Copies everything for a shell that runs beside this one; texts are shared.
    pub(crate) fn fork(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            trail: Vec::new(),
            shadowed: self.shadowed.clone(),
            scopes: self.scopes.clone(),
            stamp: self.next_stamp + 1,
            next_stamp: self.next_stamp + 1,
            marks: 0,
            base: self.next_stamp + 1,
            held: 0,
            lent: 0,
            changes: self.changes,
            computed: self.computed.clone(),
            digest: self.digest.clone(),
            parsed: crate::arith::Cache::default(),
            getopts: self.getopts,
            regexes: jp_bash_regex::RegexCache::default(),
            array_words: Vec::new(),
        }
    }

    /// Gives back what this shell had reserved; for a shell that ends.
    pub(crate) fn discard(&mut self, budget: &Budget) {
        budget.release(std::mem::take(&mut self.held));
    }

    /// Returns what the variables hold, for counting a session's memory anew at the start of a run.
    pub(crate) fn cost(&self) -> u64 {
        let values: u64 = self.slots.iter().map(|var| var.value.cost()).sum();
        values + self.slots.len() as u64 * SLOT
    }

    /// Counts everything held as this run's; to be called once when a session starts a run.
    pub(crate) fn begin(&mut self, budget: &Budget) {
        self.held = self.cost();
        self.lent = 0;
        budget.inherit(self.held);
    }

    /// Counts the slots of a copy that is about to run beside this shell.
    pub(crate) fn count_copy(&mut self, budget: &Budget) -> Result<(), Stop> {
        let slots = self.slots.len() as u64 * std::mem::size_of::<Var>() as u64;
        budget.reserve(slots)?;
        self.held += slots;
        Ok(())
    }

    /// Gives back texts that were replaced while a copy of this shell may have shared them; no copy is left now.
    pub(crate) fn settle_lent(&mut self, budget: &Budget) {
        let lent = std::mem::take(&mut self.lent);
        self.release(budget, lent);
    }

    /// Gives back what was reserved for a value beyond what it came to cost.
    fn settle(&mut self, budget: &Budget, name: Name, before: u64, reserved: u64) {
        let after = self.get(name).map_or(0, |var| var.value.cost());
        self.release(budget, (before + reserved).saturating_sub(after));
    }

    /// Changes whenever `IFS`, the locale and the like may have changed.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns a variable as it is: no nameref is followed, nothing is computed.
    #[inline]
    pub(crate) fn get(&self, name: Name) -> Option<&Var> {
        self.slots.get(name.0 as usize)
    }

    /// Returns the attributes of a variable.
    pub(crate) fn attrs(&self, name: Name) -> Attrs {
        self.get(name).map_or(Attrs::NONE, |var| var.attrs)
    }

    /// Returns the text of a plain variable, or element 0; nothing for what is computed.
    pub(crate) fn text(&self, name: Name) -> Option<&[u8]> {
        self.get(name)?.text().map(Bytes::as_slice)
    }

    /// Returns the names of all slots.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Name, &Var)> {
        (0_u32..).map(Name).zip(&self.slots)
    }

    fn reserve(&mut self, budget: &Budget, bytes: u64) -> Result<(), Stop> {
        if bytes > 0 {
            budget.reserve_kept(bytes)?;
            self.held += bytes;
        }
        Ok(())
    }

    fn release(&mut self, budget: &Budget, bytes: u64) {
        let bytes = bytes.min(self.held);
        if bytes > 0 {
            self.held -= bytes;
            budget.release(bytes);
        }
    }

    /// Makes room for a name and saves the old value if a mark needs it. After this the slot may be changed.
    #[inline]
    fn touch(&mut self, budget: &Budget, name: Name) -> Result<(), Stop> {
        let at = name.0 as usize;
        if at >= self.slots.len() {
            self.reserve(budget, (at + 1 - self.slots.len()) as u64 * SLOT)?;
            self.slots.resize_with(at + 1, Var::default);
        }
        if name.0 <= known::LAST_WATCHED.0 {
            self.changes += 1;
        }
        if let Some(var) = self.slots.get_mut(at)
            && var.stamp < self.stamp
        {
            if self.marks > 0 {
                let old = var.clone();
                var.stamp = self.stamp;
                // A text or array that the trail now shares is copied on the first change; that copy is reserved then.
                budget.reserve(96)?;
                self.held += 96;
                self.trail.push(Undo::Slot(name, old));
            } else if var.stamp < self.base {
                // Inherited from the shell this was copied from: not ours to release.
                var.stamp = self.stamp;
            }
        }
        Ok(())
    }

    /// Tells whether this shell reserved the bytes of the variable's value, and no mark needs them.
    fn owns(&self, var: &Var) -> bool {
        var.stamp >= self.base && (self.marks == 0 || var.stamp >= self.stamp)
    }

    /// Replaces a value.
    fn replace(&mut self, budget: &Budget, name: Name, value: Value) -> Result<(), Stop> {
        let owned = self.get(name).is_some_and(|var| self.owns(var));
        let cost = value.cost();
        self.touch(budget, name)?;
        self.reserve(budget, cost)?;
        let old = match self.slots.get_mut(name.0 as usize) {
            Some(var) => std::mem::replace(&mut var.value, value),
            None => Value::None,
        };
        if owned && old.shared() {
            self.lent += old.cost();
        } else if owned {
            self.release(budget, old.cost());
        }
        Ok(())
    }

    /// Sets the text of a variable; an array gets it as element 0, as in bash.
    #[inline]
    pub(crate) fn set(&mut self, budget: &Budget, name: Name, text: Bytes) -> Result<(), Stop> {
        match self.get(name).map(|var| &var.value) {
            Some(Value::Scalar(old)) if old.cost() == 0 && text.cost() == 0 => {
                // Short texts over short texts: nothing to count.
                self.touch(budget, name)?;
                if let Some(var) = self.slots.get_mut(name.0 as usize) {
                    var.value = Value::Scalar(text);
                }
                Ok(())
            }
            Some(Value::Indexed(_)) => self.set_index(budget, name, 0, text),
            Some(Value::Assoc(_)) => self.set_key(budget, name, b"0", text),
            Some(Value::None) if self.attrs(name).has(Attrs::ASSOC) => {
                self.set_key(budget, name, b"0", text)
            }
            Some(Value::None) if self.attrs(name).has(Attrs::INDEXED) => {
                self.set_index(budget, name, 0, text)
            }
            _ => self.replace(budget, name, Value::Scalar(text)),
        }
    }

    /// Replaces the whole value of a variable, arrays too.
    pub(crate) fn set_value(
        &mut self,
        budget: &Budget,
        name: Name,
        value: Value,
    ) -> Result<(), Stop> {
        self.replace(budget, name, value)
    }

    /// Appends to the text of a variable (element 0 of an array), in amortised linear time.
    pub(crate) fn append(&mut self, budget: &Budget, name: Name, more: &[u8]) -> Result<(), Stop> {
        match self.get(name).map(|var| &var.value) {
            Some(Value::Scalar(old)) => {
                let growth = old.growth(more.len());
                let mut old = old.cost();
                if self.get(name).is_some_and(|var| var.value.shared()) {
                    // The text is copied; what it was stays with those who share it.
                    if self.get(name).is_some_and(|var| self.owns(var)) {
                        self.lent += old;
                    }
                    old = 0;
                }
                self.touch(budget, name)?;
                self.reserve(budget, growth)?;
                if let Some(Var {
                    value: Value::Scalar(text),
                    ..
                }) = self.slots.get_mut(name.0 as usize)
                {
                    text.append(more);
                }
                self.settle(budget, name, old, growth);
                Ok(())
            }
            Some(Value::Indexed(_)) => self.append_index(budget, name, 0, more),
            Some(Value::Assoc(_)) => self.append_key(budget, name, b"0", more),
            _ => self.set(budget, name, Bytes::from(more)),
        }
    }

    /// Makes the variable an indexed array (a text becomes element 0) that may be changed, and hands it out.
    fn indexed(
        &mut self,
        budget: &Budget,
        name: Name,
        growth: u64,
    ) -> Result<Option<&mut Indexed>, Stop> {
        self.touch(budget, name)?;
        self.reserve(budget, growth)?;
        let copy = match self.get(name).map(|var| &var.value) {
            Some(Value::Indexed(array)) if Arc::strong_count(array) > 1 => array.cost() + 40,
            Some(Value::Indexed(_)) => 0,
            _ => indexed::ELEMENT + 40,
        };
        self.reserve(budget, copy)?;
        let Some(var) = self.slots.get_mut(name.0 as usize) else {
            return Ok(None);
        };
        if !matches!(var.value, Value::Indexed(_)) {
            let first = match std::mem::take(&mut var.value) {
                Value::Scalar(text) => Some(text),
                _ => None,
            };
            var.value = Value::Indexed(Arc::new(Indexed::from_texts(first)));
        }
        var.attrs.insert(Attrs::INDEXED);
        Ok(match &mut var.value {
            Value::Indexed(array) => Some(Arc::make_mut(array)),
            _ => None,
        })
    }

    fn assoc(
        &mut self,
        budget: &Budget,
        name: Name,
        growth: u64,
    ) -> Result<Option<&mut Assoc>, Stop> {
        self.touch(budget, name)?;
        self.reserve(budget, growth)?;
        let copy = match self.get(name).map(|var| &var.value) {
            Some(Value::Assoc(array)) if Arc::strong_count(array) > 1 => array.cost() + 40,
            Some(Value::Assoc(_)) => 0,
            _ => 40,
        };
        self.reserve(budget, copy)?;
        let Some(var) = self.slots.get_mut(name.0 as usize) else {
            return Ok(None);
        };
        if !matches!(var.value, Value::Assoc(_)) {
            let first = match std::mem::take(&mut var.value) {
                Value::Scalar(text) => Some(text),
                _ => None,
            };
            let mut array = Assoc::default();
            if let Some(text) = first {
                array.set(b"0", text);
            }
            var.value = Value::Assoc(Arc::new(array));
        }
        var.attrs.insert(Attrs::ASSOC);
        Ok(match &mut var.value {
            Value::Assoc(array) => Some(Arc::make_mut(array)),
            _ => None,
        })
    }

    /// Returns what an array costs that no one shares; `None` if changing it makes a copy.
    fn own_cost(&self, name: Name) -> Option<u64> {
        match self.get(name).map(|var| &var.value) {
            Some(value @ (Value::Indexed(_) | Value::Assoc(_))) if !value.shared() => {
                Some(value.cost())
            }
            _ => None,
        }
    }

    /// Gives back what setting an element did not need, such as the text that was there before.
    fn settle_array(&mut self, budget: &Budget, name: Name, before: Option<u64>, reserved: u64) {
        if let Some(before) = before
            && self.own_cost(name).is_some()
        {
            self.settle(budget, name, before, reserved);
        }
    }

    /// Makes the variable an indexed array, keeping what it holds.
    pub(crate) fn make_indexed(&mut self, budget: &Budget, name: Name) -> Result<(), Stop> {
        self.indexed(budget, name, 0).map(|_| ())
    }

    /// Makes the variable an associative array, keeping what it holds.
    pub(crate) fn make_assoc(&mut self, budget: &Budget, name: Name) -> Result<(), Stop> {
        self.assoc(budget, name, 0).map(|_| ())
    }

    /// Sets an element of an indexed array; a scalar becomes one.
    pub(crate) fn set_index(
        &mut self,
        budget: &Budget,
        name: Name,
        index: i64,
        text: Bytes,
    ) -> Result<(), Stop> {
        let growth = match self.get(name).map(|var| &var.value) {
            Some(Value::Indexed(array)) => array.growth(index),
            _ => indexed::ELEMENT * 4,
        };
        let (before, reserved) = (self.own_cost(name), growth + text.cost());
        if let Some(array) = self.indexed(budget, name, reserved)? {
            array.set(index, text);
        }
        self.settle_array(budget, name, before, reserved);
        Ok(())
    }

    /// Appends to the text of an element.
    pub(crate) fn append_index(
        &mut self,
        budget: &Budget,
        name: Name,
        index: i64,
        more: &[u8],
    ) -> Result<(), Stop> {
        let growth = match self.get(name).map(|var| &var.value) {
            Some(Value::Indexed(array)) => match array.get(index) {
                Some(text) => text.growth(more.len()),
                None => array.growth(index) + more.len() as u64 + 40,
            },
            _ => indexed::ELEMENT * 4 + more.len() as u64 + 40,
        };
        if let Some(array) = self.indexed(budget, name, growth)? {
            let mut text = array.take(index).unwrap_or(Bytes::EMPTY);
            text.append(more);
            array.set(index, text);
        }
        Ok(())
    }

    /// Sets an element of an associative array.
    pub(crate) fn set_key(
        &mut self,
        budget: &Budget,
        name: Name,
        key: &[u8],
        text: Bytes,
    ) -> Result<(), Stop> {
        let growth = match self.get(name).map(|var| &var.value) {
            Some(Value::Assoc(array)) => array.growth(key),
            _ => assoc::ENTRY + 4096 + key.len() as u64,
        };
        let (before, reserved) = (self.own_cost(name), growth + text.cost());
        if let Some(array) = self.assoc(budget, name, reserved)? {
            array.set(key, text);
        }
        self.settle_array(budget, name, before, reserved);
        Ok(())
    }

    /// Appends to the text of an element.
    pub(crate) fn append_key(
        &mut self,
        budget: &Budget,
        name: Name,
        key: &[u8],
        more: &[u8],
    ) -> Result<(), Stop> {
        let growth = match self.get(name).map(|var| &var.value) {
            Some(Value::Assoc(array)) => match array.get(key) {
                Some(text) => text.growth(more.len()),
                None => array.growth(key) + more.len() as u64 + 40,
            },
            _ => assoc::ENTRY + 4096 + (key.len() + more.len()) as u64,
        };
        if let Some(array) = self.assoc(budget, name, growth)? {
            let mut text = array.take(key).unwrap_or(Bytes::EMPTY);
            text.append(more);
            array.set(key, text);
        }
        Ok(())
    }

    /// Removes an element of an indexed array.
    pub(crate) fn unset_index(
        &mut self,
        budget: &Budget,
        name: Name,
        index: i64,
    ) -> Result<(), Stop> {
        if let Some(array) = self.indexed(budget, name, 0)? {
            array.unset(index);
        }
        Ok(())
    }

    /// Removes an element of an associative array.
    pub(crate) fn unset_key(
        &mut self,
        budget: &Budget,
        name: Name,
        key: &[u8],
    ) -> Result<(), Stop> {
        if let Some(array) = self.assoc(budget, name, 0)? {
            array.unset(key);
        }
        Ok(())
    }

    /// Adds and removes attributes.
    pub(crate) fn change_attrs(
        &mut self,
        budget: &Budget,
        name: Name,
        add: Attrs,
        remove: Attrs,
    ) -> Result<(), Stop> {
        self.touch(budget, name)?;
        if let Some(var) = self.slots.get_mut(name.0 as usize) {
            var.attrs.remove(remove);
            var.attrs.insert(add);
        }
        Ok(())
    }

    /// Returns all exported variables that have a value, by name.
    pub(crate) fn environ(&self, names: &Names) -> Vec<(Arc<[u8]>, &[u8])> {
        let mut all: Vec<_> = self
            .all()
            .filter(|(_, var)| var.attrs.has(Attrs::EXPORT))
            .filter_map(|(name, var)| match &var.value {
                Value::Scalar(text) => Some((names.text(name), text.as_slice())),
                _ => None,
            })
            .collect();
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests;
