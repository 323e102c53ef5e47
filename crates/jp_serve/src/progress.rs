//! What a call is doing, for the client that made it: progress, and what the tool logs.

#![expect(
    deprecated,
    reason = "newer revisions have no log messages; clients of older ones still ask for them"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jp_llm::Events;
use jp_tool::ToolStatus;
use rmcp::{
    Peer, RoleServer,
    model::{
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    },
};
use serde_json::json;
use tokio::{sync::mpsc, task::JoinHandle, time};

/// So many reports wait for a client that reads slowly; later ones are passed over until it has read.
const WAITING: usize = 256;

/// A call that says nothing is reported this often, so that clients which give up on silence do not.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// A client that takes longer than this to read the last reports does not get them.
const LAST: Duration = Duration::from_secs(1);

/// Hears the events of one call.
pub(crate) struct Reports(mpsc::Sender<ToolStatus>);

/// Sends what is heard to the client.
pub(crate) struct Reporter {
    sending: JoinHandle<()>,
}

/// What a client wants to hear of a call.
pub(crate) struct Wish {
    pub(crate) progress: Option<ProgressToken>,
    pub(crate) log: Option<LoggingLevel>,
}

impl Events for Reports {
    fn report(&self, _: &str, _: &str, status: ToolStatus) {
        // Progress may be passed over: the next report says more.
        let _ = self.0.try_send(status);
    }
}

impl Reporter {
    /// Starts to report, if the client wants to hear anything.
    pub(crate) fn start(
        wish: Wish,
        tool: &str,
        peer: &Peer<RoleServer>,
    ) -> Option<(Arc<Reports>, Self)> {
        if wish.progress.is_none() && wish.log.is_none() {
            return None;
        }
        let (sender, heard) = mpsc::channel(WAITING);
        let line = Line {
            wish,
            tool: tool.to_owned(),
            peer: peer.clone(),
            started: Instant::now(),
            last: -1.0,
        };
        let sending = tokio::spawn(line.run(heard));
        Some((Arc::new(Reports(sender)), Self { sending }))
    }

    /// Waits until everything that was heard is sent. All [`Reports`] must be gone by then.
    pub(crate) async fn finish(mut self) {
        if time::timeout(LAST, &mut self.sending).await.is_err() {
            self.sending.abort();
        }
    }
}

struct Line {
    wish: Wish,
    tool: String,
    peer: Peer<RoleServer>,
    started: Instant,
    /// The last progress that was sent; it may only grow.
    last: f64,
}

impl Line {
    async fn run(mut self, mut heard: mpsc::Receiver<ToolStatus>) {
        loop {
            match time::timeout(HEARTBEAT, heard.recv()).await {
                Ok(Some(status)) => self.send(status).await,
                Ok(None) => return,
                Err(_) => {
                    let seconds = self.started.elapsed().as_secs();
                    let text = format!("running for {seconds} s");
                    self.progress(None, Some(text)).await;
                }
            }
        }
    }

    async fn send(&mut self, status: ToolStatus) {
        if let Some(output) = status.output {
            let stream = status.stream.as_deref().unwrap_or("output");
            self.log(LoggingLevel::Info, stream, &output).await;
            return;
        }
        if let Some(text) = &status.message
            && let Some((level, text)) = logged(text)
        {
            self.log(level, "tool", text).await;
            return;
        }
        if status.message.is_some() || status.percent_complete.is_some() {
            self.progress(status.percent_complete, status.message).await;
        }
    }

    async fn log(&self, level: LoggingLevel, stream: &str, text: &str) {
        let Some(least) = self.wish.log else {
            return;
        };
        if weight(level) < weight(least) {
            return;
        }
        let data = json!({ "tool": self.tool, "stream": stream, "text": text });
        let mut message = LoggingMessageNotificationParam::new(level, data);
        message.logger = Some(self.tool.clone());
        // A client that went away hears nothing.
        let _ = self.peer.notify_logging_message(message).await;
    }

    /// Sends progress: a part of a hundred where the tool says it, or else the seconds so far.
    async fn progress(&mut self, percent: Option<f32>, message: Option<String>) {
        let Some(token) = &self.wish.progress else {
            return;
        };
        let progress = percent.map_or_else(|| self.started.elapsed().as_secs_f64(), f64::from);
        if progress <= self.last {
            return;
        }
        self.last = progress;
        let mut report = ProgressNotificationParam::new(token.clone(), progress);
        report.total = percent.map(|_| 100.0);
        report.message = message;
        let _ = self.peer.notify_progress(report).await;
    }
}

/// Splits what a guest logs into level and text.
fn logged(text: &str) -> Option<(LoggingLevel, &str)> {
    let (level, text) = text.split_once(": ")?;
    let level = match level {
        "debug" => LoggingLevel::Debug,
        "info" => LoggingLevel::Info,
        "warning" => LoggingLevel::Warning,
        "error" => LoggingLevel::Error,
        _ => return None,
    };
    Some((level, text))
}

const fn weight(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
