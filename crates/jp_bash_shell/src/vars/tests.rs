//! Variables through marks, scopes and copies.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jp_bash_system::{Bounds, Limit};

use super::scope::ScopeKind;
use super::*;

struct Table {
    vars: Vars,
    names: Names,
    budget: Budget,
}

impl Table {
    fn new(memory: u64) -> Self {
        let mut names = Names::default();
        Self {
            vars: Vars::new(&mut names),
            names,
            budget: Budget::new(
                Bounds {
                    memory,
                    ..Bounds::default()
                },
                Arc::new(AtomicBool::new(false)),
                Arc::new(|| Duration::ZERO),
            ),
        }
    }
    fn name(&mut self, text: &str) -> Name {
        self.names.intern(text.as_bytes())
    }
    fn set(&mut self, name: &str, text: &str) {
        let name = self.name(name);
        self.vars
            .set(&self.budget, name, Bytes::from(text.as_bytes()))
            .unwrap();
    }
    fn get(&mut self, name: &str) -> Option<String> {
        let name = self.name(name);
        self.vars
            .text(name)
            .map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

#[test]
fn a_subshells_changes_are_undone() {
    let mut t = Table::new(1 << 20);
    t.set("x", "1");
    t.set("long", &"a".repeat(100));
    let outer = t.vars.mark();
    t.set("x", "2");
    t.set("new", "n");
    let long = t.name("long");
    t.vars.append(&t.budget, long, b"b").unwrap();
    let inner = t.vars.mark();
    t.set("x", "3");
    let x = t.name("x");
    t.vars.unset(&t.budget, x).unwrap();
    t.vars.unwind(&t.budget, inner);
    assert_eq!(t.get("x").as_deref(), Some("2"));
    t.set("x", "4");
    t.vars.unwind(&t.budget, outer);
    assert_eq!(t.get("x").as_deref(), Some("1"));
    assert_eq!(t.get("new"), None);
    assert_eq!(t.get("long").unwrap().len(), 100);
}

#[test]
fn locals_hide_and_come_back_also_across_a_subshell() {
    let mut t = Table::new(1 << 20);
    t.set("x", "global");
    let x = t.name("x");
    t.vars.push_scope(ScopeKind::Function);
    let scope = t.vars.function_scope().unwrap();
    assert!(t.vars.hide(&t.budget, x, scope).unwrap());
    assert_eq!(t.get("x"), None);
    t.set("x", "local");
    let mark = t.vars.mark();
    t.vars.push_scope(ScopeKind::Function);
    t.vars.hide(&t.budget, x, 2).unwrap();
    t.set("x", "inner");
    t.vars.unwind(&t.budget, mark);
    assert_eq!(t.get("x").as_deref(), Some("local"));
    t.vars.pop_scope(&t.budget);
    assert_eq!(t.get("x").as_deref(), Some("global"));
}

#[test]
fn unset_in_a_called_function_reveals_the_callers_variable() {
    let mut t = Table::new(1 << 20);
    t.set("x", "global");
    let x = t.name("x");
    t.vars.push_scope(ScopeKind::Function);
    t.vars.hide(&t.budget, x, 1).unwrap();
    t.set("x", "local");
    t.vars.push_scope(ScopeKind::Function);
    t.vars.unset(&t.budget, x).unwrap();
    assert_eq!(t.get("x").as_deref(), Some("global"));
    t.set("x", "changed");
    t.vars.pop_scope(&t.budget);
    t.vars.pop_scope(&t.budget);
    assert_eq!(t.get("x").as_deref(), Some("changed"));
}

#[test]
fn doubling_stops_at_the_memory_limit() {
    let mut t = Table::new(1 << 20);
    t.set("x", "0123456789");
    let x = t.name("x");
    let stopped = (0..40).find_map(|_| {
        let text = t.vars.text(x).unwrap().to_vec();
        t.vars.append(&t.budget, x, &text).err()
    });
    assert_eq!(stopped, Some(Stop::Limit(Limit::Memory)));
}

#[test]
fn replacing_long_texts_many_times_holds_only_one() {
    let mut t = Table::new(1 << 20);
    for i in 0..1000 {
        let text = format!("{i:0>5000}");
        t.set("x", &text);
        let mark = t.vars.mark();
        t.set("x", &text);
        t.set("x", &text);
        t.vars.unwind(&t.budget, mark);
        t.vars.push_scope(ScopeKind::Function);
        let x = t.name("x");
        t.vars.hide(&t.budget, x, 1).unwrap();
        t.set("x", &text);
        t.vars.pop_scope(&t.budget);
    }
}

#[test]
fn arrays_grow_one_by_one_without_copying() {
    let mut t = Table::new(64 << 20);
    let a = t.name("a");
    for i in 0..100_000 {
        t.vars
            .set_index(&t.budget, a, i, Bytes::from(&b"x"[..]))
            .unwrap();
    }
    let mut fork = t.vars.fork();
    fork.set_index(&t.budget, a, 0, Bytes::EMPTY).unwrap();
    fork.discard(&t.budget);
    assert_eq!(t.get("a").as_deref(), Some("x"));
}
