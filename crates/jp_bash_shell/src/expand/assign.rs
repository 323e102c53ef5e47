//! Assignments: `x=1`, `a[i]+=2`, `a=(…)`.

use std::sync::Arc;

use jp_bash_syntax::ast::{Assign, AssignValue, Element, SubscriptKind};
use jp_bash_syntax::names::Name;
use jp_bash_system::PIECE;

use crate::Shell;
use crate::args::WORDS;
use crate::flow::Flow;
use crate::options::Opt;
use crate::vars::access::{Assigned, How};
use crate::vars::assoc::Assoc;
use crate::vars::indexed::Indexed;
use crate::vars::subscript::{Key, Place};
use crate::vars::{Attrs, Bytes, Value, known};

/// One element of an array literal, expanded.
#[derive(Debug)]
pub(crate) struct Item {
    /// `None` comes after the last one.
    key: Option<ItemKey>,
    how: How,
    text: Bytes,
}

impl Item {
    /// Writes the element as `set -x` shows it.
    pub(crate) fn show(&self, line: &mut Vec<u8>) {
        match &self.key {
            Some(ItemKey::Text(key)) => {
                line.push(b'[');
                push_single(line, key);
                line.extend_from_slice(b"]=");
            }
            Some(ItemKey::Index(index)) => {
                line.extend_from_slice(format!("[{index}]=").as_bytes());
            }
            None => {}
        }
        push_single(line, self.text.as_slice());
    }
}

fn push_single(line: &mut Vec<u8>, text: &[u8]) {
    line.push(b'\'');
    for byte in text {
        match byte {
            b'\'' => line.extend_from_slice(b"'\\''"),
            byte => line.push(*byte),
        }
    }
    line.push(b'\'');
}

/// The subscript of an element, which is evaluated when the element is assigned.
#[derive(Debug)]
enum ItemKey {
    Text(Vec<u8>),
    Index(i64),
}

impl Shell<'_> {
    /// Runs an assignment as a statement: a refused one gives up the command line.
    pub(crate) fn assign(&mut self, assign: &Assign) -> Result<(), Flow> {
        self.assign_or_refuse(assign)?.or_abandon()
    }

    /// Runs an assignment.
    pub(crate) fn assign_or_refuse(&mut self, assign: &Assign) -> Result<Assigned, Flow> {
        let how = How::append(assign.append);
        match &assign.value {
            AssignValue::Scalar(word) if assign.subscript.is_none() => {
                let text = self.expand_value(word)?;
                self.assign_text(assign.name, text, how)
            }
            AssignValue::Scalar(word) => {
                let place = self.resolve(assign.name)?;
                let Some(subscript) = &assign.subscript else {
                    return Ok(Assigned::Refused);
                };
                if subscript.text.is_empty() {
                    self.complain_subscript(place.name, b"")?;
                    return Ok(Assigned::Refused);
                }
                let key = self.key_of(place.name, subscript)?;
                let text = self.expand_value(word)?;
                match self.writable(place.name, key, &subscript.text)? {
                    Some(place) => self.set_place(&place, text, how),
                    None => Ok(Assigned::Refused),
                }
            }
            AssignValue::Array(_) if assign.subscript.is_some() => {
                let name = self.name_text(assign.name);
                let subscript = assign.subscript.as_ref().map_or(&b""[..], |s| &s.text);
                self.complain(
                    &[
                        &name,
                        &b"["[..],
                        subscript,
                        b"]: cannot assign list to array member",
                    ]
                    .concat(),
                )?;
                Ok(Assigned::Refused)
            }
            AssignValue::Array(elements) => {
                let place = self.resolve(assign.name)?;
                let assoc = self.is_assoc(place.name);
                let items = self.expand_elements(assoc, elements)?;
                self.assign_items(place.name, items, how)
            }
        }
    }

    /// Assigns a text to a name.
    #[inline]
    pub(crate) fn assign_text(
        &mut self,
        name: Name,
        text: Bytes,
        how: How,
    ) -> Result<Assigned, Flow> {
        if !self.vars.attrs(name).has(Attrs::SLOW) {
            match how {
                How::Replace => self.vars.set(&self.kernel.budget, name, text)?,
                How::Append => self
                    .vars
                    .append(&self.kernel.budget, name, text.as_slice())?,
            }
            self.after_set(name)?;
            return Ok(Assigned::Done);
        }
        let attrs = self.vars.attrs(name);
        if attrs.has(Attrs::NAMEREF) {
            return self.assign_reference(name, text, how);
        }
        self.set_place(&Place { name, key: None }, text, how)
    }

    /// Assigns through a nameref; one without a target takes the text as its target.
    fn assign_reference(&mut self, name: Name, text: Bytes, how: How) -> Result<Assigned, Flow> {
        let empty = self
            .vars
            .get(name)
            .is_none_or(|var| var.text().is_none_or(|target| target.as_slice().is_empty()));
        if empty {
            if !self.valid_reference(name, text.as_slice())? {
                return Ok(Assigned::Refused);
            }
            self.vars.set(&self.kernel.budget, name, text)?;
            return Ok(Assigned::Done);
        }
        let place = self.resolve(name)?;
        if place.name == name {
            // A cycle: the warning is printed, the assignment refused.
            return Ok(Assigned::Refused);
        }
        let place = match place.key {
            Some(key) => {
                let shown = self.shown_place(&Place {
                    name: place.name,
                    key: Some(key.clone()),
                });
                match self.writable(place.name, key, &shown)? {
                    Some(place) => place,
                    None => return Ok(Assigned::Refused),
                }
            }
            None => place,
        };
        self.set_place(&place, text, how)
    }

    /// Tells whether a text can be the target of a nameref; prints why not.
    pub(crate) fn valid_reference(&mut self, name: Name, target: &[u8]) -> Result<bool, Flow> {
        if crate::vars::subscript::split_target(target).is_none() {
            self.complain(
                &[b"`", target, b"': invalid variable name for name reference"].concat(),
            )?;
            return Ok(false);
        }
        let own = self.name_text(name);
        if *own == *target && self.vars.depth() == 0 {
            self.complain(
                &[&own, &b": nameref variable self references not allowed"[..]].concat(),
            )?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Expands the elements of an array literal: without a subscript they are split and globbed.
    pub(crate) fn expand_elements(
        &mut self,
        assoc: bool,
        elements: &[Element],
    ) -> Result<Vec<Item>, Flow> {
        let mut items = Vec::new();
        for element in elements {
            let how = How::append(element.append);
            match &element.subscript {
                Some(subscript) => {
                    let key = match &subscript.kind {
                        SubscriptKind::Index { key, .. } if assoc => {
                            Key::Text(self.expand_one(key)?)
                        }
                        SubscriptKind::Index { arith, .. } => Key::Index(self.arith(arith)?),
                        SubscriptKind::At => Key::At,
                        SubscriptKind::Star => Key::Star,
                    };
                    let key = match key {
                        Key::Text(text) => ItemKey::Text(text),
                        Key::Index(index) => ItemKey::Index(index),
                        Key::At | Key::Star if assoc => ItemKey::Text(subscript.text.to_vec()),
                        Key::At | Key::Star => {
                            self.complain(
                                &[b"[", &*subscript.text, b"]: bad array subscript"].concat(),
                            )?;
                            continue;
                        }
                    };
                    let text = self.expand_value(&element.value)?;
                    items.push(Item {
                        key: Some(key),
                        how,
                        text,
                    });
                }
                None if assoc => items.push(Item {
                    key: None,
                    how,
                    text: self.expand_value(&element.value)?,
                }),
                None => {
                    let fields = self.expand_words(std::slice::from_ref(&element.value))?;
                    for text in fields {
                        if items.len() % WORDS == WORDS - 1 {
                            self.kernel.budget.work_bytes(PIECE)?;
                        }
                        items.push(Item {
                            key: None,
                            how,
                            text: Bytes::from(text),
                        });
                    }
                }
            }
        }
        Ok(items)
    }

    /// Assigns an array literal.
    pub(crate) fn assign_items(
        &mut self,
        name: Name,
        items: Vec<Item>,
        how: How,
    ) -> Result<Assigned, Flow> {
        let attrs = self.vars.attrs(name);
        if attrs.has(Attrs::READONLY) {
            self.complain_readonly(name)?;
            return Ok(Assigned::Refused);
        }
        if attrs.has(Attrs::DYNAMIC) {
            return Ok(Assigned::Done);
        }
        if self.is_assoc(name) {
            return self.assign_pairs(name, items, how);
        }
        if how == How::Replace {
            self.vars.set_value(
                &self.kernel.budget,
                name,
                Value::Indexed(Arc::new(Indexed::default())),
            )?;
            self.vars
                .change_attrs(&self.kernel.budget, name, Attrs::INDEXED, Attrs::NONE)?;
        } else {
            self.vars.make_indexed(&self.kernel.budget, name)?;
        }
        let mut next = match self.vars.get(name).map(|var| &var.value) {
            Some(Value::Indexed(array)) => array.last().map_or(0, |last| last.wrapping_add(1)),
            _ => 0,
        };
        for item in items {
            let index = match item.key {
                Some(ItemKey::Index(index)) => match self.real_index(name, index)? {
                    Some(index) => index,
                    None => {
                        self.complain(format!("[{index}]: bad array subscript").as_bytes())?;
                        continue;
                    }
                },
                _ => next,
            };
            if self.vars.attrs(name).has(Attrs::CONVERTS) || item.how == How::Append {
                let place = Place {
                    name,
                    key: Some(Key::Index(index)),
                };
                if self.set_place(&place, item.text, item.how)? == Assigned::Refused {
                    return Ok(Assigned::Refused);
                }
            } else {
                self.vars
                    .set_index(&self.kernel.budget, name, index, item.text)?;
            }
            next = index.wrapping_add(1);
        }
        self.after_set(name)?;
        Ok(Assigned::Done)
    }

    /// Assigns to an associative array: `[key]=value`, or keys and values in turn.
    fn assign_pairs(&mut self, name: Name, items: Vec<Item>, how: How) -> Result<Assigned, Flow> {
        if how == How::Replace {
            self.vars.set_value(
                &self.kernel.budget,
                name,
                Value::Assoc(Arc::new(Assoc::default())),
            )?;
        } else {
            self.vars.make_assoc(&self.kernel.budget, name)?;
        }
        let pairs = items.first().is_some_and(|item| item.key.is_none());
        let mut items = items.into_iter();
        while let Some(item) = items.next() {
            let (key, text) = match item.key {
                Some(ItemKey::Text(key)) => (key, item.text),
                Some(ItemKey::Index(index)) => {
                    (Bytes::from_int(index).as_slice().to_vec(), item.text)
                }
                None if pairs => {
                    let value = items.next().map_or(Bytes::EMPTY, |value| value.text);
                    (item.text.as_slice().to_vec(), value)
                }
                None => {
                    let shown = self.name_text(name);
                    self.complain(
                        &[
                            &shown,
                            &b": "[..],
                            item.text.as_slice(),
                            b": must use subscript when assigning associative array",
                        ]
                        .concat(),
                    )?;
                    continue;
                }
            };
            if key.is_empty() {
                self.complain_subscript(name, b"")?;
                continue;
            }
            let place = Place {
                name,
                key: Some(Key::Text(key)),
            };
            if self.set_place(&place, text, item.how)? == Assigned::Refused {
                return Ok(Assigned::Refused);
            }
        }
        Ok(Assigned::Done)
    }

    /// Returns an assignment among the words of a command as `name=value`.
    pub(super) fn assign_as_text(&mut self, assign: &Assign) -> Result<Vec<u8>, Flow> {
        let mut text = self.name_text(assign.name).to_vec();
        if let Some(subscript) = &assign.subscript {
            text.push(b'[');
            text.extend_from_slice(&subscript.text);
            text.push(b']');
        }
        text.extend_from_slice(if assign.append { b"+=" } else { b"=" });
        match &assign.value {
            AssignValue::Scalar(word) => {
                let value = self.expand_one(word)?;
                text.extend_from_slice(&value);
            }
            // The elements are in `Vars::array_words`.
            AssignValue::Array(_) => text.extend_from_slice(b"()"),
        }
        Ok(text)
    }

    fn after_watched(&mut self, name: Name) {
        match name {
            // Setting it turns `dotglob` on, which stays.
            known::GLOBIGNORE if self.vars.text(name).is_some_and(|text| !text.is_empty()) => {
                self.options.set(Opt::DotGlob, true);
            }
            known::POSIXLY_CORRECT => self.options.set(Opt::Posix, true),
            known::PATH if !self.hashed.is_empty() => self.hashed = Arc::default(),
            _ => {}
        }
    }

    /// Looks after what follows an assignment: `set -a` exports, some variables have effects.
    #[inline]
    pub(crate) fn after_set(&mut self, name: Name) -> Result<(), Flow> {
        if name.0 <= known::LAST_WATCHED.0 {
            self.after_watched(name);
        }
        if self.options.has(Opt::AllExport) {
            self.vars
                .change_attrs(&self.kernel.budget, name, Attrs::EXPORT, Attrs::NONE)?;
        }
        Ok(())
    }
}
