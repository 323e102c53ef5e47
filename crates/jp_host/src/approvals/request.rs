//! What a person is shown of a request: kept with it as JSON, and read back for the person who decides. Texts come
//! from strangers and are escaped where they are printed.

use jp_llm::{ApprovalRequest, Denial};
use jp_store::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::access::Access;

/// Arguments with more bytes than this are kept in part; what is left out is counted.
const MOST: usize = 32 * 1024;

/// What a person is shown of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Where the tool comes from.
    pub source: String,
    /// The arguments, as JSON.
    pub arguments: String,
    /// How many bytes of them are left out.
    pub left_out: usize,
    /// What the call may do, one thing per item.
    pub may: Vec<String>,
    /// Whether it would run with the full authority of the user.
    pub unconfined: bool,
}

impl About {
    /// Reads what is kept with a request; nothing when it makes no sense.
    #[must_use]
    pub fn of(request: &Request) -> Option<Self> {
        serde_json::from_str(&request.about).ok()
    }

    pub(super) fn of_approval(request: &ApprovalRequest<'_>) -> Self {
        let may = request.grant.capabilities().words();
        Self::new(request.source, request.arguments, may, request.unconfined)
    }

    pub(super) fn of_denial(denial: &Denial<'_>) -> Self {
        let may = denial.grant.capabilities().words();
        Self::new(denial.source, denial.about.arguments, may, false)
    }

    fn new(source: &str, arguments: &Map<String, Value>, may: Vec<String>, bare: bool) -> Self {
        let mut text = serde_json::to_string(arguments).unwrap_or_default();
        let whole = text.len();
        if whole > MOST {
            let mut end = MOST;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        Self {
            source: source.to_owned(),
            left_out: whole - text.len(),
            arguments: text,
            may,
            unconfined: bare,
        }
    }

    /// Returns the arguments, if all of them are kept.
    pub(super) fn whole(&self) -> Option<Map<String, Value>> {
        match self.left_out {
            0 => serde_json::from_str(&self.arguments).ok(),
            _ => None,
        }
    }

    pub(super) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What the user's policy withholds from the call of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What it is, one thing per item, to be read after "it may".
    pub words: Vec<String>,
    /// The lines that would grant it under `[policy]`.
    pub lines: Vec<String>,
}

impl Missing {
    /// Returns what is missing, where the request is about that.
    #[must_use]
    pub fn of(request: &Request) -> Option<Self> {
        let access = Access::read(request.access.as_deref()?)?;
        let each = access.capabilities.each();
        let mut words: Vec<String> = each.iter().map(jp_policy::Capability::words).collect();
        let ambient = access.capabilities.ambient;
        for (name, is_missing) in [
            ("clocks", ambient.clocks),
            ("random", ambient.random),
            ("stdio", ambient.stdio),
        ] {
            if is_missing {
                words.push(format!("use {name}"));
            }
        }
        Some(Self {
            words,
            lines: access.lines,
        })
    }
}
