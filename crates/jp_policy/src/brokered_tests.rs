//! Tests of brokered names.

use alloc::string::ToString;

use proptest::prelude::*;

use super::*;
use crate::testing::{all_names, any_brokered};

fn name(text: &str) -> BrokeredName {
    text.parse().unwrap()
}

fn set(names: &[&str]) -> Brokered {
    Brokered::new(names.iter().map(|text| name(text)))
}

#[test]
fn names_are_words_joined_by_dots() {
    for good in [
        "clock.now_unix",
        "kv.sqlite.todo.*",
        "secrets.get.github_pat",
        "llm.*",
    ] {
        assert_eq!(name(good).to_string(), good);
    }
    for bad in [
        "", "clock", "**", "*.a", ".", "a.", ".a", "a..b", "a.*.b", "a.b*", "A.b", "a.b c",
        "a.b\n", "a.é",
    ] {
        assert!(bad.parse::<BrokeredName>().is_err(), "{bad:?}");
    }
    let long = "a.".repeat(64) + "b";
    assert!(long.parse::<BrokeredName>().is_err());
}

#[test]
fn a_bare_name_opens_nothing_below_it() {
    let bare = set(&["secrets.get"]);
    assert!(!bare.allows(&name("secrets.get.github_pat")));
    let all = set(&["secrets.get.*"]);
    assert!(all.allows(&name("secrets.get.github_pat")));
    assert!(!all.allows(&name("secrets.get")));
    assert!(!all.allows(&name("secrets.getting.it")));
}

#[test]
fn everything_is_everything_but_secrets() {
    let all = set(&["*"]);
    assert!(all.allows(&name("kv.sqlite.todo.list")) && all.allows(&name("kv.*")));
    assert!(!all.allows(&name("secrets.get.github_pat")) && !all.allows(&name("secrets.*")));
    assert_eq!(
        all.intersect(&set(&["secrets.*", "a.b"])).to_string(),
        "a.b"
    );
}

#[test]
fn what_others_cover_is_left_out() {
    assert_eq!(set(&["a.b.*", "a.b.c", "a.c"]).to_string(), "a.b.*,a.c");
}

proptest! {
    #[test]
    fn an_intersection_allows_what_both_allow(left in any_brokered(), right in any_brokered()) {
        let both = left.intersect(&right);
        let wide = ["a.*", "a.a.*", "b.*"].iter().map(|text| name(text));
        for name in all_names().into_iter().chain(wide) {
            prop_assert_eq!(both.allows(&name), left.allows(&name) && right.allows(&name), "{}", name);
        }
        prop_assert!(left.missing(&both).is_none() && right.missing(&both).is_none());
    }
}
