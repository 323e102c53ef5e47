//! Every key of the configuration, as the JSON Schema has it: each one changes something that can be
//! seen, is refused, or says that it has no effect. The table is complete and has nothing else.

use std::{collections::BTreeMap, fs, path::Path};

use jp_config::{Loaded, Sources};
use serde_json::Value;

use crate::kit::Sandbox;

/// How the effect of a key is shown.
enum Probe {
    /// What `jp` prints differs with and without this in `.jp.toml` of the workspace; where a part
    /// stands in `⟦⟧`, with and without that part.
    App(&'static str, &'static [&'static str]),
    /// The same, with this in the user's own file, beside this in the workspace's.
    User(&'static str, &'static str, &'static [&'static str]),
    /// What the app allows its signed tools differs with this.
    Allowed(&'static str),
    /// What the user allows differs with this.
    Policy(&'static str),
    /// This is refused.
    Refused(&'static str),
    /// This warns that it has no effect.
    Says(&'static str),
    /// There is one value, the default.
    Constant,
    /// A test of this name in this file shows it.
    Test(&'static str, &'static str),
}
use Probe::{Allowed, App, Constant, Policy, Refused, Says, Test, User};

const SHOW: &[&str] = &["tool", "show", "read"];
const LIST: &[&str] = &["tool", "list", "--json"];
const CALL: &[&str] = &["tool", "run", "--yes", "read", "path=notes.txt"];
const KB: &[&str] = &["kb", "prompt"];
const TEMPLATES: &str = "jp_llm/tests/it/templates.rs";
const MCP: &str = "jp_mcp/tests/it/starts.rs";
const WALLS: &str = "jp_mcp/tests/it/walls.rs";
const TOOLING: &str = "jp_config/tests/tooling/main.rs";
const REGISTRIES: &str = "jp_config/tests/tooling/registries.rs";
const SIGNED: &str = "jp_llm/tests/it/signed.rs";
const LAYERS: &str = "jp_config/tests/layers.rs";
const RESOURCES: &str = "jp_serve/tests/serve/resources.rs";
const PROMPTS: &str = "jp_serve/tests/serve/prompts.rs";
const PRINCIPALS: &str = "jp_serve/tests/serve/principals.rs";
const LIMITS: &str = "jp_serve/tests/serve/limits.rs";
const OAUTH: &str = "jp_serve/tests/serve/oauth.rs";
const APPROVALS: &str = "jp_serve/tests/serve/approvals.rs";
const SPILLS: &str = "jp_serve/tests/serve/spills.rs";
const TASKS: &str = "jp_serve/tests/serve/tasks.rs";
const LOGIN: &str = "jp_broker/tests/mcp/login.rs";
const PEOPLE: &str = "jp_cli/tests/cli/people.rs";
const SERVERS: &str = "jp_cli/tests/cli/servers.rs";
const BROKER: &str = "jp_llm/tests/it/endpoints.rs";

/// The keys of a tool and of `'*'`, by what stands before them.
#[rustfmt::skip]
fn of_tools() -> Vec<(&'static str, Probe)> {
    vec![
        ("*.enable", App("conversation.tools.'*'.enable = 'off'", LIST)),
        ("*.result", App("conversation.tools.'*'.result = 'skip'", CALL)),
        ("*.run", App("conversation.tools.'*'.run = 'skip'", CALL)),
        ("*.style.inline_results", Test("jp_cli/tests/cli/offers.rs", "inline_results_says_how_much_of_a_result_a_person_is_shown_first")),
        ("*.style.parameters", App("conversation.tools.'*'.style.parameters = 'off'", &["tool", "format", "read", "path=x"])),
        ("<>.abi", App("conversation.tools.read.abi = 1", SHOW)),
        ("<>.command.args", App("conversation.tools.count.command = { program = 'wc'⟦, args = ['-c']⟧ }", &["tool", "show", "count"])),
        ("<>.command.program", App("conversation.tools.count.command = { program = 'ls' }", &["tool", "show", "count"])),
        ("<>.command.shell", Test(TEMPLATES, "shell_arguments_are_words_of_their_own")),
        ("<>.description", App("conversation.tools.read.description = 'x'", SHOW)),
        ("<>.enable", App("conversation.tools.read.enable = 'explicit'", LIST)),
        ("<>.entrypoint", App("conversation.tools.read.entrypoint = 'x'", CALL)),
        ("<>.examples", App("conversation.tools.read.examples = 'x'", SHOW)),
        ("<>.grant.calls", App("conversation.tools.read.grant.calls = ['clock.now_unix']", SHOW)),
        ("<>.grant.env", App("conversation.tools.read.grant.env = ['LANG']", SHOW)),
        ("<>.grant.files", App("conversation.tools.ask.grant.files = ['/workspace/a:read']", &["tool", "show", "ask"])),
        ("<>.grant.net", App("conversation.tools.read.grant = { ⟦net = true, ⟧calls = ['http.request'] }", SHOW)),
        ("<>.grant.paths[].access", Test(PEOPLE, "a_missing_file_outside_is_said_to_be_hidden_and_the_lines_work")),
        ("<>.grant.paths[].path", Test(PEOPLE, "a_missing_file_outside_is_said_to_be_hidden_and_the_lines_work")),
        ("<>.grant.selected", App("conversation.tools.read.grant.selected = 'read'", SHOW)),
        ("<>.grant.workspace", App("conversation.tools.read.grant.workspace = 'read'", SHOW)),
        ("<>.limits.fuel", App("conversation.tools.read.limits.fuel = 7000", SHOW)),
        ("<>.limits.memory", App("conversation.tools.read.limits.memory = '1MB'", SHOW)),
        ("<>.limits.output", App("conversation.tools.read.limits.output = '1MB'", SHOW)),
        ("<>.limits.time", App("conversation.tools.read.limits.time = '1s'", SHOW)),
        ("<>.options", Test(TEMPLATES, "a_command_may_be_given_everything_as_json")),
        ("<>.parameters.<>.default", App("conversation.tools.read.parameters.path.default = 'x'", SHOW)),
        ("<>.parameters.<>.description", App("conversation.tools.read.parameters.path.description = 'x'", SHOW)),
        ("<>.parameters.<>.enum", App("conversation.tools.read.parameters.path.enum = ['x']", SHOW)),
        ("<>.parameters.<>.examples", App("conversation.tools.read.parameters.path.examples = 'x'", SHOW)),
        ("<>.parameters.<>.items", App("conversation.tools.read.parameters.x = { ⟦items = { type = 'string' }⟧ }", SHOW)),
        ("<>.parameters.<>.properties", App("conversation.tools.read.parameters.x = { ⟦properties = { y = {} }⟧ }", SHOW)),
        ("<>.parameters.<>.required", App("conversation.tools.read.parameters.ask.required = true", SHOW)),
        ("<>.parameters.<>.summary", App("conversation.tools.read.parameters.path.summary = 'x'", SHOW)),
        ("<>.parameters.<>.type", App("conversation.tools.read.parameters.path.type = 'integer'", SHOW)),
        ("<>.questions.<>.answer", App("conversation.tools.read.questions.confirm.answer = true", &["tool", "run", "--yes", "read", "path=notes.txt", "ask:=true"])),
        ("<>.questions.<>.target", Says("conversation.tools.read.questions.q.target = 'assistant'")),
        ("<>.result", App("conversation.tools.read.result = 'skip'", CALL)),
        ("<>.task", Test(TASKS, "a_required_task_is_made_when_everything_is_known")),
        ("<>.run", App("conversation.tools.read.run = 'skip'", CALL)),
        ("<>.source", App("conversation.tools.new.source = 'builtin.bash'", LIST)),
        ("<>.style.inline_results", Test("jp_cli/tests/cli/offers.rs", "inline_results_says_how_much_of_a_result_a_person_is_shown_first")),
        ("<>.style.parameters", App("conversation.tools.read.style.parameters = 'off'", &["tool", "format", "read", "path=x"])),
        ("<>.summary", App("conversation.tools.read.summary = 'x'", SHOW)),
        ("<>.wasm", App("conversation.tools.read.wasm = 'other.wasm'", SHOW)),
    ]
}

#[rustfmt::skip]
fn of_others() -> Vec<(&'static str, Probe)> {
    vec![
        ("broker.coding.key", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.coding.model", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.coding.url", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.github.key", Test(BROKER, "each_key_of_a_broker_names_its_secret")),
        ("broker.github.url", Test(BROKER, "each_key_of_a_broker_names_its_secret")),
        ("broker.http.<>.headers", Test(BROKER, "each_key_of_a_broker_names_its_secret")),
        ("broker.http.<>.url", Test(BROKER, "each_key_of_a_broker_names_its_secret")),
        ("broker.llm.key", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.llm.model", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.llm.url", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.proxy", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.search.key", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.search.model", Test(LAYERS, "what_the_user_allows_nowhere_or_says_of_no_model_is_refused")),
        ("broker.search.provider", Test(LAYERS, "what_the_user_allows_nowhere_or_says_of_no_model_is_refused")),
        ("broker.search.url", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.stt.key", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.stt.model", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("broker.stt.url", Test(BROKER, "each_key_of_an_endpoint_is_what_is_asked_with")),
        ("capabilities.calls", Allowed("calls = ['llm.generate']")),
        ("capabilities.clocks", Allowed("clocks = false")),
        ("capabilities.env", Allowed("env = ['LANG']")),
        ("capabilities.fs.app-data", Allowed("fs.app-data = 'read'")),
        ("capabilities.fs.scope", Constant),
        ("capabilities.fs.user-paths.desktop", Allowed("fs.user-paths.desktop = 'read'")),
        ("capabilities.fs.user-paths.documents", Allowed("fs.user-paths.documents = 'read'")),
        ("capabilities.fs.user-paths.downloads", Allowed("fs.user-paths.downloads = 'read'")),
        ("capabilities.fs.user-paths.music", Allowed("fs.user-paths.music = 'read'")),
        ("capabilities.fs.user-paths.pictures", Allowed("fs.user-paths.pictures = 'read'")),
        ("capabilities.fs.user-paths.public", Allowed("fs.user-paths.public = 'read'")),
        ("capabilities.fs.user-paths.templates", Allowed("fs.user-paths.templates = 'read'")),
        ("capabilities.fs.user-paths.videos", Allowed("fs.user-paths.videos = 'read'")),
        ("capabilities.fs.user-selected", Allowed("fs.user-selected = 'read'")),
        ("capabilities.net.allowed_hosts", Allowed("net.allowed_hosts = ['a.example']")),
        ("capabilities.net.allowed_ports", Allowed("net = { allowed_hosts = ['a.example'], allowed_ports = [443] }")),
        ("capabilities.process", Constant),
        ("capabilities.random", Allowed("random = false")),
        ("capabilities.stdio", Allowed("stdio = false")),
        ("capabilities.tool.exec.subprocess", Says("capabilities.'tool.exec.subprocess' = true")),
        ("capabilities.tools.mcp", Allowed("'tools.mcp' = true")),
        ("extends[].path", Test(LAYERS, "config_d_is_read_before_unless_extends_says_otherwise")),
        ("extends[].strategy", Test(LAYERS, "config_d_is_read_before_unless_extends_says_otherwise")),
        ("kb.topic.<>.description", App("kb.topic.skills.description = 'x'", &["kb", "list", "--json"])),
        ("kb.topic.<>.disabled", App("kb.topic.skills.disabled = ['ast-grep', 'review/naming', 'review/errors']", KB)),
        ("kb.topic.<>.enable", App("kb.topic.skills.enable = false", KB)),
        ("kb.topic.<>.introduction", App("kb.topic.skills.introduction = 'x'", KB)),
        ("kb.topic.<>.learned", App("kb.topic.skills.learned = ['ast-grep']", KB)),
        ("kb.topic.<>.subjects", App("kb.topic.other.subjects = '.jp/kb/skills'", KB)),
        ("kb.topic.<>.title", App("kb.topic.skills.title = 'x'", KB)),
        ("models", Test("jp_llm/tests/it/models.rs", "a_tool_that_reads_another_model_than_the_app_names_is_denied")),
        ("policy.calls", User("policy.calls = []", "conversation.tools.read.grant.calls = ['clock.now_unix']", SHOW)),
        ("policy.clocks", User("policy.clocks = false", "", SHOW)),
        ("policy.env", User("policy.env = ['LANG']", "conversation.tools.read.grant.env = ['LANG']", SHOW)),
        ("policy.paths[].access", Test(PEOPLE, "a_link_leads_nowhere_that_the_policy_does_not_show")),
        ("policy.paths[].path", Test(PEOPLE, "a_link_leads_nowhere_that_the_policy_does_not_show")),
        ("policy.files", Policy("files = ['/user/documents:read']")),
        ("policy.limits.fuel", User("policy.limits.fuel = 7", "conversation.tools.read.limits.fuel = 9", SHOW)),
        ("policy.limits.memory", User("policy.limits.memory = '1MB'", "", SHOW)),
        ("policy.limits.output", User("policy.limits.output = '1KB'", "", SHOW)),
        ("policy.limits.time", User("policy.limits.time = '1s'", "", SHOW)),
        ("policy.net", User("policy.net = true", "conversation.tools.read.grant = { net = true, calls = ['http.request'] }", SHOW)),
        ("policy.random", User("policy.random = false", "", SHOW)),
        ("policy.selected", User("policy.selected = 'none'", "conversation.tools.read.grant.selected = 'read'", SHOW)),
        ("policy.stdio", User("policy.stdio = false", "", SHOW)),
        ("policy.subprocess", User("policy.subprocess = false", "", &["tool", "show", "count"])),
        ("policy.command_memory", Test("jp_llm/tests/it/commands.rs", "a_command_that_says_nothing_has_the_memory_that_the_users_policy_says")),
        ("policy.unconfined", Test("jp_llm/tests/it/unconfined.rs", "f65_without_a_launcher_a_command_is_refused")),
        ("policy.workspace", User("policy.workspace = 'none'", "", SHOW)),
        ("providers.mcp.<>.arguments", Test("jp_llm/src/runtime/mcp/tests.rs", "a_tool_of_a_server_runs_like_any_other")),
        ("providers.mcp.<>.checksum.algorithm", Test(MCP, "only_the_program_with_the_right_checksum_is_started")),
        ("providers.mcp.<>.checksum.value", Test(MCP, "only_the_program_with_the_right_checksum_is_started")),
        ("providers.mcp.<>.command", Test("jp_llm/src/runtime/mcp/tests.rs", "a_tool_of_a_server_runs_like_any_other")),
        ("providers.mcp.<>.grant.calls", Refused("providers.mcp.m = { command = 'm', grant.calls = [] }")),
        ("providers.mcp.<>.grant.env", Refused("providers.mcp.m = { command = 'm', grant.env = ['A'] }")),
        ("providers.mcp.<>.environment", Test(SERVERS, "a_secret_goes_to_the_vault_and_reaches_its_server_alone")),
        ("providers.mcp.<>.grant.paths[].access", Test(SERVERS, "a_server_reads_beside_the_workspace_what_the_policy_shows")),
        ("providers.mcp.<>.grant.paths[].path", Test(SERVERS, "a_server_reads_beside_the_workspace_what_the_policy_shows")),
        ("providers.mcp.<>.grant.files", Test(WALLS, "b27_files_outside_the_grant_are_not_there")),
        ("providers.mcp.<>.grant.net", Test(WALLS, "b27_there_is_no_network_unless_it_is_granted")),
        ("providers.mcp.<>.grant.selected", Refused("providers.mcp.m = { command = 'm', grant.selected = 'read' }")),
        ("providers.mcp.<>.grant.workspace", Test("jp_llm/src/runtime/mcp/tests.rs", "a_tool_of_a_server_runs_like_any_other")),
        ("providers.mcp.<>.headers", Test("jp_cli/tests/cli/mcp_start.rs", "a_server_that_wants_a_credential_is_told_with_where_to_put_it")),
        ("providers.mcp.<>.oauth.client_id", Test(LOGIN, "a_client_that_was_registered_by_hand_is_shown_to_its_issuer_alone")),
        ("providers.mcp.<>.oauth.client_metadata_url", Test(LOGIN, "a_client_that_is_described_at_a_url_is_that_url")),
        ("providers.mcp.<>.oauth.client_secret", Test(LOGIN, "a_client_that_was_registered_by_hand_is_shown_to_its_issuer_alone")),
        ("providers.mcp.<>.oauth.grant", Test(LOGIN, "a_client_can_log_in_as_itself_and_again_when_its_token_ends")),
        ("providers.mcp.<>.oauth.issuer", Test(LOGIN, "a_client_that_was_registered_by_hand_is_shown_to_its_issuer_alone")),
        ("providers.mcp.<>.oauth.scopes", Test(LOGIN, "a_login_asks_for_what_the_server_and_the_person_want")),
        ("providers.mcp.<>.optional", User("providers.mcp.m = { command = '/nowhere'⟦, optional = true⟧ }\nconversation.tools.m.source = 'mcp.m'", "", &["tool", "list"])),
        ("providers.mcp.<>.startup_timeout_secs", Test(MCP, "a_slow_start_is_waited_for_up_to_its_time")),
        ("providers.mcp.<>.type", Refused("providers.mcp.m = { command = 'm', type = 'http' }")),
        ("providers.mcp.<>.url", Test("jp_cli/tests/cli/mcp_start.rs", "a_page_in_place_of_a_server_is_told_by_its_type")),
        ("providers.mcp.<>.variables", Test(WALLS, "only_named_variables_are_seen")),
        ("registries.<>.default", Test(REGISTRIES, "registries_are_the_users_alone")),
        ("registries.<>.dir", Test(REGISTRIES, "a_registry_is_one_place")),
        ("registries.<>.key", Test(REGISTRIES, "registries_are_the_users_alone")),
        ("registries.<>.oci", Test(REGISTRIES, "a_registry_is_one_place")),
        ("registries.<>.url", Test(REGISTRIES, "a_registry_is_one_place")),
        ("serve.hosts", Test("jp_serve/tests/serve/tls.rs", "a_server_with_a_certificate_speaks_tls_and_knows_the_hosts_it_was_told")),
        ("serve.limits.concurrency", Test(LIMITS, "whoever_floods_the_server_is_told_to_wait_and_others_are_served")),
        ("serve.limits.queue", Test(LIMITS, "whoever_floods_the_server_is_told_to_wait_and_others_are_served")),
        ("serve.limits.streams", Test(LIMITS, "whoever_floods_the_server_is_told_to_wait_and_others_are_served")),
        ("serve.limits.total", Test(LIMITS, "whoever_floods_the_server_is_told_to_wait_and_others_are_served")),
        ("serve.oauth.issuers.<>.algorithms", Test(OAUTH, "every_token_that_is_wrong_in_one_point_is_refused")),
        ("serve.oauth.issuers.<>.audience", Test(OAUTH, "an_issuer_may_have_an_audience_a_claim_and_algorithms_of_its_own")),
        ("serve.oauth.issuers.<>.claim", Test(OAUTH, "an_issuer_may_have_an_audience_a_claim_and_algorithms_of_its_own")),
        ("serve.oauth.issuers.<>.issuer", Test(OAUTH, "every_token_that_is_wrong_in_one_point_is_refused")),
        ("serve.oauth.issuers.<>.jwks", Test(OAUTH, "keys_are_fetched_once_however_many_tokens_name_unknown_ones")),
        ("serve.oauth.issuers.<>.principals", Test(OAUTH, "tokens_signed_with_rsa_and_with_ecdsa_let_their_principal_in")),
        ("serve.oauth.issuers.<>.scope", Test(OAUTH, "a_token_without_the_scope_is_told_which_one_it_needs")),
        ("serve.oauth.resource", Test(OAUTH, "clients_learn_where_to_get_a_token")),
        ("serve.prompts.<>.arguments[].ask", Test(PROMPTS, "a_newer_client_is_asked_for_an_argument_that_was_left_out")),
        ("serve.prompts.<>.arguments[].description", Test(PROMPTS, "prompts_are_listed_with_their_arguments_for_both_revisions")),
        ("serve.prompts.<>.arguments[].name", Test(PROMPTS, "prompts_are_listed_with_their_arguments_for_both_revisions")),
        ("serve.prompts.<>.arguments[].required", Test(PROMPTS, "wrong_arguments_are_named")),
        ("serve.prompts.<>.arguments[].values", Test(PROMPTS, "arguments_and_variables_are_completed")),
        ("serve.prompts.<>.description", Test(PROMPTS, "prompts_are_listed_with_their_arguments_for_both_revisions")),
        ("serve.prompts.<>.messages[].image", Test(PROMPTS, "a_prompt_is_made_of_its_messages_and_arguments")),
        ("serve.prompts.<>.messages[].mime_type", Test(PROMPTS, "a_prompt_is_made_of_its_messages_and_arguments")),
        ("serve.prompts.<>.messages[].resource", Test(PROMPTS, "a_prompt_is_made_of_its_messages_and_arguments")),
        ("serve.prompts.<>.messages[].role", Test(PROMPTS, "a_prompt_is_made_of_its_messages_and_arguments")),
        ("serve.prompts.<>.messages[].text", Test(PROMPTS, "a_prompt_is_made_of_its_messages_and_arguments")),
        ("serve.prompts.<>.title", Test(PROMPTS, "prompts_are_listed_with_their_arguments_for_both_revisions")),
        ("serve.results.age", Test(SPILLS, "how_long_and_how_much_is_kept_says_the_user")),
        ("serve.results.quota", Test(SPILLS, "how_long_and_how_much_is_kept_says_the_user")),
        ("serve.results.total", Test(SPILLS, "how_long_and_how_much_is_kept_says_the_user")),
        ("serve.resources.<>.description", Test(RESOURCES, "resources_are_listed_by_address_for_both_revisions")),
        ("serve.resources.<>.file", Test(RESOURCES, "everything_that_is_listed_can_be_read")),
        ("serve.resources.<>.mime_type", Test(RESOURCES, "resources_are_listed_by_address_for_both_revisions")),
        ("serve.resources.<>.text", Test(RESOURCES, "everything_that_is_listed_can_be_read")),
        ("serve.resources.<>.title", Test(RESOURCES, "resources_are_listed_by_address_for_both_revisions")),
        ("serve.resources.<>.uri", Test(RESOURCES, "resources_are_listed_by_address_for_both_revisions")),
        ("serve.resources.<>.uri_template", Test(RESOURCES, "a_template_is_filled_with_what_stands_in_the_address_and_nothing_more")),
        ("serve.trust_prompts", Test(APPROVALS, "a_trusted_client_asks_in_place_and_no_other_does")),
        ("tooling.<>.id", Test(SIGNED, "a_tool_that_the_configuration_names_must_be_locked_in_a_version_that_will_do")),
        ("tooling.<>.manifest", Test(TOOLING, "tooling_is_read_in_each_of_its_forms")),
        ("tooling.<>.path", Test(TOOLING, "tooling_is_read_in_each_of_its_forms")),
        ("tooling.<>.registry", Test(TOOLING, "tooling_is_read_in_each_of_its_forms")),
        ("tooling.<>.signature", Test(TOOLING, "tooling_is_read_in_each_of_its_forms")),
        ("tooling.<>.signature_file", Test(TOOLING, "tooling_is_read_in_each_of_its_forms")),
        ("tooling.<>.version", Test(SIGNED, "a_tool_that_the_configuration_names_must_be_locked_in_a_version_that_will_do")),
    ]
}

fn table() -> BTreeMap<String, Probe> {
    let tools = of_tools().into_iter();
    let tools = tools.map(|(key, probe)| (format!("conversation.tools.{key}"), probe));
    let others = of_others().into_iter();
    let others = others.map(|(key, probe)| (key.to_owned(), probe));
    let mut table: BTreeMap<String, Probe> = tools.chain(others).collect();
    // A principal's policy is one like the user's.
    let policies = leaves()
        .into_keys()
        .filter(|key| key.starts_with("serve.principals."));
    let shown = "a_policy_of_the_configuration_holds_as_well_as_that_of_the_token";
    table.extend(policies.map(|key| (key, Test(PRINCIPALS, shown))));
    table
}

/// Every key of the schema that has none below it, with what it may be.
fn leaves() -> BTreeMap<String, Value> {
    let schema = jp_config::json_schema();
    let mut found = BTreeMap::new();
    walk(&schema, &schema, "", &mut Vec::new(), &mut found);
    found
}

/// Returns whether there are keys below.
fn walk(
    schema: &Value,
    at: &Value,
    path: &str,
    open: &mut Vec<String>,
    found: &mut BTreeMap<String, Value>,
) -> bool {
    if let Some(name) = at["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        if open.iter().any(|open| open == name) {
            return false;
        }
        open.push(name.to_owned());
        let any = walk(schema, &schema["$defs"][name], path, open, found);
        open.pop();
        return any;
    }
    let mut any = false;
    for way in ["anyOf", "oneOf", "allOf"] {
        for part in at[way].as_array().into_iter().flatten() {
            any |= walk(schema, part, path, open, found);
        }
    }
    for (key, part) in at["properties"].as_object().into_iter().flatten() {
        any = true;
        let path = format!("{path}.{key}");
        let path = path.trim_start_matches('.');
        if !walk(schema, part, path, open, found) {
            found.insert(path.to_owned(), part.clone());
        }
    }
    let more = &at["additionalProperties"];
    if more.is_object() {
        any |= walk(schema, more, &format!("{path}.<>"), open, found);
    }
    if at["items"].is_object() {
        any |= walk(schema, &at["items"], &format!("{path}[]"), open, found);
    }
    any
}

/// Loads a configuration of a workspace and of its user.
fn load(app: &str, user: &str) -> Result<Loaded, String> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("ws");
    fs::create_dir_all(dir.path().join("user")).unwrap();
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join(".jp.toml"), app).unwrap();
    fs::write(dir.path().join("user/config.toml"), user).unwrap();
    let loaded = jp_config::load(&Sources {
        user_config_dir: Some(dir.path().join("user")),
        workspace_root: Some(root.clone()),
        cwd: root,
        ..Sources::default()
    });
    loaded.map_err(|error| error.to_string())
}

/// Returns a text with the part that stands in `⟦⟧`, and without it; nothing without a text that has
/// no such part.
fn both(text: &str) -> (String, String) {
    match text.split_once('⟦').zip(text.split_once('⟧')) {
        Some(((before, _), (_, after))) => {
            let with = text.replace(['⟦', '⟧'], "");
            (with, format!("{before}{after}"))
        }
        None => (text.to_owned(), String::new()),
    }
}

/// What `jp` prints with one text in `.jp.toml` and another in the user's file.
fn printed(app: &str, user: &str, words: &[&str]) -> String {
    let sandbox = Sandbox::with_tools();
    sandbox.write("workspace/.jp.toml", app);
    sandbox.write("home/.config/jp/config.toml", user);
    let ran = sandbox.jp(words);
    let said = format!("{:?}\n{}\n{}", ran.code, ran.stdout, ran.stderr);
    let place = sandbox.path("").canonicalize().unwrap();
    let place = place.display().to_string();
    said.replace(place.trim_end_matches('/'), "~")
}

fn check(key: &str, shape: &Value, probe: &Probe) -> Result<(), String> {
    let must = |holds: bool, what: &str| match holds {
        true => Ok(()),
        false => Err(format!("{key}: {what}")),
    };
    match probe {
        App(text, words) => {
            let (with, without) = both(text);
            let with = printed(&with, "", words);
            must(
                with != printed(&without, "", words) && !with.contains("unknown key"),
                "changes nothing that is printed",
            )
        }
        User(text, app, words) => {
            let (with, without) = both(text);
            let with = printed(app, &with, words);
            must(
                with != printed(app, &without, words) && !with.contains("unknown key"),
                "changes nothing that is printed",
            )
        }
        Allowed(line) => {
            let with = load(&format!("[capabilities]\n{line}"), "")?;
            let base = match line.contains("allowed_ports") {
                true => "[capabilities]\nnet.allowed_hosts = ['a.example']",
                false => "[capabilities]",
            };
            let without = load(base, "")?;
            must(
                with.config.app_capabilities() != without.config.app_capabilities(),
                "allows nothing else",
            )
        }
        Policy(line) => {
            let policy = |text: &str| {
                let loaded = load("", &format!("[policy]\n{text}"))?;
                let policy = loaded.config.policy.unwrap_or_default();
                policy.to_policy().map_err(|error| error.to_string())
            };
            must(policy(line)? != policy("")?, "allows nothing else")
        }
        Refused(text) => must(load("", text).is_err(), "is accepted"),
        Says(text) => {
            let base =
                "conversation.tools.read.source = 'local'\nconversation.tools.read.wasm = 'a'\n";
            let loaded = load(&format!("{base}{text}"), "")?;
            let says = |message: &str| message.contains("has no effect");
            let mut warnings = loaded.warnings.iter();
            must(
                warnings.any(|warning| says(&warning.message)),
                "says nothing of having no effect",
            )
        }
        Constant => must(shape.get("const").is_some(), "has several values"),
        Test(file, name) => {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
            let text = fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
            must(
                text.contains(&format!("fn {name}(")),
                &format!("{file} has no test {name}"),
            )
        }
    }
}

#[test]
fn every_key_of_the_configuration_has_a_probe_and_no_probe_is_without_its_key() {
    let (leaves, table) = (leaves(), table());
    assert!(leaves.len() > 110, "{}", leaves.len());
    let unprobed: Vec<_> = leaves
        .keys()
        .filter(|key| !table.contains_key(*key))
        .collect();
    let unknown: Vec<_> = table
        .keys()
        .filter(|key| !leaves.contains_key(*key))
        .collect();
    assert!(
        unprobed.is_empty() && unknown.is_empty(),
        "no probe: {unprobed:#?}\nno key: {unknown:#?}"
    );
}

#[test]
fn the_same_configuration_prints_the_same() {
    for words in [SHOW, LIST, CALL, KB] {
        assert_eq!(printed("", "", words), printed("", "", words), "{words:?}");
    }
}

#[test]
fn every_key_of_the_configuration_has_an_effect_or_is_refused() {
    let leaves = leaves();
    let wrong: Vec<String> = table()
        .iter()
        .filter_map(|(key, probe)| check(key, leaves.get(key)?, probe).err())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
