//! The artifact of a signed tool: where its bytes are, and how they come there when they are missing.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use jp_registry::{Digest, LockedTool, Mode, VerifiedManifest};
use jp_tool::ToolStatus;
use relative_path::RelativePathBuf;

use super::{RegistryTools, SignedProblem, fetch::problem_of};
use crate::{Events, ToolError, runtime::Invocation};

/// How many bytes arrive between two reports.
const REPORT_EVERY: u64 = 256 * 1024;

/// The artifact that a verified manifest pins.
#[derive(Clone)]
pub(crate) struct Stored {
    tools: Arc<RegistryTools>,
    manifest: VerifiedManifest,
    kept: Kept,
}

/// Where an artifact is kept.
#[derive(Clone)]
enum Kept {
    /// In the store, and before that in a registry.
    Store(Box<LockedTool>),
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
        Self {
            tools,
            manifest,
            kept: Kept::Store(locked),
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
    pub(crate) fn sha256(&self) -> &Digest {
        &self.manifest.manifest.artifact.sha256
    }

    /// Returns what errors call the artifact.
    pub(crate) fn shown(&self) -> String {
        match &self.kept {
            Kept::Store(_) => format!(
                "the artifact of {}@{}",
                self.manifest.manifest.id, self.manifest.manifest.version
            ),
            Kept::Workspace(path) => path.to_string(),
        }
    }

    /// Says where the bytes are, and fetches them if they are missing and a registry may be asked. `found`
    /// is where they were the last time.
    pub(crate) async fn ready(
        &self,
        found: &OnceLock<PathBuf>,
        invocation: &Invocation<'_>,
    ) -> Result<Ready<'_>, ToolError> {
        let refused = |problem: SignedProblem| ToolError::signed(&*invocation.tool.name, problem);
        // What was revoked since the tool was defined is not run either.
        let now = invocation.host.registry().unwrap_or(&self.tools);
        if let Kept::Store(locked) = &self.kept {
            now.check(locked).map_err(refused)?;
        }
        for model in &invocation.tool.model_files {
            if model.found.get().is_some() {
                continue;
            }
            let what = format!("model {}", model.pinned.id);
            let wanted = self.wanted(now, model.pinned.sha256, what, invocation);
            model.found.set(wanted.get().await.map_err(refused)?);
        }
        match &self.kept {
            Kept::Workspace(path) => Ok(Ready::Workspace(Path::new(path.as_str()))),
            Kept::Store(_) => {
                if let Some(path) = found.get().filter(|path| path.is_file()) {
                    return Ok(Ready::Path(path.clone()));
                }
                let what = format!(
                    "{}@{}",
                    self.manifest.manifest.id, self.manifest.manifest.version
                );
                let wanted = self.wanted(now, *self.sha256(), what, invocation);
                let path = wanted.get().await.map_err(refused)?;
                // Another call may have been quicker, with the same path.
                let _ = found.set(path.clone());
                Ok(Ready::Path(path))
            }
        }
    }

    fn wanted(
        &self,
        tools: &Arc<RegistryTools>,
        sha256: Digest,
        what: String,
        invocation: &Invocation<'_>,
    ) -> Wanted {
        let locked = match &self.kept {
            Kept::Store(locked) => Some(LockedTool::clone(locked)),
            Kept::Workspace(_) => None,
        };
        Wanted {
            tools: Arc::clone(tools),
            locked,
            sha256,
            what,
            report: Progress {
                events: invocation.host.caller().events.clone(),
                call: invocation.call.id.clone(),
                tool: invocation.tool.name.clone(),
                last: RefCell::default(),
            },
        }
    }
}

/// Bytes that are looked for in the store, and fetched if a registry may be asked.
struct Wanted {
    tools: Arc<RegistryTools>,
    locked: Option<LockedTool>,
    sha256: Digest,
    what: String,
    report: Progress,
}

impl Wanted {
    /// Looks on a thread of its own: hashing and fetching take their time.
    async fn get(self) -> Result<PathBuf, SignedProblem> {
        let path = tokio::task::spawn_blocking(move || self.look()).await;
        path.map_err(|error| SignedProblem::Unreadable {
            source: error.into(),
        })?
    }

    fn look(self) -> Result<PathBuf, SignedProblem> {
        let (tools, sha256, mut what) = (&self.tools, self.sha256, self.what);
        let was_there = tools.store.contains(&sha256);
        let found = tools.store.find(&sha256);
        let found = found.map_err(|error| SignedProblem::Unreadable {
            source: error.into(),
        })?;
        if let Some(object) = found {
            return Ok(object.path().to_owned());
        }
        if was_there {
            what.push_str(" (the copy here was damaged and has been removed)");
        }
        let reachable = |locked: &LockedTool| tools.sources.contains_key(&locked.registry);
        let Some(locked) = self.locked.filter(reachable) else {
            return Err(SignedProblem::Missing { what });
        };
        let report = self.report;
        let installer = tools.installer(
            Mode::Locked,
            Box::new(move |what, there, of| report.progress(what, there, of)),
        );
        let ready = installer.ensure_locked(&locked, &tools.known);
        let ready = ready.map_err(|error| problem_of(what.clone(), error))?;
        if locked.sha256 == sha256 {
            return Ok(ready.verified.path().to_owned());
        }
        let mut models = ready.models.iter();
        let model = models.find(|model| model.sha256() == sha256);
        let model = model.map(|model| model.path().to_owned());
        model.ok_or(SignedProblem::Missing { what })
    }
}

/// Reports the progress of a download.
struct Progress {
    events: Option<Arc<dyn Events>>,
    call: String,
    tool: String,
    /// What was last told of, and how far it was.
    last: RefCell<(String, u64)>,
}

impl Progress {
    fn progress(&self, what: &str, there: u64, of: Option<u64>) {
        let Some(events) = &self.events else {
            return;
        };
        let mut last = self.last.borrow_mut();
        let since = there.saturating_sub(last.1);
        if last.0 == what && since < REPORT_EVERY && of != Some(there) {
            return;
        }
        *last = (what.to_owned(), there);
        let percent = of.filter(|of| *of > 0).map(|of| {
            let permille = there.min(of).saturating_mul(1000) / of;
            f32::from(u16::try_from(permille).unwrap_or(1000)) / 10.0
        });
        let status = ToolStatus {
            message: Some(format!("fetching {what} ({} KiB)", there / 1024)),
            percent_complete: percent,
            ..ToolStatus::phase("fetch")
        };
        events.report(&self.call, &self.tool, status);
    }
}
