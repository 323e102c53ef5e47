//! A version of a tool on its way into a registry: what is checked, and what is written.

use std::{collections::BTreeMap, path::Path};

use jp_policy::Form;
use semver::Version;
use serde_json::Value;

use jp_registry::{
    Digest, Domain, IndexContent, IndexTool, IndexVersion, Place, PublicKey, Role, Signatures,
    Source as _, StaticSource, ToolId, ToolManifest, document_digest, parse_document,
};

use super::{
    PublishError, Registry,
    commit::{Change, check_bytes},
};
use crate::sign::{countersign, pretty};

/// A version of a tool that someone wants to publish.
#[derive(Debug, Clone, Copy)]
pub struct Submission<'a> {
    /// The manifest, as the publisher signed it.
    pub manifest: &'a Value,
    /// The publisher's signatures.
    pub signatures: &'a Signatures,
    /// The Wasm file.
    pub artifact: &'a Path,
    /// The publisher's key, if it is known here; then its signature must be there and right.
    pub publisher: Option<&'a PublicKey>,
    /// Who looked at it, and on which day (`2026-04-01`), if anyone did.
    pub validated: Option<(&'a str, &'a str)>,
}

/// What became of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Which tool.
    pub id: ToolId,
    /// Which version.
    pub version: Version,
    /// The digest of the canonical manifest, as the index has it.
    pub manifest: Digest,
    /// Whether it is what `registry/tools/<id>.json` is now.
    pub newest: bool,
    /// Whether it was there already.
    pub already: bool,
}

impl Registry<'_> {
    /// Publishes a version of a tool.
    ///
    /// # Errors
    /// If the manifest, its signatures or its artifact are wrong, or if the version is there already
    /// with other content.
    pub fn publish(&self, submission: &Submission<'_>) -> Result<Published, PublishError> {
        let manifest = self.validated(submission);
        let read = ToolManifest::read(&manifest)?;
        // Which calls hosts know differs from host to host, and is theirs to judge.
        if let Some(unbacked) = read.request().unbacked(Form::Wasm, &|_| true) {
            return Err(PublishError::Unbacked {
                id: read.id.clone(),
                version: read.version,
                unbacked: Box::new(unbacked),
            });
        }
        check_signatures(submission)?;
        let mut index = self.index()?;
        let (id, version) = (read.id.clone(), read.version.clone());
        let expected = (read.artifact.sha256, read.artifact.size_bytes);
        if let Some(known) = index
            .tools
            .get(&id)
            .and_then(|tool| tool.versions.get(&version))
        {
            let taken = |error: PublishError| match error {
                PublishError::Artifact { .. } => PublishError::VersionTaken {
                    id: id.clone(),
                    version: version.clone(),
                },
                other => other,
            };
            check_bytes(submission.artifact, expected).map_err(taken)?;
            return self.already(submission, &id, &version, known, &index);
        }
        self.copy_in(
            submission.artifact,
            &Place::Wasm(&read.artifact.sha256).path()?,
            expected,
        )?;
        let digest = document_digest(&manifest)?;
        let newest = enter(&mut index, &read, digest);
        let mut signatures = submission.signatures.clone();
        signatures.add(countersign(&manifest, self.key)?)?;
        let mut change = Change::default();
        let (bytes, signatures) = (pretty(&manifest), signatures.to_bytes());
        for place in places(&id, &version, newest) {
            change.add(&place.signatures()?, signatures.clone());
            change.add(&place.path()?, bytes.clone());
        }
        self.sign_index(&mut change, index)?;
        self.commit(change)?;
        Ok(Published {
            id,
            version,
            manifest: digest,
            newest,
            already: false,
        })
    }

    /// Returns the manifest with what the registry says of it, and nothing that others put there.
    fn validated(&self, submission: &Submission<'_>) -> Value {
        let mut manifest = submission.manifest.clone();
        if let Value::Object(fields) = &mut manifest {
            fields.shift_remove("validated_at");
            fields.shift_remove("validated_by");
            if let Some((by, at)) = submission.validated {
                fields.insert("validated_at".to_owned(), at.into());
                fields.insert("validated_by".to_owned(), by.into());
            }
        }
        manifest
    }

    /// Publishing the same once more changes nothing; something else in its place is refused.
    fn already(
        &self,
        submission: &Submission<'_>,
        id: &ToolId,
        version: &Version,
        known: &IndexVersion,
        index: &IndexContent,
    ) -> Result<Published, PublishError> {
        let fetched = StaticSource::in_dir(&self.dir).manifest(id, Some(version))?;
        let there = parse_document(&fetched.bytes, fetched.bytes.len())?;
        let stripped = |manifest: &Value| {
            document_digest(&self.validated(&Submission {
                manifest,
                validated: None,
                ..*submission
            }))
        };
        if stripped(&there)? != stripped(submission.manifest)? {
            return Err(PublishError::VersionTaken {
                id: id.clone(),
                version: version.clone(),
            });
        }
        let newest = index.tools.get(id).map(|tool| &tool.newest) == Some(version);
        self.add_signatures(submission, id, version, newest, &fetched.signatures)?;
        Ok(Published {
            id: id.clone(),
            version: version.clone(),
            manifest: known.manifest,
            newest,
            already: true,
        })
    }

    /// Adds the signatures of other keys to a version that is there: a key that took over from
    /// another vouches for what that one signed.
    fn add_signatures(
        &self,
        submission: &Submission<'_>,
        id: &ToolId,
        version: &Version,
        newest: bool,
        there: &[u8],
    ) -> Result<(), PublishError> {
        let mut signatures = Signatures::read(there)?;
        let before = signatures.to_bytes();
        for more in submission.signatures.by(Role::Publisher) {
            if !signatures
                .by(Role::Publisher)
                .any(|one| one.key == more.key)
            {
                signatures.add(more.clone())?;
            }
        }
        let bytes = signatures.to_bytes();
        if bytes == before {
            return Ok(());
        }
        let mut change = Change::default();
        for place in places(id, version, newest) {
            change.add(&place.signatures()?, bytes.clone());
        }
        self.commit(change)
    }
}

/// Returns where a version's manifest is: under its number, and as the newest if it is that.
fn places<'a>(
    id: &'a ToolId,
    version: &'a Version,
    newest: bool,
) -> impl Iterator<Item = Place<'a>> {
    let latest = newest.then_some(Place::Tool(id, None));
    [Place::Tool(id, Some(version))].into_iter().chain(latest)
}

/// Enters a version into an index, and returns whether it is the newest now.
fn enter(index: &mut IndexContent, manifest: &ToolManifest, digest: Digest) -> bool {
    let version = manifest.version.clone();
    let entry = index.tools.entry(manifest.id.clone());
    let tool = entry.or_insert_with(|| IndexTool {
        newest: version.clone(),
        summary: None,
        versions: BTreeMap::new(),
    });
    let deprecated = manifest.deprecated.as_ref().map(|why| why.reason.clone());
    let entered = IndexVersion {
        manifest: digest,
        deprecated,
    };
    tool.versions.insert(version.clone(), entered);
    // A version before a release is the newest only while there is no release.
    let rank = |version: &Version| (version.pre.is_empty(), version.clone());
    let newest = rank(&version) >= rank(&tool.newest);
    if newest {
        tool.newest = version;
        tool.summary = Some(manifest.description.clone());
    }
    newest
}

fn check_signatures(submission: &Submission<'_>) -> Result<(), PublishError> {
    let mut by_publishers = submission.signatures.by(Role::Publisher);
    let Some(publisher) = submission.publisher else {
        return match by_publishers.next() {
            Some(_) => Ok(()),
            None => Err(PublishError::Unsigned),
        };
    };
    let right = by_publishers
        .any(|signature| signature.is_by(publisher, Domain::Manifest, submission.manifest));
    match right {
        true => Ok(()),
        false => Err(PublishError::BadSignature {
            key: publisher.id(),
        }),
    }
}
