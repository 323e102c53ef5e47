//! What the tests share: pools with one server, and calls in one line.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jp_confine::Launcher;
use jp_mcp::{
    Call, Called, Digest, Limits, McpError, Means, Program, Progress, Reach, Respond, Server,
    Servers, Unasked,
};
use jp_policy::Net;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) const COUNTERPART: &str = env!("CARGO_BIN_EXE_jp_mcp_counterpart");

/// Makes a program that behaves as the words say.
pub(crate) fn program(words: &[&str]) -> Program {
    Program {
        command: COUNTERPART.to_owned(),
        arguments: words.iter().map(ToString::to_string).collect(),
        env: Vec::new(),
        secret_env: Vec::new(),
        checksum: None,
        read: Vec::new(),
        write: Vec::new(),
        net: Net::None,
        cwd: "/tmp".into(),
        memory_bytes: 1 << 30,
    }
}

/// Makes a program that may write to a directory.
pub(crate) fn program_in(dir: &Path, words: &[&str]) -> Program {
    Program {
        write: vec![dir.to_owned()],
        ..program(words)
    }
}

pub(crate) fn limits() -> Limits {
    Limits {
        back_off: Duration::from_millis(1),
        ..Limits::default()
    }
}

pub(crate) fn pool_of(program: Program, limits: Limits) -> Servers {
    let server = Server {
        id: "s".to_owned(),
        reach: Reach::Program(program),
        startup: Some(Duration::from_secs(300)),
    };
    let means = Means {
        launcher: Some(Arc::new(Launcher::new(COUNTERPART.into()))),
        limits,
        ..Means::default()
    };
    Servers::new([server], means)
}

pub(crate) fn pool(words: &[&str]) -> Servers {
    pool_of(program(words), limits())
}

/// Calls a tool and waits for a long time.
pub(crate) async fn call(pool: &Servers, tool: &str, arguments: Value) -> Result<Called, McpError> {
    Ask::default().call(pool, tool, arguments).await
}

/// A call with more to say about it.
pub(crate) struct Ask {
    pub(crate) cancel: CancellationToken,
    pub(crate) time: Duration,
    pub(crate) max_result: usize,
    pub(crate) digest: Option<Digest>,
    pub(crate) heard: Mutex<Vec<Progress>>,
    pub(crate) respond: &'static dyn Respond,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            cancel: CancellationToken::new(),
            time: Duration::from_secs(300),
            max_result: 1_000_000,
            digest: None,
            heard: Mutex::default(),
            respond: &Unasked,
        }
    }
}

impl Ask {
    pub(crate) async fn call(
        &self,
        pool: &Servers,
        tool: &str,
        arguments: Value,
    ) -> Result<Called, McpError> {
        let progress = |report| {
            let heard = self.heard.lock();
            heard.unwrap_or_else(PoisonError::into_inner).push(report);
        };
        let call = Call {
            tool,
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            digest: self.digest,
            deadline: Instant::now() + self.time,
            cancel: &self.cancel,
            max_result: self.max_result,
            trace: None,
            progress: &progress,
            respond: self.respond,
        };
        pool.call("s", &call).await
    }
}

impl Ask {
    /// Waits until the server has said that the call arrived.
    pub(crate) async fn arrived(&self) {
        let heard = || self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        until("the call arrives", async || !heard().is_empty()).await;
    }
}

/// Tries something until it holds; what it waits for is another process.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(300);
    while !holds().await {
        assert!(Instant::now() < end, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
