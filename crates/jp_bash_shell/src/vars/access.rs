//! Reading and assigning variables as a script does: namerefs followed, attributes obeyed, errors in bash's words.

use std::sync::Arc;

use jp_bash_syntax::ast::CaseOp;
use jp_bash_syntax::names::Name;
use jp_bash_system::Stop;

use crate::Shell;
use crate::expand::case::{self, CaseChange};
use crate::flow::Flow;
use crate::vars::subscript::{Key, Place};
use crate::vars::{Attrs, Bytes, Value};

/// How an assignment went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a refused assignment has a status"]
pub(crate) enum Assigned {
    Done,
    /// It was refused and the reason is already printed.
    Refused,
}

impl Assigned {
    /// Gives up the command line if the assignment was refused, as an assignment statement does.
    pub(crate) fn or_abandon(self) -> Result<(), Flow> {
        match self {
            Self::Done => Ok(()),
            Self::Refused => Err(Flow::Abandon(1)),
        }
    }

    /// Returns the status a builtin gives.
    pub(crate) fn status(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::Refused => 1,
        }
    }
}

/// Whether `=` or `+=` was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Replace,
    Append,
}

impl How {
    /// Returns `Append` for `+=`.
    pub(crate) fn append(append: bool) -> Self {
        if append { Self::Append } else { Self::Replace }
    }
}

/// Tells whether the text is a name.
pub(crate) fn is_name(text: &[u8]) -> bool {
    text.first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        && text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

impl Shell<'_> {
    /// Returns the number of a name made at run time; new names are counted as memory.
    pub(crate) fn intern(&self, text: &[u8]) -> Result<Name, Stop> {
        let mut names = self.kernel.names.borrow_mut();
        if let Some(name) = names.find(text) {
            return Ok(name);
        }
        self.kernel.budget.reserve(text.len() as u64 * 2 + 96)?;
        Ok(names.intern(text))
    }

    /// Returns the text of a name.
    pub(crate) fn name_text(&self, name: Name) -> Arc<[u8]> {
        self.kernel.names.borrow().text(name)
    }

    /// Returns what `$name` is.
    pub(crate) fn var_text(&mut self, name: Name) -> Result<Option<Bytes>, Flow> {
        match self.vars.get(name) {
            None => Ok(None),
            Some(var) if !var.attrs.has(Attrs::NAMEREF.with(Attrs::DYNAMIC)) => {
                Ok(var.text().cloned())
            }
            Some(_) => {
                let place = self.resolve(name)?;
                self.place_text(&place)
            }
        }
    }

    /// Returns the text at a place.
    pub(crate) fn place_text(&mut self, place: &Place) -> Result<Option<Bytes>, Flow> {
        match &place.key {
            None if self.vars.attrs(place.name).has(Attrs::DYNAMIC) => {
                Ok(match self.computed(place.name)? {
                    Value::Scalar(text) => Some(text),
                    Value::Indexed(array) => array.get(0).cloned(),
                    Value::Assoc(array) => array.get(b"0").cloned(),
                    Value::None => None,
                })
            }
            // A nameref that leads nowhere holds nothing.
            None if self.vars.attrs(place.name).has(Attrs::NAMEREF) => Ok(None),
            None => Ok(self
                .vars
                .get(place.name)
                .and_then(|var| var.text().cloned())),
            Some(key) => self.element(place.name, key),
        }
    }

    /// Returns an element; `@` and `*` are not for this.
    pub(crate) fn element(&mut self, name: Name, key: &Key) -> Result<Option<Bytes>, Flow> {
        let value = self.value_of(name)?;
        Ok(match (&value, key) {
            (Value::Indexed(array), Key::Index(index)) => array.get(*index).cloned(),
            (Value::Assoc(array), Key::Text(text)) => array.get(text).cloned(),
            (Value::Scalar(text), Key::Index(0)) => Some(text.clone()),
            _ => None,
        })
    }

    /// Returns the whole value of a variable that is no nameref; cheap, since arrays are shared.
    pub(crate) fn value_of(&mut self, name: Name) -> Result<Value, Flow> {
        match self.vars.get(name) {
            None => Ok(Value::None),
            Some(var) if var.attrs.has(Attrs::DYNAMIC) => self.computed(name),
            Some(var) => Ok(var.value.clone()),
        }
    }

    /// Assigns a text to a variable as `name=text` does, for builtins and loops.
    pub(crate) fn set_var(&mut self, name: Name, text: Bytes) -> Result<Assigned, Flow> {
        if !self.vars.attrs(name).has(Attrs::SLOW) {
            self.vars.set(&self.kernel.budget, name, text)?;
            self.after_set(name)?;
            return Ok(Assigned::Done);
        }
        let Some(place) = self.resolve_for_assign(name)? else {
            return Ok(Assigned::Refused);
        };
        self.set_place(&place, text, How::Replace)
    }

    /// Assigns the variable of a `for` loop: a nameref gets a new target.
    pub(crate) fn set_loop_var(&mut self, name: Name, text: Bytes) -> Result<Assigned, Flow> {
        if !self.vars.attrs(name).has(Attrs::NAMEREF) {
            return self.set_var(name, text);
        }
        if !self.valid_reference(name, text.as_slice())? {
            return Ok(Assigned::Refused);
        }
        self.vars.set(&self.kernel.budget, name, text)?;
        Ok(Assigned::Done)
    }

    /// Assigns by the text of a target: `name` or `name[subscript]`.
    pub(crate) fn set_target(&mut self, target: &[u8], text: Bytes) -> Result<Assigned, Flow> {
        match self.place_of_text(target)? {
            Some(place) => self.set_place(&place, text, How::Replace),
            None => Ok(Assigned::Refused),
        }
    }

    /// Assigns to a place that was resolved.
    pub(crate) fn set_place(
        &mut self,
        place: &Place,
        text: Bytes,
        how: How,
    ) -> Result<Assigned, Flow> {
        let name = place.name;
        let attrs = self.vars.attrs(name);
        if attrs.has(Attrs::READONLY) {
            self.complain_readonly(name)?;
            return Ok(Assigned::Refused);
        }
        if attrs.has(Attrs::DYNAMIC) {
            if let Some(Key::Text(key)) = &place.key {
                self.set_computed_key(name, key, text.as_slice())?;
                return Ok(Assigned::Done);
            }
            if self.set_computed(name, text.as_slice())? {
                return Ok(Assigned::Done);
            }
        }
        let (text, how) = if attrs.has(Attrs::CONVERTS) {
            (self.convert(place, attrs, text, how)?, How::Replace)
        } else {
            (text, how)
        };
        let budget = &self.kernel.budget;
        match (&place.key, how) {
            (None, How::Replace) => self.vars.set(budget, name, text)?,
            (None, How::Append) => self.vars.append(budget, name, text.as_slice())?,
            (Some(Key::Index(index)), How::Replace) => {
                self.vars.set_index(budget, name, *index, text)?;
            }
            (Some(Key::Index(index)), How::Append) => {
                self.vars
                    .append_index(budget, name, *index, text.as_slice())?;
            }
            (Some(Key::Text(key)), How::Replace) => self.vars.set_key(budget, name, key, text)?,
            (Some(Key::Text(key)), How::Append) => {
                self.vars.append_key(budget, name, key, text.as_slice())?;
            }
            (Some(Key::At | Key::Star), _) => {
                let shown = self.shown_place(place);
                self.complain(&[&shown, &b": bad array subscript"[..]].concat())?;
                return Ok(Assigned::Refused);
            }
        }
        self.after_set(name)?;
        Ok(Assigned::Done)
    }

    /// Applies `-i`, `-l`, `-u` and `-c` to a text about to be assigned; appends here if need be.
    fn convert(
        &mut self,
        place: &Place,
        attrs: Attrs,
        text: Bytes,
        how: How,
    ) -> Result<Bytes, Flow> {
        let old = match how {
            How::Append => self.place_text(place)?,
            How::Replace => None,
        };
        if attrs.has(Attrs::INTEGER) {
            let base = match &old {
                Some(old) => self.arith_text(old.as_slice())?,
                None => 0,
            };
            let value = self.arith_text(text.as_slice())?;
            return Ok(Bytes::from_int(base.wrapping_add(value)));
        }
        let mut whole = old.unwrap_or(Bytes::EMPTY);
        self.kernel
            .budget
            .reserve(whole.growth(text.as_slice().len()))?;
        let before = whole.cost();
        whole.append(text.as_slice());
        self.kernel
            .budget
            .release(whole.cost().saturating_sub(before));
        let utf8 = self.utf8_locale();
        let change = |op, all| CaseChange { op, all };
        let text = whole.as_slice();
        Ok(Bytes::from(if attrs.has(Attrs::LOWER) {
            case::change(text, change(CaseOp::Lower, true), utf8)
        } else if attrs.has(Attrs::UPPER) {
            case::change(text, change(CaseOp::Upper, true), utf8)
        } else {
            let lower = case::change(text, change(CaseOp::Lower, true), utf8);
            case::change(&lower, change(CaseOp::Upper, false), utf8)
        }))
    }

    /// Prints that a variable is readonly.
    pub(crate) fn complain_readonly(&mut self, name: Name) -> Result<(), Flow> {
        let text = self.name_text(name);
        self.complain(&[&text, &b": readonly variable"[..]].concat())?;
        Ok(())
    }

    /// Returns a place as it is written.
    pub(crate) fn shown_place(&self, place: &Place) -> Vec<u8> {
        let mut shown = self.name_text(place.name).to_vec();
        match &place.key {
            None => {}
            Some(Key::Index(index)) => shown.extend_from_slice(format!("[{index}]").as_bytes()),
            Some(Key::Text(key)) => {
                shown.push(b'[');
                shown.extend_from_slice(key);
                shown.push(b']');
            }
            Some(Key::At) => shown.extend_from_slice(b"[@]"),
            Some(Key::Star) => shown.extend_from_slice(b"[*]"),
        }
        shown
    }

    /// Replaces a variable by an array of these texts (`read -a`, `mapfile`, `BASH_REMATCH`).
    pub(crate) fn set_array(
        &mut self,
        name: Name,
        texts: impl IntoIterator<Item = Bytes>,
    ) -> Result<Assigned, Flow> {
        let Some(place) = self.resolve_for_assign(name)? else {
            return Ok(Assigned::Refused);
        };
        if self.vars.attrs(place.name).has(Attrs::READONLY) {
            self.complain_readonly(place.name)?;
            return Ok(Assigned::Refused);
        }
        let budget = &self.kernel.budget;
        let array = crate::vars::indexed::Indexed::from_many(budget, texts)?;
        self.vars
            .set_value(budget, place.name, Value::Indexed(Arc::new(array)))?;
        self.vars
            .change_attrs(budget, place.name, Attrs::INDEXED, Attrs::ASSOC)?;
        Ok(Assigned::Done)
    }
}
