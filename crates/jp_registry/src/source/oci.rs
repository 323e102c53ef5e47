//! A registry that speaks the OCI distribution protocol, pulled over our own transport.
//!
//! A tool is a Wasm artifact in the standard layout: the config is
//! `application/vnd.wasm.config.v0+json`, one layer is `application/wasm`. The tool's manifest and its
//! signatures travel as the annotations `dev.jp.manifest` and `dev.jp.signatures`, or as layers of
//! their own media types. Such a registry has no signed index: the versions that a lock file names
//! are safe, and `latest` is whatever the registry says.
//!
//! There is no `oci-client` here: it brings a second HTTP stack (reqwest, hyper, tokio), and that one
//! checks no address a name resolves to, so that a registry could send us to the machine's own
//! services. What a pull needs of the protocol is four kinds of `GET`.

mod auth;
mod content;
mod reference;

use std::{io::Write, sync::Arc};

use semver::Version;

use super::{
    About, ArtifactRef, Delivery, Fetched, MAX_ARTIFACT, MAX_MANIFEST, MAX_SIGNATURES, Owner,
    Source,
    http::{Capped, capped, delivery},
};
use crate::{
    id::{Digest, ModelId, ToolId},
    transport::{FetchError, Get, Got, Transport},
};

use auth::Tokens;
use content::{Content, Document};
use reference::{OciReference, Which};

/// The most bytes of an OCI manifest, which may hold ours as an annotation.
const MAX_OCI_MANIFEST: u64 = 4 * 1024 * 1024;

const ACCEPT: (&str, &str) = ("Accept", "application/vnd.oci.image.manifest.v1+json");

/// A registry of OCI artifacts: a namespace with a repository for each tool, or one repository.
pub struct OciSource {
    reference: OciReference,
    name: String,
    transport: Arc<dyn Transport>,
    tokens: Tokens,
}

/// One answer to a request that may have had to log in first.
struct Ask<'a> {
    repository: &'a str,
    url: &'a str,
    from: u64,
    max: u64,
    accept: Option<(&'a str, &'a str)>,
    same_origin: bool,
}

impl OciSource {
    /// Pulls from below a reference, by way of a transport.
    ///
    /// A reference without tag and digest is a namespace: the tool `ocr` is its repository `ocr`. One
    /// with a tag or a digest is one tool in one version.
    ///
    /// # Errors
    /// [`FetchError::Invalid`] if the reference is not one such as `oci://ghcr.io/someone/tools`.
    pub fn new(reference: &str, transport: Arc<dyn Transport>) -> Result<Self, FetchError> {
        let reference: OciReference = reference.parse()?;
        Ok(Self {
            name: reference.to_string(),
            reference,
            transport,
            tokens: Tokens::default(),
        })
    }

    /// Returns the repository that holds something.
    fn repository(&self, owner: Owner<'_>) -> String {
        match (&self.reference.which, owner) {
            (None, Owner::Tool(id, _)) => format!("{}/{id}", self.reference.repository),
            (Some(_), Owner::Tool(..)) => self.reference.repository.clone(),
            (_, Owner::Model(id)) => format!("{}/models/{id}", self.reference.repository),
        }
    }

    /// Asks, logs in if the server says so, and asks again.
    fn get(&self, ask: &Ask<'_>, sink: &mut dyn Write) -> Result<Got, FetchError> {
        let token = self.tokens.known(ask.repository);
        let got = self.get_with(ask, token.as_deref(), sink)?;
        if got.status != 401 {
            return Ok(got);
        }
        let challenge = got.header("www-authenticate").unwrap_or_default();
        let (base, transport) = (self.reference.base(), &*self.transport);
        let token = self
            .tokens
            .fetch(challenge, &base, ask.repository, transport)?;
        self.get_with(ask, Some(&token), sink)
    }

    fn get_with(
        &self,
        ask: &Ask<'_>,
        token: Option<&str>,
        sink: &mut dyn Write,
    ) -> Result<Got, FetchError> {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers: Vec<(&str, &str)> = ask.accept.into_iter().collect();
        headers.extend(bearer.as_deref().map(|value| ("Authorization", value)));
        let get = Get {
            url: ask.url,
            from: ask.from,
            max: ask.max,
            headers: &headers,
            same_origin: ask.same_origin,
        };
        let got = self.transport.get(&get, &mut Capped::new(sink, ask.max));
        capped(got, ask.url, ask.max)
    }

    fn pull(&self, repository: &str, which: &Which) -> Result<Fetched, FetchError> {
        let url = format!("{}v2/{repository}/manifests/{which}", self.reference.base());
        let mut bytes = Vec::new();
        let ask = Ask {
            repository,
            url: &url,
            from: 0,
            max: MAX_OCI_MANIFEST,
            accept: Some(ACCEPT),
            same_origin: true,
        };
        let got = self.get(&ask, &mut bytes)?;
        delivery(&got, &url, 0)?;
        let found = Digest::of(&bytes);
        let stated = got.header("docker-content-digest");
        for expected in [which.digest(), stated.and_then(reference::digest)] {
            same(&url, expected, found)?;
        }
        let content = Content::read(&bytes, &url)?;
        Ok(Fetched {
            bytes: self.document(repository, &content.manifest, MAX_MANIFEST)?,
            signatures: self.document(repository, &content.signatures, MAX_SIGNATURES)?,
            from: url,
        })
    }

    fn document(
        &self,
        repository: &str,
        document: &Document,
        max: u64,
    ) -> Result<Vec<u8>, FetchError> {
        let (what, bytes) = match document {
            Document::Annotation(text) => ("an annotation".to_owned(), text.clone().into_bytes()),
            Document::Layer { digest, size } => {
                let url = self.blob_url(repository, digest);
                let mut bytes = Vec::new();
                let ask = Ask {
                    repository,
                    url: &url,
                    from: 0,
                    max: max.min(*size),
                    accept: None,
                    same_origin: false,
                };
                delivery(&self.get(&ask, &mut bytes)?, &url, 0)?;
                same(&url, Some(*digest), Digest::of(&bytes))?;
                (url, bytes)
            }
        };
        match bytes.len() as u64 > max {
            true => Err(FetchError::TooLarge { what, max }),
            false => Ok(bytes),
        }
    }

    fn blob_url(&self, repository: &str, digest: &Digest) -> String {
        let base = self.reference.base();
        format!("{base}v2/{repository}/blobs/sha256:{digest}")
    }

    fn absent(&self, what: &str) -> FetchError {
        FetchError::NotFound {
            what: format!("{what} of {}", self.name),
        }
    }
}

fn same(what: &str, expected: Option<Digest>, found: Digest) -> Result<(), FetchError> {
    match expected.filter(|expected| *expected != found) {
        None => Ok(()),
        Some(expected) => Err(FetchError::WrongDigest {
            what: what.to_owned(),
            expected,
            found,
        }),
    }
}

impl Source for OciSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> Result<About, FetchError> {
        Err(self.absent("the description"))
    }

    fn index(&self) -> Result<Option<Fetched>, FetchError> {
        Ok(None)
    }

    fn revocations(&self) -> Result<Option<Fetched>, FetchError> {
        Ok(None)
    }

    fn rotations(&self) -> Result<Option<Vec<u8>>, FetchError> {
        Ok(None)
    }

    fn manifest(&self, id: &ToolId, version: Option<&Version>) -> Result<Fetched, FetchError> {
        match &self.reference.which {
            Some(which) => self.pull(&self.reference.repository, which),
            None => {
                let repository = format!("{}/{id}", self.reference.repository);
                self.pull(&repository, &Which::version(version)?)
            }
        }
    }

    fn model(&self, id: &ModelId) -> Result<Fetched, FetchError> {
        self.pull(&self.repository(Owner::Model(id)), &Which::version(None)?)
    }

    fn artifact(
        &self,
        artifact: &ArtifactRef<'_>,
        from: u64,
        sink: &mut dyn Write,
    ) -> Result<Delivery, FetchError> {
        let repository = self.repository(artifact.owner);
        let url = self.blob_url(&repository, &artifact.sha256);
        let max = artifact.size.unwrap_or(MAX_ARTIFACT).min(MAX_ARTIFACT);
        let ask = Ask {
            repository: &repository,
            url: &url,
            from,
            max: max.saturating_sub(from),
            accept: None,
            same_origin: false,
        };
        delivery(&self.get(&ask, sink)?, &url, from)
    }
}
