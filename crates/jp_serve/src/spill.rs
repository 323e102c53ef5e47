//! Large results: kept on disk, with a head for the model and a resource to read the rest by.
//!
//! Clients cut what is longer than about 50,000 characters, from the middle and without a word.

use std::{sync::Arc, time::Duration};

use jp_config::KeptResultsConfig;
use jp_store::{NewSpill, Quota, SpillId, Spills as _};
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};

use crate::{
    ServeError,
    keep::{Keep, millis, now},
    principal::Served,
};

/// Longer texts are kept.
pub(crate) const LONG: usize = 40_000;

/// So many characters of them are handed on.
const HEAD: usize = 8_000;

/// They are kept this long, unless the user says otherwise.
const LIFE: Duration = Duration::from_hours(24);

/// So much of them is kept, unless the user says otherwise.
const ROOM: Quota = Quota {
    owner: 256 * 1024 * 1024,
    total: 1024 * 1024 * 1024,
};

const TYPE: &str = "text/plain; charset=utf-8";

/// How the names of kept results start.
pub(crate) const SCHEME: &str = "jp://result/";

/// Keeps the text of a result that is too long for clients, and hands on its head.
pub(crate) async fn keep_large(
    shared: &Served,
    said: &KeptResultsConfig,
    mut result: CallToolResult,
) -> CallToolResult {
    let Some(keep) = shared.keep() else {
        return result;
    };
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let bytes: usize = texts.clone().map(|text| text.text.len()).sum();
    // Counted only when it can matter: every character has a byte at least.
    if bytes <= LONG || texts.map(|text| text.text.chars().count()).sum::<usize>() <= LONG {
        return result;
    }
    let (texts, others): (Vec<_>, Vec<_>) = std::mem::take(&mut result.content)
        .into_iter()
        .partition(|block| block.as_text().is_some());
    let texts: Vec<&str> = texts
        .iter()
        .filter_map(|block| Some(block.as_text()?.text.as_str()))
        .collect();
    let text: Arc<str> = texts.join("\n").into();
    let life = said.age.map_or(LIFE, |age| Duration::from_millis(age.0));
    let room = Quota {
        owner: said.quota.map_or(ROOM.owner, |size| size.0),
        total: said.total.map_or(ROOM.total, |size| size.0),
    };
    let kept = store(keep, shared.principal(), Arc::clone(&text), life, room).await;
    if kept.is_ok() {
        shared.metrics.spilled(text.len());
    }
    let head = jp_text::shorten(&text, HEAD);
    result.content.push(ContentBlock::text(head));
    result
        .content
        .push(ContentBlock::text(note(&text, &kept, life)));
    if let Ok(uri) = kept {
        result
            .content
            .push(ContentBlock::resource_link(link(uri, text.len())));
    }
    result.content.extend(others);
    result
}

async fn store(
    keep: &Keep,
    owner: &str,
    text: Arc<str>,
    life: Duration,
    room: Quota,
) -> Result<String, ServeError> {
    let (store, owner) = (Arc::clone(keep.store()), owner.to_owned());
    let kept = tokio::task::spawn_blocking(move || {
        let now = now();
        let spill = NewSpill {
            mime_type: TYPE,
            bytes: text.as_bytes(),
            expires: now.saturating_add(millis(life)),
        };
        store.keep(&owner, &spill, &room, now)
    });
    Ok(format!("{SCHEME}{}", kept.await??))
}

/// Says what was left out, and where it is.
fn note(text: &str, kept: &Result<String, ServeError>, life: Duration) -> String {
    let life = span(life);
    let size = text.len();
    let head = format!("[The result has {size} bytes; these are its first {HEAD} characters.");
    match kept {
        Ok(uri) => format!(
            "{head} All of it is the resource {uri} for {life}; {uri}?offset=N&length=M is a part of it. A \
             narrower call may be quicker.]"
        ),
        Err(why) => format!("{head} The rest could not be kept: {why}. Make a narrower call.]"),
    }
}

/// Writes a length of time, rounded down.
fn span(time: Duration) -> String {
    let (count, unit) = match time.as_secs() {
        seconds @ 0..120 => (seconds, "seconds"),
        seconds @ 120..7_200 => (seconds / 60, "minutes"),
        seconds => (seconds / 3_600, "hours"),
    };
    format!("{count} {unit}")
}

fn link(uri: String, size: usize) -> Resource {
    let mut resource = Resource::new(uri, "result");
    resource.title = Some("The whole result".to_owned());
    resource.mime_type = Some(TYPE.to_owned());
    resource.size = u64::try_from(size).ok();
    resource
}

/// What of a kept result is wanted.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    id: SpillId,
    offset: u64,
    length: u64,
}

/// Reads a kept result, or a part of it; nothing when the name is not one, or not this principal's.
pub(crate) async fn read(
    shared: &Served,
    uri: &str,
) -> Result<Option<ResourceContents>, ServeError> {
    let (Some(keep), Some(wanted)) = (shared.keep(), parse(uri)) else {
        return Ok(None);
    };
    let (store, owner) = (Arc::clone(keep.store()), shared.principal().to_owned());
    let read = tokio::task::spawn_blocking(move || {
        store.read(&owner, &wanted.id, wanted.offset, wanted.length, now())
    });
    let slice = read.await??;
    Ok(slice.map(|slice| {
        // A part may begin or end within a character.
        let text = String::from_utf8_lossy(&slice.bytes).into_owned();
        ResourceContents::text(text, uri).with_mime_type(slice.mime_type)
    }))
}

/// Reads `jp://result/ID`, with `offset` and `length` behind it or without.
fn parse(uri: &str) -> Option<Wanted> {
    let rest = uri.strip_prefix(SCHEME)?;
    let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut wanted = Wanted {
        id: id.parse().ok()?,
        offset: 0,
        length: u64::MAX,
    };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let place = match name {
            "offset" => &mut wanted.offset,
            "length" => &mut wanted.length,
            _ => return None,
        };
        *place = value.parse().ok()?;
    }
    Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kept_results_are_read_strictly() {
        let id = "0123456789abcdef0123456789abcdef";
        let wanted = |offset, length| {
            Some(Wanted {
                id: id.parse().unwrap(),
                offset,
                length,
            })
        };
        for (rest, expected) in [
            ("", wanted(0, u64::MAX)),
            ("?offset=5", wanted(5, u64::MAX)),
            ("?offset=5&length=7", wanted(5, 7)),
            ("?offset=-1", None),
            ("?offset", None),
            ("?other=1", None),
            ("/more", None),
        ] {
            assert_eq!(parse(&format!("{SCHEME}{id}{rest}")), expected, "{rest}");
        }
        assert_eq!(parse("jp://result/../x"), None);
        assert_eq!(parse("file:///etc/passwd"), None);
    }
}
