//! The pool: all configured servers, each opened when it is first needed and again when it died.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{
    Call, Called, Limits, McpError, Means, Reach, Said, Server, Tools,
    connection::{Connection, Era, Startup},
    hidden,
    news::News,
    request::Waiting,
    restart::{Next, Restarts},
    tail::Tail,
};

/// How long listing tools may take in all, when the server has to be started and may take for ever.
const MAX_LISTING: Duration = Duration::from_secs(10 * 60);

/// All configured servers. Dropping it ends those that run.
pub struct Servers {
    slots: BTreeMap<String, Slot>,
    means: Means,
    news: Arc<News>,
}

struct Slot {
    server: Server,
    news: Arc<News>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    restarts: Restarts,
    said: Said,
    /// How the server was greeted the last time that it answered.
    era: Option<Era>,
}

impl Servers {
    /// Makes a pool; nothing is started. Of two servers with one id the later counts.
    #[must_use]
    pub fn new(servers: impl IntoIterator<Item = Server>, means: Means) -> Self {
        let news = Arc::<News>::default();
        let slot = |server: Server| {
            let slot = Slot {
                news: Arc::clone(&news),
                state: Mutex::default(),
                server,
            };
            (slot.server.id.clone(), slot)
        };
        let slots = servers.into_iter().map(slot).collect();
        Self { slots, means, news }
    }

    /// Returns the servers, by id.
    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        self.slots.values().map(|slot| &slot.server)
    }

    /// Returns a server.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Server> {
        self.slots.get(id).map(|slot| &slot.server)
    }

    /// Waits until servers say that their tools changed, and returns their ids. However often one says it
    /// meanwhile, it is named once. One caller waits at a time.
    pub async fn changed(&self) -> BTreeSet<String> {
        self.news.take().await
    }

    /// Returns the tools of a server.
    ///
    /// # Errors
    ///
    /// When the server cannot be used or does not answer.
    pub async fn list_tools(
        &self,
        server: &str,
        cancel: &CancellationToken,
    ) -> Result<Arc<Tools>, McpError> {
        let since = Instant::now();
        let wait = Waiting {
            since,
            deadline: since + MAX_LISTING,
            cancel,
        };
        self.list_tools_until(server, wait).await
    }

    async fn list_tools_until(
        &self,
        server: &str,
        wait: Waiting<'_>,
    ) -> Result<Arc<Tools>, McpError> {
        let slot = self.slot(server)?;
        let (_, tools) = slot.ready(&self.means, wait).await?;
        slot.worked().await;
        Ok(tools)
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// When the server cannot be used, has no such tool or does not answer. A call is never made a
    /// second time: what the first did is not known.
    pub async fn call(&self, server: &str, call: &Call<'_>) -> Result<Called, McpError> {
        let since = Instant::now();
        let wait = Waiting {
            since,
            deadline: call.deadline,
            cancel: call.cancel,
        };
        let slot = self.slot(server)?;
        let (connection, tools) = slot.ready(&self.means, wait).await?;
        let Some(tool) = tools.get(call.tool) else {
            return Err(unknown_tool(server, call.tool, &tools));
        };
        if call.digest.is_some_and(|digest| digest != tool.digest()) {
            return Err(McpError::Changed {
                server: server.to_owned(),
                tool: call.tool.to_owned(),
            });
        }
        let called = connection.call(call, wait).await?;
        slot.worked().await;
        Ok(called)
    }

    /// Ends all servers that run; they are started again when they are needed.
    pub async fn stop(&self) {
        for slot in self.slots.values() {
            slot.state.lock().await.connection = None;
        }
    }

    fn slot(&self, server: &str) -> Result<&Slot, McpError> {
        self.slots
            .get(server)
            .ok_or_else(|| McpError::UnknownServer {
                server: hidden::shown(server, 100),
                known: match self.slots.len() {
                    0 => "none".to_owned(),
                    _ => self.slots.keys().cloned().collect::<Vec<_>>().join(", "),
                },
            })
    }
}

impl Slot {
    /// Returns the connection and the tools; a server that does not tell them in time is ended.
    async fn ready(
        &self,
        means: &Means,
        wait: Waiting<'_>,
    ) -> Result<(Arc<Connection>, Arc<Tools>), McpError> {
        let connection = self.connect(means, wait).await?;
        let error = match connection.tools(wait).await {
            Ok(tools) => return Ok((connection, tools)),
            Err(error) => error,
        };
        if matches!(error, McpError::StartTimeout { .. }) {
            let mut state = wait.on(&self.server.id, self.state.lock()).await?;
            // Somebody else may have opened another by now.
            state
                .connection
                .take_if(|current| Arc::ptr_eq(current, &connection));
        }
        Err(error)
    }

    /// Returns the connection, which is opened if there is none that lives.
    async fn connect(&self, means: &Means, wait: Waiting<'_>) -> Result<Arc<Connection>, McpError> {
        let id = self.server.id.as_str();
        let mut state = wait.on(id, self.state.lock()).await?;
        if let Some(connection) = &state.connection {
            if connection.is_alive() {
                return Ok(Arc::clone(connection));
            }
            if let McpError::Died { said, .. } = connection.died().await {
                state.said = said;
            }
        }
        state.connection = None;
        if matches!(self.server.reach, Reach::Program(_)) {
            let pause = state.pause(id, &means.limits)?;
            wait.on(id, tokio::time::sleep(pause)).await?;
            state.restarts.started(Instant::now());
        }
        let tail = Tail::default();
        let opened = wait.on(id, self.open(means, &tail, state.era)).await;
        state.said = tail.said();
        let connection = Arc::new(opened??);
        state.era = Some(connection.era);
        state.connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    async fn open(
        &self,
        means: &Means,
        tail: &Tail,
        era: Option<Era>,
    ) -> Result<Connection, McpError> {
        let opening = Connection::open(&self.server, means, tail, (&self.news, era));
        let Some(limit) = self.server.startup else {
            return opening.await;
        };
        let since = Instant::now();
        let opened = tokio::time::timeout(limit, opening).await;
        let mut connection = opened.unwrap_or_else(|_| {
            Err(McpError::StartTimeout {
                server: self.server.id.clone(),
                limit,
                said: tail.said(),
            })
        })?;
        let left = limit.saturating_sub(since.elapsed());
        connection.startup = Some(Startup { limit, left });
        Ok(connection)
    }

    async fn worked(&self) {
        self.state.lock().await.restarts.worked();
    }
}

impl State {
    /// Returns how long to wait before the next start.
    fn pause(&mut self, server: &str, limits: &Limits) -> Result<Duration, McpError> {
        match self.restarts.next(Instant::now(), limits) {
            Next::After(pause) => Ok(pause),
            Next::Never(times) => Err(McpError::Flapping {
                server: server.to_owned(),
                times,
                said: self.said.clone(),
            }),
        }
    }
}

/// Says why a tool cannot be called: it was left out, or there are others.
fn unknown_tool(server: &str, tool: &str, tools: &Tools) -> McpError {
    let tool = hidden::shown(tool, 100);
    let start = format!("tool `{tool}` ");
    let left_out = tools.notes.iter().find(|note| note.starts_with(&start));
    let names = || {
        let names: Vec<_> = tools
            .tools
            .iter()
            .take(50)
            .map(|tool| tool.name.as_str())
            .collect();
        match tools.tools.len() {
            0 => "it has none".to_owned(),
            count @ 1..=50 => format!("its {count} tools: {}", names.join(", ")),
            count => format!("the first 50 of its {count} tools: {}", names.join(", ")),
        }
    };
    McpError::UnknownTool {
        server: server.to_owned(),
        hint: left_out.cloned().unwrap_or_else(names),
        tool,
    }
}
