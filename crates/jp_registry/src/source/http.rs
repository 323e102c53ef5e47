//! A registry of static files behind a URL, whatever serves them.
//!
//! Documents stay within the registry's origin. An artifact may be elsewhere, where its sha256 comes
//! from a verified manifest: over `https`, or at the registry's own origin.

use std::{io::Write, sync::Arc};

use url::Url;

use super::{ArtifactRef, Delivery, Files};
use crate::transport::{FetchError, Get, Got, Transport};

/// The files below a URL.
pub(super) struct Http {
    base: Url,
    transport: Arc<dyn Transport>,
}

impl Http {
    pub(super) fn new(url: &str, transport: Arc<dyn Transport>) -> Result<Self, FetchError> {
        let refused = |reason: &str| FetchError::invalid("the registry's URL", reason);
        let mut base = Url::parse(url).map_err(|error| refused(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err(refused("it must be https://… or http://…"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(refused("it has a user name or password in it"));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(refused("it has a query or a fragment"));
        }
        // Without it, the last word would be replaced by what is joined.
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self { base, transport })
    }

    /// Returns the URL of a file of the layout, whose names need no escapes.
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Returns where an artifact is, as its manifest says, or in its usual place.
    fn artifact_url(&self, artifact: &ArtifactRef<'_>, path: &str) -> Result<String, FetchError> {
        let Some(text) = artifact.url else {
            return Ok(self.url(path));
        };
        let what = || format!("the artifact's URL `{}`", jp_text::start(text, 200));
        let url = self.base.join(text);
        let url = url.map_err(|error| FetchError::invalid(what(), error.to_string()))?;
        if url.origin() != self.base.origin() && url.scheme() != "https" {
            return Err(FetchError::Denied {
                url: what(),
                reason: "it must be https, or at the registry's own origin".to_owned(),
            });
        }
        Ok(url.into())
    }
}

impl Files for Http {
    fn name(&self) -> &str {
        self.base.as_str()
    }

    fn shown(&self, path: &str) -> String {
        self.url(path)
    }

    fn read(&self, path: &str, max: u64) -> Result<Option<Vec<u8>>, FetchError> {
        let url = self.url(path);
        let mut bytes = Vec::new();
        let got = self
            .transport
            .get(&Get::document(&url, max), &mut Capped::new(&mut bytes, max));
        match capped(got, &url, max)?.status {
            200 => Ok(Some(bytes)),
            404 | 410 => Ok(None),
            status => Err(FetchError::Status { from: url, status }),
        }
    }

    fn send(
        &self,
        artifact: &ArtifactRef<'_>,
        path: &str,
        from: u64,
        max: u64,
        sink: &mut dyn Write,
    ) -> Result<Delivery, FetchError> {
        let url = self.artifact_url(artifact, path)?;
        let left = max.saturating_sub(from);
        let got = self.transport.get(
            &Get {
                url: &url,
                from,
                max: left,
                headers: &[],
                same_origin: false,
            },
            &mut Capped::new(sink, left),
        );
        delivery(&capped(got, &url, max)?, &url, from)
    }
}

/// Reads what an answer to a request for bytes from `from` on means.
pub(super) fn delivery(got: &Got, url: &str, from: u64) -> Result<Delivery, FetchError> {
    match got.status {
        200 if from == 0 => Ok(Delivery::Sent),
        206 if from > 0 => Ok(Delivery::Sent),
        // It ignores `Range`, or the file is shorter than what is here.
        200 | 416 if from > 0 => Ok(Delivery::FromStartOnly),
        404 | 410 => Err(FetchError::NotFound {
            what: url.to_owned(),
        }),
        status => Err(FetchError::Status {
            from: url.to_owned(),
            status,
        }),
    }
}

/// Names the file and its cap where the transport could only count.
pub(super) fn capped(
    got: Result<Got, FetchError>,
    what: &str,
    max: u64,
) -> Result<Got, FetchError> {
    got.map_err(|error| match error {
        FetchError::TooLarge { .. } => FetchError::TooLarge {
            what: what.to_owned(),
            max,
        },
        error => error,
    })
}

/// Holds a transport to the cap it was given.
pub(super) struct Capped<'a> {
    sink: &'a mut dyn Write,
    left: u64,
}

impl<'a> Capped<'a> {
    pub(super) fn new(sink: &'a mut dyn Write, left: u64) -> Self {
        Self { sink, left }
    }
}

impl Write for Capped<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = bytes.len() as u64;
        if count > self.left {
            return Err(std::io::Error::other("more arrived than was asked for"));
        }
        self.sink.write_all(bytes)?;
        self.left -= count;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.flush()
    }
}
