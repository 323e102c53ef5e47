//! A workspace, limits and a runtime: everything a guest is called with.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use jp_policy::Limits;
use jp_tool::{Action, Context, GivenBlobs, Outcome};
use jp_wasm::{
    AbiVersion, CapabilityCalls, DirPerms, Ended, Error, FilePerms, GuestCall, GuestEvents,
    ModuleAbi, Outside, Preopen, Prepared, Runtime, WasiConfig, WasiContext,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::Host;

/// Where guests see the workspace.
pub const ROOT: &str = "/workspace";

/// What a guest may do with the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read it.
    ReadOnly,
    /// Read and change it.
    ReadWrite,
    /// Not even see it.
    None,
}

/// A workspace and how guests are called in it.
pub struct Kit {
    runtime: &'static Runtime,
    dir: TempDir,
    access: Access,
    limits: Limits,
    cancel: Option<CancellationToken>,
    outside: Outside,
    entrypoint: Option<String>,
    abi: AbiVersion,
    action: Action,
    answers: String,
    around: Around,
    files: &'static str,
}

/// Changes what a guest finds around it.
type Around = Box<dyn Fn(&mut WasiContext) + Send + Sync>;

#[expect(clippy::expect_used, reason = "a test kit fails by panicking")]
impl Kit {
    /// Makes an empty workspace that guests may read and change.
    ///
    /// # Panics
    ///
    /// When there is no room for it.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self {
            runtime: host.shared(),
            dir: tempfile::tempdir().expect("a temporary directory"),
            access: Access::ReadWrite,
            limits: Limits::default(),
            cancel: None,
            outside: Outside::default(),
            entrypoint: None,
            abi: AbiVersion::One,
            action: Action::Run,
            answers: "{}".to_owned(),
            around: Box::new(|_| {}),
            files: "files",
        }
    }

    /// Adds a file to the workspace, with the directories above it.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    #[must_use]
    pub fn file(self, path: &str, text: &str) -> Self {
        let path = self.path(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a directory in the workspace");
        }
        fs::write(path, text).expect("a file in the workspace");
        self
    }

    /// Changes the limits.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Says what guests may do with the workspace.
    #[must_use]
    pub const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Makes calls end when the token is cancelled.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: &CancellationToken) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Answers the capability calls of guests.
    #[must_use]
    pub fn answered_by(mut self, calls: Arc<dyn CapabilityCalls>) -> Self {
        self.outside.calls = Some(calls);
        self
    }

    /// Hears what guests tell while they run.
    #[must_use]
    pub fn heard_by(mut self, events: Arc<dyn GuestEvents>) -> Self {
        self.outside.events = Some(events);
        self
    }

    /// Gives bytes to components.
    #[must_use]
    pub fn giving(mut self, given: &Arc<GivenBlobs>) -> Self {
        self.outside.given = Some(Arc::clone(given));
        self
    }

    /// Enters modules by this export.
    #[must_use]
    pub fn entered_by(mut self, entrypoint: &str) -> Self {
        self.entrypoint = Some(entrypoint.to_owned());
        self
    }

    /// Says what modules are configured to speak.
    #[must_use]
    pub const fn abi(mut self, version: AbiVersion) -> Self {
        self.abi = version;
        self
    }

    /// Answers questions of earlier calls.
    #[must_use]
    pub fn answers(mut self, answers: &Value) -> Self {
        self.answers = answers.to_string();
        self
    }

    /// Changes what guests find around them, beside the workspace.
    #[must_use]
    pub fn around(mut self, around: impl Fn(&mut WasiContext) + Send + Sync + 'static) -> Self {
        self.around = Box::new(around);
        self
    }

    /// Says which probe [`Self::files`] calls: `files`, `files_program` or `files_module`.
    #[must_use]
    pub const fn files_by(mut self, guest: &'static str) -> Self {
        self.files = guest;
        self
    }

    /// Asks guests to format their arguments only.
    #[must_use]
    pub const fn formatting(mut self) -> Self {
        self.action = Action::FormatArguments;
        self
    }

    /// Returns the path of the host for one below the workspace.
    #[must_use]
    pub fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// Returns the runtime calls go to.
    #[must_use]
    pub const fn runtime(&self) -> &'static Runtime {
        self.runtime
    }

    /// Calls a built guest.
    pub async fn call(&self, guest: &str, arguments: &Value) -> Ended {
        self.call_path(crate::guest(guest), arguments).await
    }

    /// Calls a component or module in a file.
    pub async fn call_path(&self, path: &Path, arguments: &Value) -> Ended {
        let prepared = self.runtime.prepare_path(path, &|_| {}).await;
        self.call_prepared(prepared, &arguments.to_string()).await
    }

    /// Calls a component or module in memory.
    pub async fn call_bytes(&self, bytes: &[u8], arguments: &str) -> Ended {
        let prepared = self.runtime.prepare(bytes, &|_| {}).await;
        self.call_prepared(prepared, arguments).await
    }

    /// Calls a component or module, or reports why there is none.
    pub async fn call_prepared(&self, prepared: Result<Prepared, Error>, arguments: &str) -> Ended {
        let ready = prepared.and_then(|prepared| {
            let mut wasi = self.runtime.wasi_context(&self.wasi())?;
            (self.around)(&mut wasi);
            Ok((prepared, wasi))
        });
        let (prepared, wasi) = match ready {
            Ok(ready) => ready,
            Err(error) => return Ended::failed(error),
        };
        let call = GuestCall {
            name: "probe",
            arguments,
            answers: &self.answers,
            context: &Context {
                root: ROOT.into(),
                action: self.action,
            },
            wasi,
            limits: &self.limits,
            cancel: self.cancel.clone(),
            outside: self.outside.clone(),
            module: ModuleAbi {
                entrypoint: self.entrypoint.as_deref(),
                version: self.abi,
            },
        };
        self.runtime.call(&prepared, call).await
    }

    /// Calls a built guest that must succeed and returns what it said.
    ///
    /// # Panics
    ///
    /// When it does not succeed.
    #[expect(clippy::panic, reason = "a test kit fails by panicking")]
    pub async fn answer(&self, guest: &str, arguments: &Value) -> String {
        match self.call(guest, arguments).await.result {
            Ok(Outcome::Success { content }) => content,
            other => panic!("`{guest}` did not succeed: {other:?}"),
        }
    }

    /// Lets the probe for files do a list of operations and returns a report of each.
    ///
    /// # Panics
    ///
    /// When the probe does not answer.
    pub async fn files(&self, operations: &Value) -> Vec<String> {
        let arguments = serde_json::json!({ "do": operations });
        let reports = self.answer(self.files, &arguments).await;
        serde_json::from_str(&reports).expect("a list of reports")
    }

    fn wasi(&self) -> WasiConfig {
        let (dir_perms, file_perms) = match self.access {
            Access::ReadOnly => (DirPerms::Read, FilePerms::Read),
            Access::ReadWrite => (DirPerms::ReadWrite, FilePerms::ReadWrite),
            Access::None => return WasiConfig::default(),
        };
        WasiConfig {
            preopens: vec![Preopen {
                guest_path: ROOT.to_owned(),
                host_path: self.dir.path().to_owned(),
                dir_perms,
                file_perms,
            }],
        }
    }
}
