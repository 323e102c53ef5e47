//! How a workspace is opened: what is read, what is wired, and nothing started before it is needed.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jp_audit::Options;
use jp_config::{KnowledgeBaseConfig, Loaded, Sources, load};
use jp_confine::Launcher;
use jp_disk::Sha256;
use jp_llm::{
    Decisions, Host, HostBuilder, LazyBroker, LazyRuntime, McpTools, Trust, TrustStore, Variable,
    broker::{self, McpExchange, Means},
};
use jp_policy::{FileRule, Files, Policy};

use crate::{Approvals, Here, Location, OpenError, Places, Workspace, registries, told::Told};

/// Takes warnings for the person who runs tools.
type Warn = dyn Fn(&str) + Send + Sync;

/// How long the audit log is kept from other processes while many calls are made. They wait that
/// long for it at most.
const LEASE: Duration = Duration::from_millis(20);

/// How a workspace is opened. What is not said is not there.
#[derive(Clone)]
pub struct Opening {
    location: Location,
    files: Vec<PathBuf>,
    assignments: Vec<String>,
    settings: Vec<(String, String)>,
    variable: Arc<Variable>,
    warn: Arc<Warn>,
    /// How many instances are made ahead of time, where many calls are prepared for.
    spares: Option<usize>,
    audit: Options,
}

impl Workspace {
    /// Starts to open the workspace at a place.
    #[must_use]
    pub fn at(location: Location) -> Opening {
        Opening {
            location,
            files: Vec::new(),
            assignments: Vec::new(),
            settings: Vec::new(),
            variable: Arc::new(|_| None),
            warn: Arc::new(|_| {}),
            spares: None,
            audit: Options::default(),
        }
    }
}

impl Opening {
    /// Adds files of configuration and assignments such as `a.b=1`, which win over all others.
    #[must_use]
    pub fn configured_with(mut self, files: Vec<PathBuf>, assignments: Vec<String>) -> Self {
        (self.files, self.assignments) = (files, assignments);
        self
    }

    /// Gives the environment. Variables that start with `JP_CFG_` are configuration; others are seen
    /// by tools and servers whose grant names them.
    #[must_use]
    pub fn environment(
        mut self,
        all: impl Iterator<Item = (OsString, OsString)>,
        variable: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static,
    ) -> Self {
        let ours = |(name, value): (OsString, OsString)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            name.starts_with("JP_CFG_").then_some((name, value))
        };
        self.settings = all.filter_map(ours).collect();
        self.variable = Arc::new(variable);
        self
    }

    /// Says who hears of what does not stop anything, such as compiled code that cannot be kept.
    #[must_use]
    pub fn warning(mut self, warn: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.warn = Arc::new(warn);
        self
    }

    /// Prepares for many calls: Wasm tools get pooled memory, so many instances of each are made ahead
    /// of time, and the audit log is kept open between calls. A change of a tool's file counts for
    /// calls that begin 4 milliseconds later, and at once if a call made it.
    #[must_use]
    pub const fn for_many_calls(mut self, spares: usize) -> Self {
        self.spares = Some(spares);
        self.audit.lease = Some(LEASE);
        self
    }

    /// Returns which workspace is opened.
    #[must_use]
    pub const fn location(&self) -> &Location {
        &self.location
    }

    /// Returns where the configuration is read from.
    #[must_use]
    pub fn sources(&self, places: &Places) -> Sources {
        Sources {
            user_config_dir: places.config_dir().map(Into::into),
            workspace_root: Some(self.location.root.clone()),
            cwd: self.location.cwd.clone(),
            home: (self.variable)("HOME").map(PathBuf::from),
            files: self.files.clone(),
            env: self.settings.clone(),
            assignments: self.assignments.clone(),
        }
    }

    /// Opens the workspace. Engines, databases and servers are started when they are first needed.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong, or something of the user's cannot be used.
    pub fn open(&self, places: &Places) -> Result<Workspace, OpenError> {
        let loaded = self.load(places)?;
        let host = Host::builder(self.location.root.clone(), self.policy(&loaded, places)?);
        let approvals = match places.approvals_store() {
            Ok(path) => Some(Approvals::at(&path)?),
            // Nothing can be remembered.
            Err(_) => None,
        };
        self.wire(loaded, host.wasm(self.runtime(places)), places, approvals)
    }

    /// Opens the workspace again, on the engine and the audit log that it had before.
    pub(crate) fn open_again(
        &self,
        before: &Workspace,
        places: &Places,
    ) -> Result<Workspace, OpenError> {
        let loaded = self.load(places)?;
        let host = before.host().clone().into_builder();
        let policy = self.policy(&loaded, places)?;
        let approvals = before.approvals().map(|here| here.all().clone());
        self.wire(loaded, host.policy(policy), places, approvals)
    }

    /// Returns what the user allows. Where jp's own files lie in the directory, its files are not for
    /// tools: one that may write there could change the policy it runs under.
    fn policy(&self, loaded: &Loaded, places: &Places) -> Result<Policy, OpenError> {
        let said = loaded.config.policy.clone().unwrap_or_default();
        let mut policy = said.to_policy()?;
        for rule in policy.capabilities.files.rules() {
            if let Some(path) = rule.host_path().map(Path::new)
                && let Some(own) = places.own_at(path)
            {
                return Err(OpenError::OwnPaths {
                    path: path.to_owned(),
                    own: own.to_owned(),
                });
            }
        }
        if places.own_within(&self.location.root).is_some() {
            let files = &mut policy.capabilities.files;
            let kept = files.rules().iter().filter(|rule| !is_of_workspace(rule));
            *files = Files::new(kept.cloned());
        }
        Ok(policy)
    }

    /// Says how Wasm tools are run, if this program runs any.
    fn runtime(&self, places: &Places) -> LazyRuntime {
        let runtime = match self.spares {
            None => LazyRuntime::on_demand(places.code_dir()),
            Some(spares) => LazyRuntime::pooled(places.code_dir(), spares),
        };
        let warn = Arc::clone(&self.warn);
        runtime.warning(move |problem| {
            warn(&format!("{problem}; tools are compiled anew each time"));
        })
    }

    fn load(&self, places: &Places) -> Result<Loaded, OpenError> {
        places.check_config_dir()?;
        Ok(load(&self.sources(places))?)
    }

    /// Puts everything into a host that depends on the configuration.
    fn wire(
        &self,
        loaded: Loaded,
        host: HostBuilder,
        places: &Places,
        approvals: Option<Approvals>,
    ) -> Result<Workspace, OpenError> {
        let (root, config) = (&self.location.root, &loaded.config);
        let policy = config.policy.clone().unwrap_or_default();
        let variable = Arc::clone(&self.variable);
        let tools = registries::tools(&loaded, &self.location, places)?;
        let no_workspace = places.own_within(root).is_some();
        let knowledge = match no_workspace {
            // Its topics are directories of the workspace.
            true => KnowledgeBaseConfig::default(),
            false => config.kb.clone(),
        };
        let host = host
            .no_workspace(no_workspace)
            .unconfined(policy.unconfined)
            .command_memory(policy.command_memory.map(|size| size.0))
            .knowledge(knowledge)
            .places(places.granted(root))
            .temp_dir(places.cache_dir().map(|cache| cache.join("tmp")))
            .variable(move |name| variable(name))
            // Without a launcher commands are refused, with the reason.
            .launcher(Launcher::current_exe().ok().map(Arc::new))
            .trust(trust(&self.location, &loaded, places)?)
            .registry(tools.map(Arc::new));
        let mut host = self.outward(host, &loaded, places);
        let here = approvals.map(|approvals| here(approvals, root, &loaded));
        let decisions = here
            .clone()
            .map(|here| Arc::new(here) as Arc<dyn Decisions>);
        host = host.decisions(decisions);
        let workspace = Workspace::new(self.location.clone(), loaded, host.build(), here);
        Ok(workspace.audited_with(self.audit.clone()))
    }

    /// Adds what reaches beyond this process: MCP servers and the broker.
    fn outward(&self, host: HostBuilder, loaded: &Loaded, places: &Places) -> HostBuilder {
        let places_of_told = places.data_dir().ok().map(Told::below);
        let Ok(places) = places.broker() else {
            return host;
        };
        let host = host.build();
        let exchange = McpExchange::new(broker::secret_source(&places));
        let exchange = Arc::new(match broker::open_secrets(&places) {
            Ok(store) => exchange.with_logins(Arc::new(store)),
            Err(_) => exchange,
        });
        let means = Means {
            launcher: host.launcher().cloned(),
            unconfined: host.unconfined(),
            secrets: Some(broker::server_secrets(&places)),
            http: Some(Arc::clone(&exchange) as Arc<_>),
            ..Means::default()
        };
        let servers = McpTools::new(loaded, &host, means.clone(), &*self.variable);
        let servers = servers.with_exchange(exchange);
        let servers = match places_of_told {
            Some(told) => servers.remembering(Arc::new(told), loaded, &host),
            None => servers,
        };
        let servers = Arc::new(servers);
        let config = loaded.config.broker.clone();
        let theirs = Arc::clone(&servers);
        let broker = LazyBroker::new(move || {
            let servers = Arc::clone(theirs.servers());
            broker::open(&config, &places, Some(servers), means.clone())
        });
        host.into_builder().mcp(servers).broker(broker)
    }
}

/// Returns the approvals of a user in a workspace, as it is configured now.
fn here(approvals: Approvals, root: &Path, loaded: &Loaded) -> Here {
    let configuration = loaded.workspace_digest.map(Sha256::from_bytes);
    let configuration = configuration.map_or_else(String::new, |digest| digest.to_string());
    // What cannot be written as text is told apart all the same.
    let workspace = jp_text::path_word(root.as_os_str().as_encoded_bytes());
    Here::new(approvals, &workspace, &configuration)
}

/// Tells whether a rule shows anything of the workspace.
fn is_of_workspace(rule: &FileRule) -> bool {
    let path = rule.path.as_str();
    let below = |path: &str| path.is_empty() || path.starts_with('/');
    path == "/"
        || path.strip_prefix("/workspace").is_some_and(below)
        || path.strip_prefix("/subjects").is_some_and(below)
}

fn trust(location: &Location, loaded: &Loaded, places: &Places) -> Result<Trust, OpenError> {
    match places.trust_file() {
        Ok(file) => Ok(TrustStore::open(&file)?.check(&location.root, loaded)),
        // Nobody has a place to remember trust in, so nothing is trusted.
        Err(_) => Ok(Trust::Untrusted),
    }
}
