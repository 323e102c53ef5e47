//! Lists in parts. A cursor says behind which item the next part begins, so that a list which changes
//! between two parts loses nothing that was there all the time, and shows nothing twice.

use data_encoding::BASE64URL_NOPAD;
use rmcp::{
    ErrorData,
    model::{CacheScope, PaginatedRequestParams},
};

/// As many items are in one part.
const PART: usize = 500;

/// A list may be kept this long by a client that hears nothing of changes.
pub(crate) const LIST_LIFE_MS: u64 = 60_000;

/// Which part of which list is wanted.
pub(crate) struct Wanted {
    after: Option<String>,
    is_modern: bool,
}

/// A part of a list.
pub(crate) struct Part<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) cache_scope: Option<CacheScope>,
}

impl Wanted {
    pub(crate) fn new(
        request: Option<PaginatedRequestParams>,
        is_modern: bool,
    ) -> Result<Self, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let after = cursor.map(|cursor| {
            let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok();
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            text.ok_or_else(|| {
                ErrorData::invalid_params("invalid cursor: expected one of this server", None)
            })
        });
        Ok(Self {
            after: after.transpose()?,
            is_modern,
        })
    }

    /// Returns the wanted part of a list that is sorted by its keys.
    pub(crate) fn part<T: Clone>(&self, all: &[T], key: impl Fn(&T) -> &str) -> Part<T> {
        let start = self
            .after
            .as_deref()
            .map_or(0, |after| all.partition_point(|item| key(item) <= after));
        let left = all.get(start..).unwrap_or_default();
        let items: Vec<T> = left.iter().take(PART).cloned().collect();
        let last = items.last().filter(|_| left.len() > PART);
        Part {
            next: last.map(|item| BASE64URL_NOPAD.encode(key(item).as_bytes())),
            items,
            ttl_ms: self.is_modern.then_some(LIST_LIFE_MS),
            cache_scope: self.is_modern.then_some(CacheScope::Private),
        }
    }
}
