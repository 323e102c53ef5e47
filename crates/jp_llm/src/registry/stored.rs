//! The artifact of a signed tool: where its bytes are, and how they come there when they are missing.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use jp_registry::{
    Digest, FetchError, Pinned, Source, Store, lock::LockedTool, verify::VerifiedManifest,
};
use jp_tool::ToolStatus;
use relative_path::RelativePathBuf;

use super::{RegistryTools, SignedProblem};
use crate::{Events, ToolError, runtime::Invocation};

/// How many bytes arrive between two reports.
const REPORT_EVERY: u64 = 256 * 1024;

/// The artifact that a verified manifest pins.
pub(crate) struct Stored {
    tools: Arc<RegistryTools>,
    manifest: VerifiedManifest,
    kept: Kept,
}

/// Where an artifact is kept.
enum Kept {
    /// In the store, and before that in a registry.
    Store {
        locked: Box<LockedTool>,
        found: OnceLock<PathBuf>,
    },
    /// In the workspace.
    Workspace(RelativePathBuf),
}

/// Where bytes are that are still to be compared with the manifest.
pub(crate) enum Ready<'a> {
    /// Somewhere on this machine.
    Path(PathBuf),
    /// In the workspace, which the file must not leave.
    Workspace(&'a Path),
}

impl Stored {
    /// The artifact of a locked tool.
    pub(crate) const fn of_registry(
        tools: Arc<RegistryTools>,
        manifest: VerifiedManifest,
        locked: Box<LockedTool>,
    ) -> Self {
        let found = OnceLock::new();
        Self {
            tools,
            manifest,
            kept: Kept::Store { locked, found },
        }
    }

    /// The artifact of a tool that comes with the workspace.
    pub(crate) const fn of_workspace(
        tools: Arc<RegistryTools>,
        manifest: VerifiedManifest,
        path: RelativePathBuf,
    ) -> Self {
        Self {
            tools,
            manifest,
            kept: Kept::Workspace(path),
        }
    }

    /// Returns the sha256 that the manifest pins.
    pub(crate) const fn sha256(&self) -> &Digest {
        self.manifest.artifact_sha256()
    }

    /// Returns what errors call the artifact.
    pub(crate) fn shown(&self) -> String {
        match &self.kept {
            Kept::Store { .. } => format!(
                "the artifact of {}@{}",
                self.manifest.id(),
                self.manifest.version()
            ),
            Kept::Workspace(path) => path.to_string(),
        }
    }

    /// Says where the bytes are, and fetches them if they are nowhere and somebody may be asked.
    pub(crate) async fn ready(&self, invocation: &Invocation<'_>) -> Result<Ready<'_>, ToolError> {
        let refused = |problem: SignedProblem| ToolError::Signed {
            tool: invocation.tool.name.clone(),
            problem: Box::new(problem),
        };
        let registry = match &self.kept {
            Kept::Workspace(_) => None,
            Kept::Store { locked, .. } => {
                // What was taken back since the tool was defined is not run either.
                let now = invocation.host.registry.as_ref().unwrap_or(&self.tools);
                now.check(locked).map_err(refused)?;
                Some(locked.registry.as_str())
            }
        };
        for model in &invocation.tool.models {
            let wanted = || {
                let what = format!("model {}", model.pinned.id);
                let thing = Thing::Model(model.pinned.clone());
                self.wanted(registry, thing, invocation, what)
            };
            once(&model.found, wanted).await.map_err(refused)?;
        }
        match &self.kept {
            Kept::Workspace(path) => Ok(Ready::Workspace(Path::new(path.as_str()))),
            Kept::Store { found, .. } => {
                let wanted = || {
                    let what = format!("{}@{}", self.manifest.id(), self.manifest.version());
                    let thing = Thing::Artifact(Box::new(self.manifest.clone()));
                    self.wanted(registry, thing, invocation, what)
                };
                let path = once(found, wanted).await.map_err(refused)?;
                Ok(Ready::Path(path))
            }
        }
    }

    fn wanted(
        &self,
        registry: Option<&str>,
        thing: Thing,
        invocation: &Invocation<'_>,
        what: String,
    ) -> Wanted {
        let source = registry.and_then(|name| self.tools.sources.get(name));
        Wanted {
            store: self.tools.store.clone(),
            source: source.cloned(),
            thing,
            report: Report {
                events: invocation.host.events.clone(),
                call: invocation.call.id.clone(),
                tool: invocation.tool.name.clone(),
                what,
                last: None,
            },
        }
    }
}

/// Returns what was found before, or looks for it on a thread of its own: hashing and fetching take
/// their time.
async fn once(
    found: &OnceLock<PathBuf>,
    wanted: impl FnOnce() -> Wanted,
) -> Result<PathBuf, SignedProblem> {
    if let Some(path) = found.get().filter(|path| path.is_file()) {
        return Ok(path.clone());
    }
    let wanted = wanted();
    let path = tokio::task::spawn_blocking(move || wanted.get()).await;
    let path = path.map_err(|error| SignedProblem::Unreadable {
        reason: error.to_string(),
    })??;
    // Somebody else may have been quicker, with the same path.
    let _ = found.set(path.clone());
    Ok(path)
}

/// Bytes that are looked for in the store, and fetched if somebody may be asked.
struct Wanted {
    store: Store,
    source: Option<Arc<dyn Source>>,
    thing: Thing,
    report: Report,
}

/// Which bytes.
enum Thing {
    Artifact(Box<VerifiedManifest>),
    Model(Pinned),
}

impl Wanted {
    fn get(mut self) -> Result<PathBuf, SignedProblem> {
        let unreadable = |error: FetchError| SignedProblem::Unreadable {
            reason: error.to_string(),
        };
        let sha256 = match &self.thing {
            Thing::Artifact(manifest) => *manifest.artifact_sha256(),
            Thing::Model(pinned) => pinned.sha256,
        };
        if let Some(object) = self.store.find(&sha256).map_err(unreadable)? {
            return Ok(object.path().to_owned());
        }
        let what = self.report.what.clone();
        let Some(source) = self.source else {
            return Err(SignedProblem::Missing { what });
        };
        let mut progress = |there, of| self.report.progress(there, of);
        let fetched = match &self.thing {
            Thing::Artifact(manifest) => {
                let verified = self
                    .store
                    .artifact(manifest, source.as_ref(), &mut progress);
                verified.map(|verified| verified.path().to_owned())
            }
            Thing::Model(pinned) => {
                let object = self.store.model(pinned, source.as_ref(), &mut progress);
                object.map(|object| object.path().to_owned())
            }
        };
        fetched.map_err(|error| SignedProblem::Fetch {
            what,
            reason: error.to_string(),
        })
    }
}

/// Tells whoever listens how far a download is.
struct Report {
    events: Option<Arc<dyn Events>>,
    call: String,
    tool: String,
    what: String,
    last: Option<u64>,
}

impl Report {
    fn progress(&mut self, there: u64, of: Option<u64>) {
        let Some(events) = &self.events else {
            return;
        };
        let since = self.last.map(|last| there.saturating_sub(last));
        if since.is_some_and(|since| since < REPORT_EVERY) && of != Some(there) {
            return;
        }
        self.last = Some(there);
        let percent = of.filter(|of| *of > 0).map(|of| {
            let permille = there.min(of).saturating_mul(1000) / of;
            f32::from(u16::try_from(permille).unwrap_or(1000)) / 10.0
        });
        let status = ToolStatus {
            message: Some(format!("fetching {} ({} KiB)", self.what, there / 1024)),
            percent_complete: percent,
            ..ToolStatus::phase("fetch")
        };
        events.report(&self.call, &self.tool, status);
    }
}
