//! The methods of the protocol.

#![expect(
    deprecated,
    reason = "newer revisions have no log messages; clients of older ones still ask for them"
)]

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams,
        CompleteRequestParams, CompleteResult, DiscoverResult, GetPromptRequestParams,
        GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
        InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        ResultType, ServerCapabilities, ServerConfig, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID, Tool,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};

use crate::{
    call::Request,
    catalogue::Catalogue,
    changes::Ears,
    completion,
    lazy::{self, Meant},
    page::{LIST_LIFE_MS, Wanted},
    principal::Served,
    progress::Wish,
    prompts, proposing, resources, spill,
};

/// What was looked at so long ago counts as it was: a change on disk may take as long to count anywhere.
const COUNTS: Duration = Duration::from_millis(4);

/// One connection, or one session, or one request: whatever the transport makes of it. It belongs to one
/// principal.
pub(crate) struct Handler {
    shared: Served,
    /// What the session wants to hear of what tools log.
    level: Mutex<Option<LoggingLevel>>,
    /// What the connection hears of changes.
    ears: Ears,
    /// The tools as they were looked at for the headers of a request, and when.
    looked: Mutex<Option<(Instant, Arc<Catalogue>)>>,
}

impl Handler {
    pub(crate) fn new(shared: Served) -> Self {
        Self {
            shared,
            level: Mutex::default(),
            ears: Ears::default(),
            looked: Mutex::default(),
        }
    }

    /// Returns the tools as they are now. A request looks once: over HTTP for its headers already.
    fn listed(&self, served: &Served) -> Result<Arc<Catalogue>, ErrorData> {
        let looked = self
            .looked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let policy = served.who().policy();
        let counts = |(at, catalogue): &(Instant, Arc<Catalogue>)| {
            at.elapsed() < COUNTS && catalogue.is_under(policy)
        };
        match looked.filter(counts) {
            Some((_, catalogue)) => Ok(catalogue),
            None => served.listed(),
        }
    }

    /// Tells whether the client of a request gets three tools instead of all.
    fn is_lazy(&self, context: &RequestContext<RoleServer>, catalogue: &Catalogue) -> bool {
        let client = context.client_info();
        let client = client.as_ref().map(|client| client.name.as_str());
        self.shared.lazy().is_for(client, catalogue)
    }

    /// Says what a call means to a client that may have three tools instead of all.
    fn meant(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        catalogue: &Catalogue,
    ) -> Meant {
        match self.is_lazy(context, catalogue) {
            true => lazy::meant(request, catalogue),
            false => Meant::Call(request),
        }
    }

    /// Returns what the client wants to hear of one request.
    fn wish(&self, context: &RequestContext<RoleServer>) -> Wish {
        let session = *self.level.lock().unwrap_or_else(PoisonError::into_inner);
        Wish {
            progress: context.meta.get_progress_token(),
            log: context.meta.log_level().or(session),
        }
    }
}

/// Tells whether a request is one of a revision without handshakes and sessions.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .enable_logging()
            .build();
        if self.shared.keep().is_some() {
            let tasks = TASKS_EXTENSION_ID.to_owned();
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(tasks, JsonObject::new());
        }
        let mut info = ServerConfig::new(capabilities);
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info.server_info = Implementation::new("jp", env!("CARGO_PKG_VERSION"));
        info.server_info.title = Some("jp".to_owned());
        info
    }

    // Instructions read the knowledge base, and `get_info` is asked for every request over HTTP.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        result.instructions = self.shared.instructions();
        Ok(result)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut info = self.get_info();
        info.instructions = self.shared.instructions();
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    /// Returns a tool to check the headers of a call with. The call that follows uses the same list.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let catalogue = self.shared.catalogue().ok()?;
        let tool = catalogue.tool(name).cloned();
        let looked = Some((Instant::now(), catalogue));
        *self.looked.lock().unwrap_or_else(PoisonError::into_inner) = looked;
        tool
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        // Makes the catalogue, which has the servers asked.
        served.listed()?;
        served.upstream.settle().await;
        let catalogue = served.listed()?;
        let mut tools = if self.is_lazy(&context, &catalogue) {
            lazy::tools(&catalogue)
        } else {
            catalogue.tools().to_vec()
        };
        let is_offered = served.proposals.is_offered(served.principal());
        if is_offered && catalogue.id(proposing::NAME).is_none() {
            tools.push(proposing::tool());
        }
        let mut result = ListToolsResult::with_all_items(tools);
        result.result_type = Some(ResultType::COMPLETE);
        if is_modern(&context) {
            result.ttl_ms = Some(LIST_LIFE_MS);
            result.cache_scope = Some(CacheScope::Private);
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        let wish = self.wish(&context);
        let catalogue = self.listed(&served)?;
        if proposing::is_meant(&request, &catalogue) {
            let filed = proposing::call(request, &catalogue, served.principal()).await;
            return Ok(filed.into());
        }
        let request = match self.meant(request, &context, &catalogue) {
            Meant::Call(request) => request,
            Meant::Answer(answer) => return Ok(answer.into()),
        };
        // In a box: rmcp moves the future of a request about, which is as large as its largest method.
        let call = Request::new(request, context, wish);
        Box::pin(call.run(&served, catalogue)).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        served.task(&request.task_id).await.map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        let responses = serde_json::to_value(request.input_responses).unwrap_or_default();
        served.answer_task(&request.task_id, responses).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        served.cancel_task(&request.task_id).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        resources::list(&served, Wanted::new(request, is_modern(&context))?).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        resources::list_templates(&served, Wanted::new(request, is_modern(&context))?).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        let kept = spill::read(&served, &request.uri).await;
        let kept = kept.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        if let Some(contents) = kept {
            return Ok(ReadResourceResult::new(vec![contents]).into());
        }
        let read = resources::read(&served, request.uri).await?;
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        prompts::list(&served, Wanted::new(request, is_modern(&context))?).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        prompts::get(&served, request, &context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        completion::complete(&served, request).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A client that cannot be told is told nothing: a notification has no answer.
        let _ = self.ears.open(&self.shared, &context.peer).await;
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let served = self.shared.for_request(&context.extensions)?;
        self.ears.follow(&served, &context.peer, request.uri).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.ears.unfollow(&request.uri).await;
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(self.ears.accept(&self.shared, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.ears.listen(&self.shared, context).await
    }
}
