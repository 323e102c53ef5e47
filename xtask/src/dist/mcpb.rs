//! The bundle that desktop clients open with a double click: an `.mcpb`, whose manifest is of version 0.4.

use anyhow::Result;
use serde_json::{Value, json};

use super::archive::{self, Entry};
use super::release::{AUTHORS, GRANT, LICENSE, Release, SUMMARY};

const PROGRAM: &str = "server/jp";

/// Returns the name of the file. A manifest cannot say which processor it is for.
pub(super) fn file_name(release: &Release) -> String {
    let machine = release.needs.machine.node();
    format!("jp-{}-linux-{machine}.mcpb", release.version)
}

/// Packs the bundle.
pub(super) fn pack(release: &Release) -> Result<Vec<u8>> {
    let manifest = serde_json::to_string_pretty(&manifest(release))?;
    let mut entries = vec![
        Entry::text("manifest.json", manifest + "\n"),
        Entry::program(PROGRAM, &release.program),
    ];
    entries.extend(release.licenses(""));
    archive::zip(&entries, release.effort)
}

fn manifest(release: &Release) -> Value {
    let mut arguments = vec!["serve", "--directory", "${user_config.directory}"];
    for assignment in GRANT {
        arguments.extend(["--cfg", assignment]);
    }
    json!({
        "manifest_version": "0.4",
        "name": "jp",
        "display_name": "jp",
        "version": release.version,
        "description": SUMMARY,
        "long_description": "A virtual bash that reads one directory and nothing else, and every tool that \
            the directory's own configuration brings, each with the grant that you allow, under limits, with a \
            record of every call.",
        "author": {"name": AUTHORS},
        "license": LICENSE,
        "keywords": ["bash", "sandbox", "tools"],
        "server": {
            "type": "binary",
            "entry_point": PROGRAM,
            "mcp_config": {
                "command": format!("${{__dirname}}/{PROGRAM}"),
                "args": arguments,
                "env": {},
            },
        },
        // Which there are depends on the directory.
        "tools_generated": true,
        "prompts_generated": true,
        "compatibility": {"platforms": ["linux"]},
        "user_config": {
            "directory": {
                "type": "directory",
                "title": "Directory",
                "description": "The files that tools may read. Not your home directory: pick a project.",
                "required": true,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_that_is_picked_becomes_the_workspace_and_its_grant() {
        let manifest = manifest(&Release::sample());
        let arguments = &manifest["server"]["mcp_config"]["args"];
        assert_eq!(arguments[0], "serve");
        assert_eq!(arguments[1], "--directory");
        assert_eq!(arguments[2], "${user_config.directory}");
        let words = arguments.to_string();
        assert!(words.contains("bash.grant.workspace=read\""), "{words}");
        assert_eq!(manifest["user_config"]["directory"]["type"], "directory");
        assert_eq!(manifest["server"]["entry_point"], PROGRAM);
    }
}
