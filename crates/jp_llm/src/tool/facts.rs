//! What is true of a tool, for clients that decide by it whether to ask a person: derived from the grant
//! that a call would get, never from what the tool says of itself.

use jp_policy::{Capabilities, Capability};

/// What a grant proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Nothing that outlives a call can be changed.
    pub read_only: Fact,
    /// Something outside of this machine can be reached.
    pub open_world: Fact,
}

/// Something that holds of a tool or does not, and what of its grant proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Whether it holds.
    pub holds: bool,
    /// What of the grant changes something, or reaches out. Where there is nothing, that is the proof.
    pub because: Vec<Capability>,
}

impl Facts {
    /// Derives them from what a call may do.
    #[must_use]
    pub fn of(grant: &Capabilities) -> Self {
        let those = |is_harmless: fn(&Capabilities) -> bool| {
            let all = grant.each().into_iter();
            all.filter(|one| !is_harmless(&Capabilities::only(one)))
                .collect()
        };
        Self {
            read_only: Fact {
                holds: grant.changes_nothing(),
                because: those(Capabilities::changes_nothing),
            },
            open_world: Fact {
                holds: !grant.stays_here(),
                because: those(Capabilities::stays_here),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use jp_policy::{Access, Brokered, Files, GuestPath, Net};

    use super::*;

    #[test]
    fn a_fact_names_what_proves_it() {
        let grant = Capabilities {
            files: Files::one(GuestPath::new("/workspace").unwrap(), Access::ReadWrite),
            net: Net::hosts(["api.example.com".parse().unwrap()]),
            brokered: Brokered::new(["clock.now_unix".parse().unwrap()]),
            ..Capabilities::default()
        };
        let facts = Facts::of(&grant);
        let words = |fact: &Fact| -> Vec<String> {
            let because = fact.because.iter();
            because.map(Capability::words).collect()
        };
        assert!(!facts.read_only.holds && facts.open_world.holds);
        assert_eq!(
            words(&facts.read_only),
            ["read and change this workspace", "reach api.example.com"]
        );
        assert_eq!(words(&facts.open_world), ["reach api.example.com"]);
    }

    #[test]
    fn what_is_proven_of_the_parts_is_proven_of_the_whole() {
        let all: [&[&str]; 6] = [
            &[],
            &["clock.*"],
            &["clock.now_unix", "secrets.get.a"],
            &["kv.sqlite.*"],
            &["clock.*", "http.request"],
            &["*"],
        ];
        for names in all {
            let grant = Capabilities {
                brokered: Brokered::new(names.iter().map(|name| name.parse().unwrap())),
                ..Capabilities::default()
            };
            let facts = Facts::of(&grant);
            assert_eq!(facts.read_only.holds, facts.read_only.because.is_empty());
            assert_eq!(facts.open_world.holds, !facts.open_world.because.is_empty());
        }
    }
}
