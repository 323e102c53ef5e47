//! One configuration file as a tree, and where in its text a key stands.

use core::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Number, Value};
use toml::de::{DeArray, DeTable, DeValue};

use crate::{
    error::{ConfigError, Origin, Place, Problem},
    json, locara, tree,
};

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Toml,
    Json,
    /// The manifest of an app: JSON with comments.
    Manifest,
}

impl Format {
    /// Returns the format a file name stands for.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        if path.file_name()? == locara::FILE {
            return Some(Self::Manifest);
        }
        match path.extension()?.to_str()? {
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// The text of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) text: String,
}

impl Document {
    /// Parses the text into a tree whose root is a table.
    pub(crate) fn parse(&self) -> Result<Value, ConfigError> {
        match self.format {
            Format::Toml => self.parse_toml(),
            Format::Json => self.parse_json(&self.text),
            Format::Manifest => self.parse_json(&json::without_comments(&self.text)),
        }
    }

    fn parse_toml(&self) -> Result<Value, ConfigError> {
        let table = DeTable::parse(&self.text).map_err(|error| {
            let place = self.place_of(error.span());
            let message = error.message().trim().replace('\n', ", ");
            ConfigError::at(place, None, Problem::Syntax { message })
        })?;
        object(table.into_inner()).map_err(|(span, message)| {
            let place = self.place_of(Some(span));
            ConfigError::at(place, None, Problem::Invalid { message })
        })
    }

    fn parse_json(&self, text: &str) -> Result<Value, ConfigError> {
        let value = json::parse(text).map_err(|error| {
            let mut place = self.place_of(None);
            place.line = Some(error.line());
            place.column = Some(error.column());
            let message = error.to_string();
            ConfigError::at(place, None, Problem::Syntax { message })
        })?;
        if value.is_object() {
            return Ok(value);
        }
        let message = "expected a table".to_string();
        Err(ConfigError::at(
            self.place_of(None),
            None,
            Problem::Invalid { message },
        ))
    }

    /// Returns where a key stands; as much of the path as the file has.
    pub(crate) fn place(&self, path: &[String]) -> Place {
        Index::new(self).place(path)
    }

    fn place_of(&self, span: Option<Range<usize>>) -> Place {
        let origin = Origin::File(self.path.clone());
        let before = span.and_then(|span| self.text.get(..span.start));
        let line = before.map(|text| text.bytes().filter(|b| *b == b'\n').count() + 1);
        let column = before.map(|text| {
            let line = text.rsplit('\n').next().unwrap_or_default();
            line.chars().count() + 1
        });
        Place {
            origin,
            line,
            column,
        }
    }
}

/// Where the keys of a document stand. Made only when an error or a warning is about one.
#[derive(Debug)]
pub(crate) struct Index<'d> {
    document: &'d Document,
    parsed: Parsed<'d>,
}

#[derive(Debug)]
enum Parsed<'d> {
    Toml(DeTable<'d>),
    Json(Value),
}

impl<'d> Index<'d> {
    pub(crate) fn new(document: &'d Document) -> Self {
        let parsed = match document.format {
            Format::Toml => {
                let table = DeTable::parse(&document.text);
                Parsed::Toml(table.map(toml::Spanned::into_inner).unwrap_or_default())
            }
            Format::Json | Format::Manifest => Parsed::Json(document.parse().unwrap_or_default()),
        };
        Self { document, parsed }
    }

    /// Returns whether the document has a key.
    pub(crate) fn has(&self, path: &[String]) -> bool {
        match &self.parsed {
            Parsed::Toml(table) => walk(table, path).done == path.len(),
            Parsed::Json(tree) => tree::get(tree, path).is_some(),
        }
    }

    /// Returns the number of the first text of a list that fits.
    pub(crate) fn item(&self, path: &[String], fits: &dyn Fn(&str) -> bool) -> Option<usize> {
        match &self.parsed {
            Parsed::Toml(table) => match walk(table, path) {
                Walked {
                    end: End::List(items),
                    done,
                    ..
                } if done == path.len() => items.iter().position(|item| match item.get_ref() {
                    DeValue::String(text) => fits(text),
                    _ => false,
                }),
                _ => None,
            },
            Parsed::Json(tree) => {
                let items = tree::get(tree, path)?.as_array()?;
                let is_it = |item: &Value| item.as_str().is_some_and(fits);
                items.iter().position(is_it)
            }
        }
    }

    /// Returns where a key stands; as much of the path as the document has.
    pub(crate) fn place(&self, path: &[String]) -> Place {
        let span = match &self.parsed {
            Parsed::Toml(table) => walk(table, path).span,
            Parsed::Json(_) => match self.document.format {
                Format::Manifest => {
                    json::key_at(&json::without_comments(&self.document.text), path)
                }
                _ => json::key_at(&self.document.text, path),
            },
        };
        self.document.place_of(span)
    }
}

/// How far a path was followed.
struct Walked<'t, 'd> {
    /// Where it ends.
    span: Option<Range<usize>>,
    /// How many of its parts there were.
    done: usize,
    /// What stands there.
    end: End<'t, 'd>,
}

/// What stands at the end of a path.
#[derive(Clone, Copy)]
enum End<'t, 'd> {
    Table(&'t DeTable<'d>),
    List(&'t DeArray<'d>),
    Other,
}

/// Follows a path as far as it goes. An item of a list is named by its number.
fn walk<'t, 'd>(table: &'t DeTable<'d>, path: &[String]) -> Walked<'t, 'd> {
    let (mut span, mut end) = (None, End::Table(table));
    for (done, part) in path.iter().enumerate() {
        let found = match end {
            End::Table(table) => {
                let entry = table.iter().find(|(key, _)| key.get_ref() == part);
                entry.map(|(key, value)| (key.span(), value))
            }
            End::List(items) => {
                let item = part.parse().ok().and_then(|at: usize| items.get(at));
                item.map(|item| (item.span(), item))
            }
            End::Other => None,
        };
        let Some((at, value)) = found else {
            return Walked { span, done, end };
        };
        span = Some(at);
        end = match value.get_ref() {
            DeValue::Table(table) => End::Table(table),
            DeValue::Array(items) => End::List(items),
            _ => End::Other,
        };
    }
    let done = path.len();
    Walked { span, done, end }
}

/// Why a TOML value has no JSON form, and where it stands.
type Unfit = (Range<usize>, String);

fn object(table: DeTable<'_>) -> Result<Value, Unfit> {
    let mut entries: Vec<_> = table.into_iter().collect();
    // The parser sorts by name; people read lists of tools and parameters in the order they wrote.
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut map = Map::with_capacity(entries.len());
    for (key, entry) in entries {
        let span = entry.span();
        map.insert(
            key.into_inner().into_owned(),
            value(entry.into_inner(), span)?,
        );
    }
    Ok(Value::Object(map))
}

fn value(value: DeValue<'_>, span: Range<usize>) -> Result<Value, Unfit> {
    Ok(match value {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into(),
            Err(_) => return Err((span, "number too large".to_string())),
        },
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(Number::from_f64);
            number
                .map(Value::Number)
                .ok_or_else(|| (span, "invalid number: expected a finite one".to_string()))?
        }
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| {
                let span = item.span();
                self::value(item.into_inner(), span)
            });
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => object(table)?,
    })
}
