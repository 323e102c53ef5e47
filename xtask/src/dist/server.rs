//! `server.json`: what the registry of MCP servers is told of a release.

use jp_disk::Sha256;
use serde_json::{Value, json};

use super::release::{GRANT, PACKAGE, Release, SUMMARY};

/// The form of the file.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Describes a release: its bundle, which is a file, and the packages that registries have.
pub(super) fn describe(release: &Release, (bundle, sha256): (&str, Sha256)) -> Value {
    let version = &release.version;
    let arguments = arguments();
    let transport = json!({"type": "stdio"});
    json!({
        "$schema": SCHEMA,
        "name": release.publisher.server_name(),
        "title": "jp",
        "description": SUMMARY,
        "version": version,
        "packages": [
            {
                "registryType": "mcpb",
                // Its URL names the version; the registry takes no other address beside it.
                "identifier": release.publisher.url(bundle),
                "fileSha256": sha256.to_string(),
                "transport": transport,
            },
            {
                "registryType": "npm",
                "registryBaseUrl": "https://registry.npmjs.org",
                "identifier": PACKAGE,
                "version": version,
                "runtimeHint": "npx",
                "packageArguments": arguments,
                "transport": transport,
            },
            {
                "registryType": "pypi",
                "registryBaseUrl": "https://pypi.org",
                "identifier": PACKAGE,
                "version": version,
                "runtimeHint": "uvx",
                "packageArguments": arguments,
                "transport": transport,
            },
        ],
    })
}

/// What the bundle has in its manifest, in the words of this file.
fn arguments() -> Value {
    let mut arguments = vec![
        json!({"type": "positional", "value": "serve"}),
        json!({
            "type": "named",
            "name": "--directory",
            "description": "The files that tools may read: a project, not your home directory",
            "format": "filepath",
            "isRequired": true,
        }),
    ];
    for assignment in GRANT {
        arguments.push(json!({"type": "named", "name": "--cfg", "value": assignment}));
    }
    Value::Array(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundle_is_named_with_its_hash_and_the_packages_with_their_version() {
        let release = Release::sample();
        let sha256 = Sha256::of(b"a bundle");
        let server = describe(&release, ("jp.mcpb", sha256));
        let packages = server["packages"].as_array().unwrap();
        assert_eq!(packages[0]["identifier"], "https://example.com/jp/jp.mcpb");
        assert_eq!(packages[0]["fileSha256"], sha256.to_string());
        assert!(packages[0].get("version").is_none());
        for package in &packages[1..] {
            assert_eq!(package["version"], *release.version);
        }
        for package in packages {
            assert_eq!(package["transport"]["type"], "stdio");
        }
        assert_eq!(server["name"], "com.example/jp");
    }
}
