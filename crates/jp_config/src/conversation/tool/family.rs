//! All tools of an MCP server by one entry: `[conversation.tools."files_*"]` with `source = "mcp.files"`.

use super::{ToolConfig, ToolConfigWithDefaults, ToolSource, ToolsConfig};

/// Stands for the name that a tool has on its server.
const ANY: char = '*';

/// An entry that stands for all tools of a server.
#[derive(Debug, Clone, Copy)]
pub struct Family<'a> {
    /// Its key: the id of each tool, with `*` for the tool's name on the server.
    pub key: &'a str,
    /// The server's id.
    pub server: &'a str,
    config: &'a ToolConfig,
}

impl Family<'_> {
    /// Returns the id of a tool of the server.
    #[must_use]
    pub fn id(&self, tool: &str) -> String {
        self.key.replacen(ANY, tool, 1)
    }

    /// Returns the name on the server of the tool with this id, if the id is one of this entry's.
    #[must_use]
    pub fn tool<'i>(&self, id: &'i str) -> Option<&'i str> {
        let (before, after) = self.key.split_once(ANY)?;
        let tool = id.strip_prefix(before)?.strip_suffix(after)?;
        (!tool.is_empty()).then_some(tool)
    }

    /// Returns what the entry says of one tool.
    fn of(&self, tool: &str) -> ToolConfig {
        ToolConfig {
            source: ToolSource::Mcp {
                server: self.server.to_owned(),
                tool: Some(tool.to_owned()),
            },
            ..self.config.clone()
        }
    }
}

/// Tells whether a key stands for several tools.
#[must_use]
pub(crate) fn is_pattern(key: &str) -> bool {
    key.contains(ANY)
}

/// Says what is wrong with an entry whose key stands for several tools.
pub(crate) fn check(key: &str, tool: &ToolConfig) -> Option<(&'static [&'static str], String)> {
    if !is_pattern(key) {
        return None;
    }
    if key.matches(ANY).count() > 1 {
        let message = "expected one `*`, which stands for the name of each tool on its server";
        return Some((&[], message.to_owned()));
    }
    if !matches!(&tool.source, ToolSource::Mcp { tool: None, .. }) {
        let message = "a key with `*` stands for all tools of a server: expected `mcp.<server>`";
        return Some((&["source"], message.to_owned()));
    }
    let of_one: [(&[&str], bool); 4] = [
        (&["summary"], tool.summary.is_some()),
        (&["description"], tool.description.is_some()),
        (&["examples"], tool.examples.is_some()),
        (&["parameters"], !tool.parameters.is_empty()),
    ];
    let (path, _) = of_one.into_iter().find(|(_, is_set)| *is_set)?;
    let message = "speaks of one tool: give that tool an entry of its own";
    Some((path, message.to_owned()))
}

impl ToolsConfig {
    /// Returns the entries that stand for all tools of a server, in the order of the files.
    pub fn families(&self) -> impl Iterator<Item = Family<'_>> {
        self.tools.iter().filter_map(|(key, config)| {
            let ToolSource::Mcp { server, tool: None } = &config.source else {
                return None;
            };
            is_pattern(key).then_some(Family {
                key,
                server,
                config,
            })
        })
    }

    /// Returns the entry that stands for the tool with this id among others. Of several it is the one
    /// whose key says most.
    #[must_use]
    pub fn family_of(&self, id: &str) -> Option<Family<'_>> {
        let all = self.families().filter(|family| family.tool(id).is_some());
        all.max_by_key(|family| family.key.len())
    }

    /// Returns what an entry for all tools of a server says of the tool with this id, together with what
    /// holds for all tools.
    #[must_use]
    pub fn get_of_family(&self, id: &str) -> Option<ToolConfigWithDefaults> {
        let family = self.family_of(id)?;
        let tool = family.of(family.tool(id)?);
        Some(ToolConfigWithDefaults::new(tool, self.defaults.clone()))
    }

    /// Returns a tool together with what holds for all tools, whichever entry it is configured by.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<ToolConfigWithDefaults> {
        self.get(id).or_else(|| self.get_of_family(id))
    }

    /// Tells whether a tool of a server has an entry of its own, under whatever id.
    #[must_use]
    pub fn names(&self, server: &str, tool: &str) -> bool {
        self.tools.iter().any(|(id, config)| match &config.source {
            ToolSource::Mcp {
                server: of,
                tool: called,
            } => of == server && !is_pattern(id) && called.as_deref().unwrap_or(id) == tool,
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(text: &str) -> ToolsConfig {
        let value: serde_json::Value = toml::from_str(text).unwrap();
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_id_is_the_key_with_the_name_of_the_tool() {
        let tools = tools(
            "'*' = { run = 'ask' }\n'gh_*' = { source = 'mcp.gh' }\n'gh_issue_*' = { source = 'mcp.issues' }\n\
             find = { source = 'mcp.gh.search' }\n'of' = { source = 'mcp.gh' }",
        );
        let keys: Vec<&str> = tools.families().map(|family| family.key).collect();
        assert_eq!(keys, ["gh_*", "gh_issue_*"]);
        let source = |id: &str| Some(tools.find(id)?.source().to_string());
        for (id, expected) in [
            ("gh_read", Some("mcp.gh.read")),
            ("gh_issue_read", Some("mcp.issues.read")),
            ("gh_", None),
            ("gh", None),
            ("find", Some("mcp.gh.search")),
        ] {
            assert_eq!(source(id).as_deref(), expected, "{id}");
        }
        assert!(tools.names("gh", "search") && tools.names("gh", "of"));
        assert!(!tools.names("gh", "gh_*") && !tools.names("gh", "find"));
    }
}
