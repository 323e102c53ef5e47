//! JSON values as jq has them: cheap to clone, counted, and dropped without recursion.
//!
//! A value may be nested far deeper than the machine stack would bear (`reduce range(1e6) as $i (0; [.])`),
//! so nothing here recurses without a bound.

use std::cell::Cell;
use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use super::text::Text;

/// A JSON value.
#[derive(Clone, Debug, Default)]
pub(super) enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(f64),
    /// A number that was read and not computed with: it is shown as it was written.
    Literal(Arc<Literal>),
    String(Text),
    Array(Arc<Array>),
    Object(Arc<Object>),
}

/// A number with its own text.
#[derive(Debug)]
pub(super) struct Literal {
    pub(super) number: f64,
    /// The canonical decimal text.
    pub(super) text: Box<[u8]>,
}

/// What a value is, in jq's order of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
}

thread_local! {
    /// Bytes allocated less bytes freed since a run last looked. A run looks before each call that may
    /// suspend it, so what is counted here always belongs to the run that is awake.
    static LIVE: Cell<i64> = const { Cell::new(0) };
    /// Bytes allocated since a run last looked, whatever became of them.
    static MADE: Cell<usize> = const { Cell::new(0) };
    /// How many drops are under way on the machine stack.
    static DROPS: Cell<u32> = const { Cell::new(0) };
}

/// Nested drops that run on the machine stack before a work list takes over.
const NATIVE_DROPS: u32 = 32;

/// Takes the change in held bytes since the last look.
pub(super) fn take_live() -> i64 {
    LIVE.with(Cell::take)
}

/// Takes how many bytes were allocated since the last look.
pub(super) fn take_made() -> usize {
    MADE.with(Cell::take)
}

/// Counts a change in held bytes.
pub(super) fn count(from: usize, to: usize) {
    if to > from {
        MADE.with(|made| made.set(made.get().saturating_add(to - from)));
    }
    let change = i64::try_from(to).unwrap_or(i64::MAX) - i64::try_from(from).unwrap_or(i64::MAX);
    LIVE.with(|live| live.set(live.get().saturating_add(change)));
}

/// The elements of an array.
#[derive(Debug, Default)]
pub(super) struct Array {
    items: Vec<Value>,
    counted: usize,
}

impl Array {
    fn recount(&mut self) {
        let now = self.items.capacity() * size_of::<Value>() + 48;
        count(self.counted, now);
        self.counted = now;
    }

    /// Returns the elements, to change them; copies them first when they are shared.
    pub(super) fn edit<R>(this: &mut Arc<Self>, change: impl FnOnce(&mut Vec<Value>) -> R) -> R {
        let array = Arc::make_mut(this);
        let result = change(&mut array.items);
        array.recount();
        result
    }
}

impl Array {
    /// Returns one element to change it.
    pub(super) fn slot(this: &mut Arc<Self>, at: usize) -> Option<&mut Value> {
        Arc::make_mut(this).items.get_mut(at)
    }
}

impl Clone for Array {
    fn clone(&self) -> Self {
        let mut array = Self {
            items: self.items.clone(),
            counted: 0,
        };
        array.recount();
        array
    }
}

impl std::ops::Deref for Array {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.items
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        count(self.counted, 0);
        if self.items.iter().any(Value::is_container) {
            drop_all(mem::take(&mut self.items));
        }
    }
}

/// The members of an object, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Object {
    members: Vec<(Text, Value)>,
    /// Where each name is, for objects that are too large to be searched from end to end.
    index: Option<HashMap<Text, usize>>,
    counted: usize,
}

/// From how many members an object has an index.
const INDEXED: usize = 12;

impl Object {
    /// Returns the value of a member.
    pub(super) fn get(&self, name: &[u8]) -> Option<&Value> {
        self.find(name)
            .and_then(|at| self.members.get(at))
            .map(|(_, value)| value)
    }

    /// Returns the members in their order.
    pub(super) fn members(&self) -> &[(Text, Value)] {
        &self.members
    }

    /// Returns the members in the order of their names.
    pub(super) fn sorted(&self) -> Vec<&(Text, Value)> {
        let mut sorted: Vec<_> = self.members.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        sorted
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.members.iter().position(|(key, _)| key == name),
        }
    }

    /// Sets a member.
    pub(super) fn set(this: &mut Arc<Self>, name: Text, value: Value) {
        let object = Arc::make_mut(this);
        object.put(name, value);
    }

    /// Sets a member of an object that is being built.
    pub(super) fn put(&mut self, name: Text, value: Value) {
        let at = self.find(&name);
        if let Some(member) = at.and_then(|at| self.members.get_mut(at)) {
            member.1 = value;
            return;
        }
        if let Some(index) = &mut self.index {
            index.insert(name.clone(), self.members.len());
        }
        self.members.push((name, value));
        if self.index.is_none() && self.members.len() > INDEXED {
            self.reindex();
        }
        self.recount();
    }

    /// Returns a member to change it, `null` if it is new.
    pub(super) fn entry<'a>(this: &'a mut Arc<Self>, name: &Text) -> Option<&'a mut Value> {
        if this.find(name).is_none() {
            Self::set(this, name.clone(), Value::Null);
        }
        let object = Arc::make_mut(this);
        let at = object.find(name)?;
        object.members.get_mut(at).map(|(_, value)| value)
    }

    /// Removes members by a test on their names.
    pub(super) fn retain(this: &mut Arc<Self>, mut keep: impl FnMut(&[u8]) -> bool) {
        let object = Arc::make_mut(this);
        object.members.retain(|(name, _)| keep(name));
        if object.index.is_some() {
            object.reindex();
        }
    }

    /// Returns how many members there are.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    fn reindex(&mut self) {
        self.index = Some(
            self.members
                .iter()
                .enumerate()
                .map(|(at, (name, _))| (name.clone(), at))
                .collect(),
        );
    }

    fn recount(&mut self) {
        let each = if self.index.is_some() { 40 } else { 0 };
        let now =
            self.members.capacity() * size_of::<(Text, Value)>() + self.members.len() * each + 96;
        count(self.counted, now);
        self.counted = now;
    }
}

impl Clone for Object {
    fn clone(&self) -> Self {
        let mut object = Self {
            members: self.members.clone(),
            index: self.index.clone(),
            counted: 0,
        };
        object.recount();
        object
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        count(self.counted, 0);
        if self.members.iter().any(|(_, value)| value.is_container()) {
            drop_all(
                mem::take(&mut self.members)
                    .into_iter()
                    .map(|(_, value)| value)
                    .collect(),
            );
        }
    }
}

/// Drops values that may nest deeply: on the machine stack for a few levels, then from a work list.
fn drop_all(mut values: Vec<Value>) {
    let depth = DROPS.with(Cell::get);
    if depth < NATIVE_DROPS {
        DROPS.with(|drops| drops.set(depth + 1));
        drop(values);
        DROPS.with(|drops| drops.set(depth));
        return;
    }
    while let Some(value) = values.pop() {
        match value {
            Value::Array(array) => {
                if let Some(mut array) = Arc::into_inner(array) {
                    values.append(&mut array.items);
                }
            }
            Value::Object(object) => {
                if let Some(mut object) = Arc::into_inner(object) {
                    values.extend(object.members.drain(..).map(|(_, value)| value));
                }
            }
            _ => {}
        }
    }
}

impl Value {
    /// Makes a string; the bytes are known to be UTF-8.
    pub(super) fn string(bytes: &[u8]) -> Self {
        Self::String(Text::new(bytes))
    }

    /// Makes a string from a buffer that is known to be UTF-8.
    pub(super) fn owned(bytes: Vec<u8>) -> Self {
        Self::String(Text::owned(bytes))
    }

    /// Makes an array.
    pub(super) fn array(items: Vec<Self>) -> Self {
        let mut array = Array { items, counted: 0 };
        array.recount();
        Self::Array(Arc::new(array))
    }

    /// Makes an object.
    pub(super) fn object(members: impl IntoIterator<Item = (Text, Self)>) -> Self {
        let mut object = Object::default();
        for (name, value) in members {
            object.put(name, value);
        }
        object.recount();
        Self::Object(Arc::new(object))
    }

    /// Makes a number from a count.
    pub(super) fn count(n: usize) -> Self {
        Self::Number(float(n))
    }

    /// Tells what the value is.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(false) => Kind::False,
            Self::Bool(true) => Kind::True,
            Self::Number(_) | Self::Literal(_) => Kind::Number,
            Self::String(_) => Kind::String,
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
        }
    }

    /// Returns the name that `type` gives.
    pub(super) fn kind_name(&self) -> &'static str {
        match self.kind() {
            Kind::Null => "null",
            Kind::False | Kind::True => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }

    /// Tells whether a condition takes it for true.
    pub(super) fn truthy(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(false))
    }

    /// Returns the number, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Literal(literal) => Some(literal.number),
            _ => None,
        }
    }

    /// Returns the bytes of a string, if it is one.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    fn is_container(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// Tells whether both are the very same value, as path expressions ask.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(a), Self::Array(b)) => Arc::ptr_eq(a, b),
            (Self::Object(a), Self::Object(b)) => Arc::ptr_eq(a, b),
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.to_bits() == b.to_bits(),
                _ => false,
            },
        }
    }
}

/// Converts a count; exact below 2^53, which no count here reaches.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn float(n: usize) -> f64 {
    n as f64
}

impl Default for Literal {
    fn default() -> Self {
        Self {
            number: 0.0,
            text: Box::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_a_million_deep_is_dropped_without_recursion() {
        let mut value = Value::Null;
        for turn in 0..1_000_000 {
            value = if turn % 2 == 0 {
                Value::array(vec![value])
            } else {
                Value::object([(Text::new(b"a"), value)])
            };
        }
        drop(value);
    }

    #[test]
    fn what_is_allocated_is_counted_and_given_back() {
        take_live();
        let value = Value::array(vec![Value::string(&[b'x'; 1000]); 100]);
        assert!(LIVE.with(Cell::get) > 3000);
        drop(value);
        assert_eq!(take_live(), 0);
    }

    #[test]
    fn a_large_object_finds_replaces_and_removes() {
        let names: Vec<Text> = (0..100)
            .map(|n| Text::new(format!("k{n}").as_bytes()))
            .collect();
        let Value::Object(mut object) =
            Value::object(names.iter().map(|name| (name.clone(), Value::Null)))
        else {
            panic!("an object");
        };
        Object::set(&mut object, Text::new(b"k50"), Value::Bool(true));
        assert_eq!(object.len(), 100);
        assert!(object.get(b"k50").is_some_and(Value::truthy));
        Object::retain(&mut object, |name| name != b"k50");
        assert!(object.get(b"k50").is_none() && object.get(b"k99").is_some());
    }
}
