//! What is true of a tool, for clients that decide by it whether to ask: derived from the grant that a
//! call would get, never from what the tool says of itself.

use jp_llm::Facts;
use jp_policy::Capabilities;
use rmcp::model::ToolAnnotations;

/// Returns what the grant of a tool proves. Without a grant nothing is proven, and the protocol's own
/// cautious defaults hold. `jp why` shows the proof.
pub(crate) fn of(grant: Option<&Capabilities>) -> Option<ToolAnnotations> {
    let facts = Facts::of(grant?);
    let read_only = facts.read_only.holds;
    let hints = ToolAnnotations::new()
        .read_only(read_only)
        .open_world(facts.open_world.holds);
    // The rest says something only of tools that may change things.
    Some(match read_only {
        true => hints,
        false => hints.destructive(true),
    })
}

#[cfg(test)]
mod tests {
    use jp_policy::{Access, Brokered, Files, GuestPath, HostPattern, Net};

    use super::*;

    fn files(path: &str, access: Access) -> Capabilities {
        Capabilities {
            files: Files::one(GuestPath::new(path).unwrap(), access),
            ..Capabilities::default()
        }
    }

    fn brokered(name: &str) -> Capabilities {
        Capabilities {
            brokered: Brokered::new([name.parse().unwrap()]),
            ..Capabilities::default()
        }
    }

    fn net() -> Capabilities {
        let pattern: HostPattern = "api.example.com".parse().unwrap();
        Capabilities {
            net: Net::hosts([pattern]),
            ..Capabilities::default()
        }
    }

    #[test]
    fn annotations_follow_from_the_grant() {
        let command = Capabilities {
            subprocess: true,
            ..Capabilities::default()
        };
        for (grant, read_only, open_world) in [
            (Capabilities::default(), true, false),
            (files("/workspace", Access::Read), true, false),
            (files("/workspace", Access::ReadWrite), false, false),
            (files("/tmp", Access::ReadWrite), true, false),
            (brokered("clock.now_unix"), true, false),
            (brokered("kv.sqlite.todo.*"), false, false),
            (brokered("http.request"), false, true),
            (brokered("*"), false, true),
            (net(), false, true),
            (command, false, true),
        ] {
            let facts = of(Some(&grant)).unwrap();
            let found = (facts.read_only_hint, facts.open_world_hint);
            assert_eq!(found, (Some(read_only), Some(open_world)), "{grant:?}");
            assert_eq!(facts.destructive_hint, (!read_only).then_some(true));
        }
    }

    #[test]
    fn a_tool_that_gets_no_grant_has_no_facts() {
        assert_eq!(of(None), None);
    }
}
