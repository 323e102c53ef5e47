//! A source that is shared: every holder of the `Arc` can fetch.

use std::{io::Write, sync::Arc};

use semver::Version;

use super::{About, ArtifactRef, Delivery, Fetched, Source};
use crate::{
    id::{ModelId, ToolId},
    transport::FetchError,
};

impl<S: Source + ?Sized> Source for Arc<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn about(&self) -> Result<About, FetchError> {
        (**self).about()
    }

    fn index(&self) -> Result<Option<Fetched>, FetchError> {
        (**self).index()
    }

    fn revocations(&self) -> Result<Option<Fetched>, FetchError> {
        (**self).revocations()
    }

    fn rotations(&self) -> Result<Option<Vec<u8>>, FetchError> {
        (**self).rotations()
    }

    fn manifest(&self, id: &ToolId, version: Option<&Version>) -> Result<Fetched, FetchError> {
        (**self).manifest(id, version)
    }

    fn model(&self, id: &ModelId) -> Result<Fetched, FetchError> {
        (**self).model(id)
    }

    fn artifact(
        &self,
        artifact: &ArtifactRef<'_>,
        from: u64,
        sink: &mut dyn Write,
    ) -> Result<Delivery, FetchError> {
        (**self).artifact(artifact, from, sink)
    }
}
