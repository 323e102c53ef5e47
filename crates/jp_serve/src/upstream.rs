//! The MCP servers whose tools the workspace has: those that have never told them are asked in the
//! background, and all that run are asked again when they say that their tools changed.
//!
//! A list is never made to wait for a server that is slow to start; the first one gives those that are
//! quick a moment, for clients that ask only once.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jp_host::Workspace;
use tokio::{
    runtime::Handle,
    sync::watch,
    task::AbortHandle,
    time::{Instant, sleep, timeout_at},
};
use tokio_util::sync::CancellationToken;

/// Lists wait for servers that are being asked until so long after the first one was wanted. Clients give
/// up after five seconds.
const MOMENT: Duration = Duration::from_secs(2);

/// Servers are asked again at most this often, whatever they say: a storm of theirs is a few questions
/// of ours.
const PACE: Duration = Duration::from_secs(6);

/// What asks the servers of the workspace that is open now.
#[derive(Default)]
pub(crate) struct Upstream(Mutex<Option<Following>>);

/// What asks the servers of one workspace, until this is dropped.
struct Following {
    workspace: Arc<Workspace>,
    /// Whether all have answered once, or will not.
    asked: watch::Receiver<bool>,
    /// How long lists wait for that.
    until: Instant,
    following: AbortHandle,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.following.abort();
    }
}

impl Upstream {
    /// Sees to it that the servers of a workspace are asked. Those of the one before are left alone from
    /// now on: they end with the last call that uses them.
    pub(crate) fn follow(&self, workspace: &Arc<Workspace>) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_followed = |now: &Following| Arc::ptr_eq(&now.workspace, workspace);
        if now.as_ref().is_some_and(is_followed) {
            return;
        }
        *now = workspace.needs_servers().then(|| {
            let (tell, asked) = watch::channel(false);
            let work = follow(Arc::clone(workspace), tell);
            Following {
                workspace: Arc::clone(workspace),
                asked,
                until: Instant::now() + MOMENT,
                following: runtime.spawn(work).abort_handle(),
            }
        });
    }

    /// Waits a moment for servers that have not answered yet.
    pub(crate) async fn settle(&self) {
        let asked = {
            let now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            now.as_ref().map(|now| (now.asked.clone(), now.until))
        };
        if let Some((mut asked, until)) = asked {
            let _ = timeout_at(until, asked.wait_for(|asked| *asked)).await;
        }
    }

    /// Asks no server any more.
    pub(crate) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

async fn follow(workspace: Arc<Workspace>, tell: watch::Sender<bool>) {
    let never = CancellationToken::new();
    // One that does not answer says why when one of its tools is called.
    workspace.ask_unknown_servers(&never).await;
    // A server that is stopped has nobody left who waits.
    let _ = tell.send(true);
    loop {
        workspace.servers_changed(&never).await;
        sleep(PACE).await;
    }
}
