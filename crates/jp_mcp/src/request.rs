//! What is asked over a connection: the list of tools, and what any request needs. Calls are in
//! [`crate::calling`].

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jp_tool::Form;
use rmcp::{
    RoleClient,
    model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool},
    service::{PeerRequestOptions, RequestHandle},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    McpError, Progress, Respond, Tools, connection::Connection, ending, handler::Wanted,
    underway::Underway,
};

/// Pages of a list that are asked for.
const MAX_PAGES: usize = 100;

/// Reports about progress that wait to be heard.
const MAX_REPORTS: usize = 64;

/// How long an answer that was read before the end is waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long telling a server that its call was abandoned may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// The list of tools as it was last seen.
#[derive(Default)]
pub(crate) struct Listed {
    tools: Option<(Arc<Tools>, Instant)>,
    refreshes: VecDeque<Instant>,
}

/// Who waits for an answer, and how long.
#[derive(Clone, Copy)]
pub(crate) struct Waiting<'a> {
    pub(crate) since: Instant,
    pub(crate) deadline: Instant,
    pub(crate) cancel: &'a CancellationToken,
}

impl Waiting<'_> {
    /// Waits no longer than so long from now.
    fn within(self, time: Duration) -> Self {
        Self {
            deadline: self.deadline.min(Instant::now() + time),
            ..self
        }
    }

    /// Waits for something, unless the caller stops to.
    pub(crate) async fn on<T>(
        &self,
        server: &str,
        what: impl Future<Output = T>,
    ) -> Result<T, McpError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(McpError::Cancelled),
            () = tokio::time::sleep_until(self.deadline.into()) => Err(McpError::Timeout {
                server: server.to_owned(),
                limit: self.deadline.saturating_duration_since(self.since),
            }),
            done = what => Ok(done),
        }
    }
}

/// Who hears of a request while it is under way.
pub(crate) struct Heard<'a> {
    pub(crate) progress: &'a (dyn Fn(Progress) + Send + Sync),
    pub(crate) respond: Option<&'a dyn Respond>,
    /// What the server wanted to know and nobody said.
    pub(crate) unanswered: &'a Mutex<Option<Form>>,
}

/// What may come before an answer.
struct Meanwhile<'a, 'b> {
    reported: &'a mut mpsc::Receiver<Progress>,
    wanted: Option<mpsc::Receiver<Wanted>>,
    heard: &'a Heard<'b>,
}

/// What came.
enum Next {
    Report(Progress),
    Answer(Box<Option<Result<ServerResult, rmcp::ServiceError>>>),
    Wanted(Wanted),
    Gone,
}

/// Waits for what a server wants to know; without end where it asks nobody.
async fn of(wanted: &mut Option<mpsc::Receiver<Wanted>>) -> Option<Wanted> {
    match wanted {
        Some(wanted) => wanted.recv().await,
        None => std::future::pending().await,
    }
}

/// A request that was sent. Dropped before its answer came, it hangs up and tells the server so.
struct Asking<'a> {
    handle: Option<RequestHandle<RoleClient>>,
    underway: &'a Underway,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        // The transport would keep the connection until the server has taken the notification.
        self.underway.hang_up(&handle.id);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            let reason = "the caller stopped waiting".to_owned();
            let _ = tokio::time::timeout(GOODBYE, handle.cancel(Some(reason))).await;
        });
    }
}

impl Connection {
    /// Returns the tools, from memory if nothing speaks against it.
    pub(crate) async fn tools(&self, wait: Waiting<'_>) -> Result<Arc<Tools>, McpError> {
        let mut listed = wait.on(&self.server, self.listed.lock()).await?;
        let changed = self.handler.take_changed();
        if let Some((tools, at)) = listed.tools.clone() {
            let is_old = !self.is_program() && at.elapsed() > self.limits.list_age;
            if !changed && !is_old {
                return Ok(tools);
            }
            if changed && !listed.may_refresh(self.limits.refreshes) {
                self.handler.still_changed();
                let mut tools = Tools::clone(&tools);
                let note =
                    "the server reports changes of its tools too often; this list is outdated";
                tools.notes.push(note.to_owned());
                return Ok(Arc::new(tools));
            }
        }
        let fetched = match &listed.tools {
            Some(_) => self.fetch(wait.within(self.limits.list_time)).await,
            None => self.fetch_first(wait).await,
        };
        let tools = Arc::new(fetched?);
        listed.tools = Some((Arc::clone(&tools), Instant::now()));
        Ok(tools)
    }

    /// Asks for the list that makes the server ready, in what is left of the time it has for that.
    async fn fetch_first(&self, wait: Waiting<'_>) -> Result<Tools, McpError> {
        let Some(startup) = self.startup else {
            return self.fetch(wait).await;
        };
        let within = wait.within(startup.left);
        match self.fetch(within).await {
            Err(McpError::Timeout { server, .. }) if within.deadline < wait.deadline => {
                Err(McpError::StartTimeout {
                    server,
                    limit: startup.limit,
                    said: self.tail.said(),
                })
            }
            fetched => fetched,
        }
    }

    async fn fetch(&self, wait: Waiting<'_>) -> Result<Tools, McpError> {
        self.pages(wait).await.map_err(|error| match error {
            // No tool has said no: it is the server that does not work.
            McpError::Rejected {
                server,
                code,
                message,
            } => McpError::Unlisted {
                server,
                code,
                message,
            },
            other => other,
        })
    }

    async fn pages(&self, mut wait: Waiting<'_>) -> Result<Tools, McpError> {
        let (mut sent, mut bytes, mut more) = (Vec::<Tool>::new(), 0_usize, false);
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let heard = Heard {
                progress: &|_| {},
                respond: None,
                unanswered: &Mutex::default(),
            };
            let ServerResult::ListToolsResult(page) = self.ask(request, &mut wait, heard).await?
            else {
                return Err(self.broke("it sent an unexpected response to `tools/list`"));
            };
            for tool in page.tools {
                let size = serde_json::to_vec(&tool).map_or(usize::MAX, |json| json.len());
                bytes = bytes.saturating_add(size);
                more |= sent.len() >= self.limits.tools;
                if !more {
                    sent.push(tool);
                }
            }
            if bytes > self.limits.list_bytes {
                return Err(McpError::TooLarge {
                    server: self.server.clone(),
                    what: "a list of tools",
                    limit: self.limits.list_bytes,
                });
            }
            let next = page.next_cursor.filter(|next| !next.is_empty());
            if next.is_none() || more {
                let mut tools = Tools::check(sent, &self.limits);
                if more {
                    let limit = self.limits.tools;
                    tools.notes.push(format!(
                        "only the first {limit} tools are offered; the server lists more"
                    ));
                }
                return Ok(tools);
            }
            if next == cursor {
                return Err(self.broke("its list of tools repeats a page"));
            }
            cursor = next;
        }
        Err(self.broke("its list of tools has more than 100 pages"))
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(
        &self,
        request: ClientRequest,
        wait: &mut Waiting<'_>,
        heard: Heard<'_>,
    ) -> Result<ServerResult, McpError> {
        let (reports, mut reported) = mpsc::channel(MAX_REPORTS);
        let wanted = match heard.respond {
            Some(_) => Some(self.handler.hear().await),
            None => None,
        };
        let send = async {
            let mut listeners = self.handler.listeners.lock().await;
            listeners.retain(|_, listener| !listener.is_closed());
            let options = PeerRequestOptions::no_options();
            let sent = self
                .service
                .peer()
                .send_cancellable_request(request, options)
                .await?;
            listeners.insert(sent.progress_token.clone(), reports);
            Ok(sent)
        };
        let mut asked = match wait.on(&self.server, send).await? {
            Ok(handle) => Asking {
                handle: Some(handle),
                underway: &self.underway,
            },
            Err(error) => return Err(self.failed(&error).await),
        };
        let meanwhile = Meanwhile {
            reported: &mut reported,
            wanted,
            heard: &heard,
        };
        let answer = self.answer(&mut asked, meanwhile, wait).await?;
        let id = asked.handle.take().map(|handle| handle.id);
        while let Ok(report) = reported.try_recv() {
            (heard.progress)(report);
        }
        match answer {
            Some(Ok(result)) => Ok(result),
            Some(Err(error)) => match id.and_then(|id| self.underway.take(&id)) {
                Some(why) => Err(ending::of_stream(self.server.clone(), why)),
                None => Err(self.failed(&error).await),
            },
            None => Err(self.died().await),
        }
    }

    /// Waits for an answer, passes on progress and answers what the server asks; `None` when the
    /// connection ended before.
    async fn answer(
        &self,
        asked: &mut Asking<'_>,
        mut meanwhile: Meanwhile<'_, '_>,
        wait: &mut Waiting<'_>,
    ) -> Result<Option<Result<ServerResult, rmcp::ServiceError>>, McpError> {
        let Some(handle) = asked.handle.as_mut() else {
            return Ok(None);
        };
        loop {
            let next = async {
                tokio::select! {
                    biased;
                    Some(report) = meanwhile.reported.recv() => Next::Report(report),
                    answer = &mut handle.rx => Next::Answer(Box::new(answer.ok())),
                    Some(wanted) = of(&mut meanwhile.wanted) => Next::Wanted(wanted),
                    () = self.fate.gone.cancelled() => Next::Gone,
                }
            };
            match wait.on(&self.server, next).await? {
                Next::Report(report) => (meanwhile.heard.progress)(report),
                Next::Answer(answer) => return Ok(*answer),
                Next::Wanted(wanted) => {
                    if let Some(respond) = meanwhile.heard.respond {
                        let open = self.reply(wanted, respond, wait).await?;
                        let unanswered = meanwhile.heard.unanswered.lock();
                        let mut unanswered = unanswered.unwrap_or_else(PoisonError::into_inner);
                        *unanswered = unanswered.take().or(open);
                    }
                }
                Next::Gone => break,
            }
        }
        let last = tokio::time::timeout(LAST_WORDS, &mut handle.rx).await;
        Ok(last.ok().and_then(Result::ok))
    }

    /// Names an answer that is not what the protocol says.
    pub(crate) fn broke(&self, reason: &str) -> McpError {
        McpError::Protocol {
            server: self.server.clone(),
            reason: reason.to_owned(),
        }
    }
}

impl Listed {
    /// Notes that the list is asked for again, unless that happened too often within a minute.
    fn may_refresh(&mut self, most: usize) -> bool {
        let minute = Duration::from_secs(60);
        while self
            .refreshes
            .front()
            .is_some_and(|at| at.elapsed() > minute)
        {
            self.refreshes.pop_front();
        }
        let may = self.refreshes.len() < most;
        if may {
            self.refreshes.push_back(Instant::now());
        }
        may
    }
}
