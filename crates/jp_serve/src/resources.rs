//! `resources/*`: the knowledge base, what there is to know about each tool, the caller's own audit
//! records, and what the configuration names.

pub(crate) mod audit;
mod manual;
pub(crate) mod read;
mod shelf;
pub(crate) mod stamp;
pub(crate) mod uri;

use std::sync::Arc;

use rmcp::{
    ErrorData,
    model::{ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult},
};

pub(crate) use self::shelf::{Shelf, Shelves};
use crate::{page::Wanted, principal::Served};

/// Answers `resources/list`.
pub(crate) async fn list(
    shared: &Served,
    wanted: Wanted,
) -> Result<ListResourcesResult, ErrorData> {
    let shelf = shelf(shared).await?;
    let part = wanted.part(shelf.resources(), |resource| &resource.uri);
    let mut result = ListResourcesResult::with_all_items(part.items);
    result.next_cursor = part.next;
    result.ttl_ms = part.ttl_ms;
    result.cache_scope = part.cache_scope;
    Ok(result)
}

/// Answers `resources/templates/list`.
pub(crate) async fn list_templates(
    shared: &Served,
    wanted: Wanted,
) -> Result<ListResourceTemplatesResult, ErrorData> {
    let shelf = shelf(shared).await?;
    let part = wanted.part(shelf.templates(), |template| &template.uri_template);
    let mut result = ListResourceTemplatesResult::with_all_items(part.items);
    result.next_cursor = part.next;
    result.ttl_ms = part.ttl_ms;
    result.cache_scope = part.cache_scope;
    Ok(result)
}

/// Answers `resources/read`. What was read is not to be kept by clients: files change unannounced, and
/// rmcp says so to those that ask.
pub(crate) async fn read(shared: &Served, uri: String) -> Result<ReadResourceResult, ErrorData> {
    let contents = beside(shared, move |shared| {
        read::read(shared, &uri).map_err(|error| error.of(&uri))
    });
    Ok(ReadResourceResult::new(contents.await??))
}

/// Returns everything that can be read now.
pub(crate) async fn shelf(shared: &Served) -> Result<Arc<Shelf>, ErrorData> {
    let shelf = beside(shared, |shared| shared.shelves.now(shared)).await?;
    shelf.map_err(|error| {
        ErrorData::internal_error(format!("the workspace cannot be opened: {error}"), None)
    })
}

/// Does something with files, beside the tasks that must not wait for them.
pub(crate) async fn beside<T: Send + 'static>(
    shared: &Served,
    work: impl FnOnce(&Served) -> T + Send + 'static,
) -> Result<T, ErrorData> {
    let shared = shared.clone();
    let done = tokio::task::spawn_blocking(move || work(&shared)).await;
    done.map_err(|error| ErrorData::internal_error(format!("the server failed: {error}"), None))
}
