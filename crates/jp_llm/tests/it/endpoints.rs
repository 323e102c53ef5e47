//! Every key of `[broker]` reaches what works with it.

use jp_config::{BrokerConfig, Sources};
use jp_llm::broker::{self, BrokerPlaces, Means, VaultPaths};

const BROKER: &str = r#"
[broker]
proxy = "http://proxy.example:3128"
[broker.llm]
url = "https://llm.example/v1"
model = "large"
key = "llm_key"
[broker.coding]
url = "https://coding.example/v1"
model = "coder"
key = "coding_key"
[broker.stt]
url = "https://stt.example/v1"
model = "whisper"
key = "stt_key"
[broker.search]
provider = "responses"
url = "https://search.example/v1"
model = "finder"
key = "search_key"
[broker.github]
url = "https://github.example/mcp/"
key = "github_key"
[broker.http.forge]
url = "https://forge.example/api"
headers = { Authorization = "Bearer {{secret:forge_key}}" }
"#;

fn config(text: &str) -> BrokerConfig {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("config.toml"), text).unwrap();
    let loaded = jp_config::load(&Sources {
        user_config_dir: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        ..Sources::default()
    });
    loaded.unwrap().config.broker
}

#[test]
fn each_key_of_an_endpoint_is_what_is_asked_with() {
    let dir = tempfile::tempdir().unwrap();
    let places = BrokerPlaces {
        store: dir.path().join("store.sqlite"),
        secrets: VaultPaths {
            secrets: dir.path().join("secrets/sealed"),
            key: dir.path().join("key/secrets"),
        },
        keyring: None,
    };
    let open = |text: &str| broker::open(&config(text), &places, None, Means::default()).unwrap();
    let made = open(BROKER);
    let services = made.services();
    let proxy = jp_broker::http::Proxy::new("http://proxy.example:3128").unwrap();
    assert_eq!(services.web.proxy, Some(proxy));
    let (llm, coding) = (
        services.llm.as_ref().unwrap(),
        services.coding.as_ref().unwrap(),
    );
    let stt = services.stt.as_ref().unwrap();
    assert_eq!(
        [&llm.model, &coding.model, &stt.model],
        ["large", "coder", "whisper"]
    );
    for (endpoint, name) in [
        (&llm.endpoint, "llm"),
        (&coding.endpoint, "coding"),
        (&stt.endpoint, "stt"),
    ] {
        let said = format!("{endpoint:?}");
        assert!(
            said.contains(&format!("https://{name}.example/v1")),
            "{said}"
        );
        assert!(said.contains(&format!("{name}_key")), "{said}");
    }
    assert!(services.search.is_some() && open("").services().search.is_none());
    let named = broker::named_secrets(&config(BROKER));
    let search = named
        .iter()
        .find(|named| named.key == "broker.search.key")
        .unwrap();
    assert_eq!(
        (search.secret.as_str(), search.url.as_str()),
        ("search_key", "https://search.example/v1")
    );
}

#[test]
fn each_key_of_a_broker_names_its_secret() {
    let named = broker::named_secrets(&config(BROKER));
    let found = |key: &str| {
        let found = named.iter().find(|named| named.key == key);
        found.map(|named| (named.secret.as_str(), named.url.as_str()))
    };
    assert_eq!(
        found("broker.github.key"),
        Some(("github_key", "https://github.example/mcp/"))
    );
    assert_eq!(
        found("broker.http.forge.headers.Authorization"),
        Some(("forge_key", "https://forge.example/api"))
    );
}
