//! Where an assignment or a reading goes: subscripts, namerefs, targets given as text.

use jp_bash_syntax::ast::{Subscript, SubscriptKind};
use jp_bash_syntax::names::Name;

use crate::Shell;
use crate::flow::Flow;
use crate::vars::access::is_name;
use crate::vars::{Attrs, Bytes, Value};

/// A subscript that was evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Index(i64),
    Text(Vec<u8>),
    At,
    Star,
}

/// A variable or one of its elements; never a nameref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) name: Name,
    pub(crate) key: Option<Key>,
}

/// How many namerefs may follow one another; bash stops there too.
const MAX_REFS: u32 = 8;

/// Splits `name[subscript]`.
pub(crate) fn split_target(text: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let Some(open) = memchr::memchr(b'[', text) else {
        return is_name(text).then_some((text, None));
    };
    let (name, rest) = text.split_at_checked(open)?;
    let subscript = rest.strip_prefix(b"[")?.strip_suffix(b"]")?;
    (is_name(name) && !subscript.is_empty()).then_some((name, Some(subscript)))
}

impl Shell<'_> {
    /// Follows namerefs. A cycle warns and ends at the name itself.
    pub(crate) fn resolve(&mut self, name: Name) -> Result<Place, Flow> {
        let mut at = name;
        for _ in 0..=MAX_REFS {
            let Some(var) = self.vars.get(at) else { break };
            if !var.attrs.has(Attrs::NAMEREF) {
                return Ok(Place {
                    name: at,
                    key: None,
                });
            }
            let Value::Scalar(target) = &var.value else {
                return Ok(Place {
                    name: at,
                    key: None,
                });
            };
            let target = target.clone();
            let Some((text, subscript)) = split_target(target.as_slice()) else {
                return Ok(Place {
                    name: at,
                    key: None,
                });
            };
            let next = self.intern(text)?;
            if let Some(subscript) = subscript {
                let key = self.key_of_text(next, subscript)?;
                return Ok(Place {
                    name: next,
                    key: Some(key),
                });
            }
            if next == name {
                break;
            }
            at = next;
        }
        if !self.vars.attrs(at).has(Attrs::NAMEREF) {
            return Ok(Place {
                name: at,
                key: None,
            });
        }
        let text = self.name_text(name);
        self.complain(&[b"warning: ", &*text, b": circular name reference"].concat())?;
        Ok(Place { name, key: None })
    }

    /// Follows namerefs for an assignment; a nameref without a target takes the text as its target.
    /// `None` when the assignment is refused.
    pub(crate) fn resolve_for_assign(&mut self, name: Name) -> Result<Option<Place>, Flow> {
        let place = self.resolve(name)?;
        Ok(Some(place))
    }

    /// Evaluates a subscript for a variable: a key if it is associative, else an index.
    pub(crate) fn key_of(&mut self, name: Name, subscript: &Subscript) -> Result<Key, Flow> {
        match &subscript.kind {
            SubscriptKind::At => Ok(Key::At),
            SubscriptKind::Star => Ok(Key::Star),
            SubscriptKind::Index { arith, key } => {
                if self.is_assoc(name) {
                    Ok(Key::Text(self.expand_one(key)?))
                } else {
                    Ok(Key::Index(self.arith(arith)?))
                }
            }
        }
    }

    /// Evaluates a subscript given as text.
    pub(crate) fn key_of_text(&mut self, name: Name, subscript: &[u8]) -> Result<Key, Flow> {
        match subscript {
            b"@" => Ok(Key::At),
            b"*" => Ok(Key::Star),
            _ if self.is_assoc(name) => Ok(Key::Text(self.expand_text(subscript)?)),
            _ => {
                let text = self.expand_text(subscript)?;
                Ok(Key::Index(self.arith_text(&text)?))
            }
        }
    }

    /// Tells whether a variable is an associative array.
    pub(crate) fn is_assoc(&self, name: Name) -> bool {
        self.vars
            .get(name)
            .is_some_and(|var| matches!(var.value, Value::Assoc(_)) || var.attrs.has(Attrs::ASSOC))
    }

    /// Turns a negative index into the one it stands for; `None` if there is no such element.
    pub(crate) fn real_index(&mut self, name: Name, index: i64) -> Result<Option<i64>, Flow> {
        if index >= 0 {
            return Ok(Some(index));
        }
        let end = match self.value_of(name)? {
            Value::Indexed(array) => array.last().map_or(0, |last| last.saturating_add(1)),
            Value::Scalar(_) => 1,
            _ => 0,
        };
        Ok(end.checked_add(index).filter(|index| *index >= 0))
    }

    /// Returns the place that `name` or `name[subscript]` names, with namerefs followed; prints why not.
    pub(crate) fn place_of_text(&mut self, target: &[u8]) -> Result<Option<Place>, Flow> {
        let Some((name, subscript)) = split_target(target) else {
            self.complain(&[b"`", target, b"': not a valid identifier"].concat())?;
            return Ok(None);
        };
        let name = self.intern(name)?;
        let place = self.resolve(name)?;
        let Some(subscript) = subscript else {
            return Ok(Some(place));
        };
        let key = self.key_of_text(place.name, subscript)?;
        self.writable(place.name, key, subscript)
    }

    /// Resolves a negative index for an assignment; prints when there is no such element.
    pub(crate) fn writable(
        &mut self,
        name: Name,
        key: Key,
        shown: &[u8],
    ) -> Result<Option<Place>, Flow> {
        let key = match key {
            Key::Index(index) => match self.real_index(name, index)? {
                Some(index) => Key::Index(index),
                None => {
                    self.complain_subscript(name, shown)?;
                    return Ok(None);
                }
            },
            Key::At | Key::Star => {
                self.complain_subscript(name, shown)?;
                return Ok(None);
            }
            Key::Text(text) if text.is_empty() => {
                self.complain_subscript(name, shown)?;
                return Ok(None);
            }
            text => text,
        };
        Ok(Some(Place {
            name,
            key: Some(key),
        }))
    }

    /// Prints `name[subscript]: bad array subscript`.
    pub(crate) fn complain_subscript(&mut self, name: Name, shown: &[u8]) -> Result<(), Flow> {
        let text = self.name_text(name);
        self.complain(&[&text, &b"["[..], shown, b"]: bad array subscript"].concat())?;
        Ok(())
    }

    /// Returns an element for reading; an index before the first is an error that reads as nothing.
    pub(crate) fn read_key(&mut self, name: Name, key: &Key) -> Result<Option<Bytes>, Flow> {
        if let Key::Index(index) = key
            && *index < 0
        {
            // For writing, `x[-1]` of a plain variable is `x`; for reading it is an error.
            let scalar = matches!(self.value_of(name)?, Value::Scalar(_));
            return match self.real_index(name, *index)?.filter(|_| !scalar) {
                Some(index) => self.element(name, &Key::Index(index)),
                None => {
                    let text = self.name_text(name);
                    self.complain(&[&text, &b": bad array subscript"[..]].concat())?;
                    Ok(None)
                }
            };
        }
        self.element(name, key)
    }
}
