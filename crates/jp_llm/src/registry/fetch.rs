//! What is missing on this machine and may be fetched: the manifest of a locked tool that was never
//! verified here, its artifact, its models. The lock file says which bytes are meant, and only keys
//! that the user trusts let them count: a workspace can name tools, and vouch for none.

use std::sync::{Arc, PoisonError};

use jp_disk::Disk;
use jp_policy::Policy;
use jp_registry::{Decision, FetchError, InstallError, Installer, Mode, Receipts, Registry};
use tokio_util::sync::CancellationToken;

use super::{RegistryTools, SignedProblem, load::problem};

/// Hears what is fetched, how many bytes are there, and of how many if that is known.
type Progress<'a> = Box<dyn Fn(&str, u64, Option<u64>) + 'a>;

impl RegistryTools {
    /// Lets this machine verify a locked tool that it has never verified, as after a fresh clone, or
    /// whose receipt is gone: the manifest is fetched if it is missing here and a registry may be asked.
    pub(crate) async fn verify_first(
        self: &Arc<Self>,
        name: &str,
        cancel: &CancellationToken,
    ) -> Result<(), SignedProblem> {
        let locked = self.lock.get(name).ok_or(SignedProblem::NotLocked)?.clone();
        let mode = match self.sources.contains_key(&locked.registry) {
            true => Mode::Locked,
            false => Mode::Offline,
        };
        let what = format!("the manifest of {}@{}", locked.id, locked.version);
        let tools = Arc::clone(self);
        let verified = tokio::task::spawn_blocking(move || {
            let installer = tools.installer(mode, Box::new(|_, _, _| {}));
            installer.ensure_verified(&locked, &tools.known)?;
            Receipts::open(&tools.places.receipts())
        });
        let verified = tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(Err(FetchError::Cancelled.into())),
            verified = verified => verified,
        };
        let verified = verified.map_err(|error| SignedProblem::Unreadable {
            source: error.into(),
        })?;
        let receipts = verified.map_err(|error| problem_of(what, error))?;
        let mut held = self
            .receipts
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *held = Arc::new(receipts);
        Ok(())
    }

    /// Returns what fetches and verifies: never a change of the lock file, and nobody who could agree
    /// to one.
    pub(super) fn installer<'a>(&self, mode: Mode, progress: Progress<'a>) -> Installer<'a> {
        let sources = self.sources.iter();
        Installer {
            places: self.places.clone(),
            disk: Disk::real(),
            store: self.store.clone(),
            registries: sources
                .map(|(name, source)| Registry {
                    name: name.clone(),
                    source: Box::new(Arc::clone(source)),
                })
                .collect(),
            // What a call may do is composed when it is made.
            host: Policy::default(),
            app: Policy::default(),
            is_known: jp_broker::is_known,
            // A file that has no way to use what it asks for is refused when it is called.
            form: |_| jp_policy::Form::Wasm,
            builtins: Vec::new(),
            // Whether the lock fits what the workspace asks for was looked at before.
            wanted: Vec::new(),
            now: (self.now)(),
            mode,
            decide: Box::new(|_| Decision::Refuse),
            progress,
        }
    }
}

/// Says why something could not be fetched or verified, in the words of the pipeline.
pub(super) fn problem_of(what: String, error: InstallError) -> SignedProblem {
    match error {
        InstallError::Fetch(
            FetchError::WrongDigest { .. }
            | FetchError::WrongSize { .. }
            | FetchError::TooLarge { .. }
            | FetchError::Invalid { .. },
        ) => {
            let source = error.into();
            SignedProblem::Wrong { what, source }
        }
        InstallError::Offline { .. } => SignedProblem::NotInstalled,
        InstallError::Fetch(_) => {
            let source = error.into();
            SignedProblem::Fetch { what, source }
        }
        InstallError::Verify(error) => problem(error),
        InstallError::Revoked { .. } => SignedProblem::Revoked {
            source: error.into(),
        },
        InstallError::Differs { .. } => SignedProblem::LockChanged {
            source: error.into(),
        },
        other => SignedProblem::Unverified(Box::new(other)),
    }
}
