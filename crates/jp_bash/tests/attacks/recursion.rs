//! Nesting without end: functions, substitutions, syntax, files and aliases that come back to themselves.

use jp_bash::Limit;

use crate::support::{attack, attack_deep, attack_within, tight};

#[test]
fn a01_a_fork_bomb_stops_at_a_limit() {
    attack("echo before; :(){ :|:& };:; wait")
        .stops_at_any(&[Limit::Depth, Limit::Files, Limit::Commands])
        .begins("before\n");
}

#[test]
fn a01_a_fork_bomb_of_other_shapes_stops_at_a_limit() {
    for script in [
        "f(){ f & f & wait; }; f",
        "f(){ f | f; }; f",
        "f(){ (f); (f); }; f",
        "f(){ : $(f) $(f); }; f",
        "f(){ cat <(f) <(f); }; f",
        "f(){ coproc f; wait; }; f",
        "f(){ bash -c f; }; export -f f; f",
        "while :; do sleep 100 & done",
    ] {
        attack_deep(script).stops_at_any(&[
            Limit::Depth,
            Limit::Files,
            Limit::Commands,
            Limit::Loops,
        ]);
    }
}

#[test]
fn a02_a_function_that_calls_itself_stops_at_the_depth_limit() {
    attack_deep("echo before; f(){ f; }; f")
        .stops_at(Limit::Depth)
        .prints("before\n");
}

#[test]
fn a02_recursion_of_every_kind_stops_at_the_depth_limit() {
    for script in [
        "f(){ local x=$1; if :; then for i in 1; do case x in *) { f $((x+1)); } ;; esac; done; fi; }; f 0",
        "f(){ g; }; g(){ f; }; f",
        "f(){ eval f; }; f",
        "f(){ echo $(f); }; f",
        "f(){ [[ $(f) ]]; }; f",
        "f(){ x=${y:-$(f)}; }; f",
        "f(){ (( $(f) )); }; f",
        "f(){ cat <<< $(f); }; f",
        "f(){ cat <<E\n$(f)\nE\n}; f",
        "f(){ echo x | f; }; f",
        "f(){ trap f EXIT; (f); }; f",
        "f(){ command eval f; }; f",
        "f(){ builtin eval f; }; f",
        "command_not_found_handle(){ nothing_here; }; nothing_here",
    ] {
        attack_deep(script).stops_at_any(&[Limit::Depth, Limit::Files]);
    }
}

#[test]
fn a02_deep_recursion_is_the_budgets_business_and_not_the_stacks() {
    let bounds = jp_bash::Bounds {
        depth: 5_000,
        ..tight()
    };
    attack_within(
        bounds,
        "f(){ if (($1)); then f $(($1-1)); else echo bottom; fi; }; f 4000",
    )
    .exits(0)
    .prints("bottom\n");
}

#[test]
fn a03_command_substitutions_nest_as_deep_as_the_limit_allows() {
    let nested = |n: usize| format!("{}echo hi{}", "echo $(".repeat(n), ")".repeat(n));
    attack_deep(&nested(60)).exits(0).prints("hi\n");
    attack_deep(&nested(20_000)).stops_at(Limit::Depth);
    let ticks = |n: usize| {
        let mut text = "echo hi".to_owned();
        for _ in 0..n {
            text = format!("echo `{}`", text.replace('\\', "\\\\").replace('`', "\\`"));
        }
        text
    };
    attack_deep(&ticks(8)).exits(0).prints("hi\n");
}

#[test]
fn a04_subshells_nest_as_deep_as_the_limit_allows() {
    let nested = |n: usize| format!("{}echo hi{}", "( ".repeat(n), " )".repeat(n));
    attack_deep(&nested(60)).exits(0).prints("hi\n");
    attack_deep(&nested(20_000)).stops_at(Limit::Depth);
    let tight = |n: usize| format!("{}echo hi{}", "(".repeat(n), ")".repeat(n));
    attack_deep(&tight(60));
    attack_deep(&tight(20_000));
}

#[test]
fn a05_compound_commands_nest_as_deep_as_the_limit_allows() {
    let nested =
        |n: usize, open: &str, close: &str| format!("{}echo hi{}", open.repeat(n), close.repeat(n));
    attack_deep(&nested(100, "if true; then ", "; fi"))
        .exits(0)
        .prints("hi\n");
    for (open, close) in [
        ("if true; then ", "; fi"),
        ("{ ", "; }"),
        ("while :; do ", "; break; done"),
        ("for i in 1; do ", "; done"),
        ("case x in x) ", ";; esac"),
        ("! ", ""),
        ("f() ", ""),
        ("time ", ""),
    ] {
        let outcome = attack_deep(&nested(20_000, open, close));
        assert!(
            outcome.result.exit_code != 0 || matches!(open, "! " | "time "),
            "{outcome}"
        );
    }
}

#[test]
fn f67_words_nest_as_deep_as_the_limit_allows() {
    let n = 20_000;
    for (open, middle, close) in [
        ("${a:-", "x", "}"),
        ("\"${a:-", "x", "}\""),
        ("${a[", "0", "]}"),
        ("$((", "1", "))"),
        ("<(", ":", ")"),
        ("@(", "x", ")"),
        ("{a,", "b", "}"),
        ("$(cat <<E\n", "x", "\nE\n)"),
    ] {
        let word = format!("{}{middle}{}", open.repeat(n), close.repeat(n));
        for script in [
            format!("echo {word}"),
            format!("shopt -s extglob\n[[ x == {word} ]]"),
            format!("x={word}"),
            format!("cat <<E\n{word}\nE"),
            format!("a=({word})"),
            format!("case {word} in {word}) ;; esac"),
        ] {
            attack_deep(&script);
        }
    }
    let tests = format!("[[ {} x {} ]]", "( ".repeat(n), " )".repeat(n));
    attack_deep(&tests);
    attack_deep(&format!("[[ {} x ]]", "! ".repeat(n)));
    attack_deep(&format!("test {} x {}", "\\( ".repeat(n), "\\) ".repeat(n)));
    attack_deep(&format!("test {} x", "! ".repeat(n)));
}

#[test]
fn f67_nesting_in_text_that_is_parsed_while_running_stops_too() {
    let n = 20_000;
    for script in [
        format!("x='{}'; eval \"$x\"", "( ".repeat(n)),
        format!("x='{}1{}'; echo $((x))", "(".repeat(n), ")".repeat(n)),
        format!("x='{}1'; echo $((x))", "-".repeat(n)),
        format!("x='{}1'; echo $((x))", "1?".repeat(n)),
        format!("x='{}1'; echo $((x))", "1**".repeat(n)),
        format!("x='{}1'; echo $((x))", "a=".repeat(n)),
        format!("x='{}0{}'; echo $((x))", "a[".repeat(n), "]".repeat(n)),
        format!(
            "x='{}x{}'; echo \"${{x@P}}\"",
            "${a:-".repeat(n),
            "}".repeat(n)
        ),
        format!("unset '{}0{}'", "a[".repeat(n), "]".repeat(n)),
        format!("read '{}0{}' <<< x", "a[".repeat(n), "]".repeat(n)),
        format!("declare '{}0{}=1'", "a[".repeat(n), "]".repeat(n)),
        format!("printf -v '{}0{}' x", "a[".repeat(n), "]".repeat(n)),
        format!("[[ -v '{}0{}' ]]", "a[".repeat(n), "]".repeat(n)),
        format!("f() {{ eval '{}:'; }}; f", "f() ".repeat(n)),
        format!("trap '{}' EXIT", "( ".repeat(n)),
        format!("alias a='{}'; shopt -s expand_aliases\na", "( ".repeat(n)),
    ] {
        attack_deep(&script);
    }
}

#[test]
fn f67_deep_syntax_within_deep_calls_does_not_meet_the_end_of_the_stack() {
    let deep = "( ".repeat(140) + ":" + &" )".repeat(140);
    attack_deep(&format!(
        "f(){{ if (($1)); then f $(($1-1)); else eval '{deep}'; fi; }}; for n in 10 50 90 120 140; do f $n; done"
    ));
    let words = "${a:-".repeat(450) + "x" + &"}".repeat(450);
    attack_deep(&format!(
        "f(){{ if (($1)); then f $(($1-1)); else eval 'echo {words}'; fi; }}; for n in 10 50 90 120 140; do f $n; done"
    ));
    for command in [
        format!(
            "awk 'BEGIN{{print {}1{}}}'",
            "(".repeat(150),
            ")".repeat(150)
        ),
        format!("jq -n '{}1{}'", "[".repeat(150), "]".repeat(150)),
        format!("grep -E '{}a{}' <<< a", "(".repeat(150), ")".repeat(150)),
        format!("sed '{}p{}' <<< a", "{".repeat(150), "}".repeat(150)),
        "find . -name x".to_owned(),
    ] {
        let command = command.replace('\'', "'\\''");
        attack_deep(&format!(
            "f(){{ if (($1)); then f $(($1-1)); else eval '{command}'; fi; }}; for n in 5 50 100 140; do f $n; done"
        ));
    }
}

#[test]
fn a27_a_file_that_sources_itself_stops_at_the_depth_limit() {
    attack_deep("echo '. ./f' > f; . ./f").stops_at(Limit::Depth);
    attack_deep("printf '%s\\n' '#!/bin/bash' 'bash $0' > f; chmod +x f; ./f")
        .stops_at_any(&[Limit::Depth, Limit::Files]);
    attack_deep("printf '%s\\n' '#!/bin/bash' './f' > f; chmod +x f; ./f")
        .stops_at_any(&[Limit::Depth, Limit::Files]);
    attack_deep("x='eval \"$x\"'; eval \"$x\"").stops_at(Limit::Depth);
    attack_deep("printf '#!./f\\n' > f; chmod +x f; ./f");
}

#[test]
fn a28_aliases_that_name_each_other_end() {
    attack("shopt -s expand_aliases\nalias a=b b=a\na")
        .exits(127)
        .says("a: command not found");
    attack("shopt -s expand_aliases\nalias a='a a ' b='a b '\na b");
    let many: String = (0..2000)
        .map(|n| format!("alias a{n}='a{0} a{0} '\n", n + 1))
        .collect();
    attack(&format!("shopt -s expand_aliases\n{many}\na0"));
}

#[test]
fn a29_traps_that_call_themselves_end() {
    attack("trap 'eval :' EXIT; echo x").exits(0).prints("x\n");
    attack("trap 'trap \"echo in\" EXIT; echo out' EXIT");
    attack("trap 'echo debug; :; :' DEBUG; :; :");
    attack("trap 'false' ERR; false").exits(1);
    attack("f(){ false; }; trap f ERR; set -E; false");
    attack("trap 'kill -USR1 $$' USR1; kill -USR1 $$; echo end").stops_at_any(&[
        Limit::Depth,
        Limit::Commands,
        Limit::Loops,
        Limit::Time,
    ]);
    attack("trap 'exit 1' EXIT; exit 2").exits(1);
    attack("trap 'f' DEBUG; f(){ :; }; set -T; shopt -s extdebug; f; f");
    attack("trap 'return 1' RETURN; f(){ :; }; f; echo $?");
    attack("trap '(kill -9 $$)' EXIT; echo x");
    attack("f(){ trap f EXIT; exit; }; f");
}

#[test]
fn a42_a_prompt_that_names_itself_ends() {
    attack_deep("x='${x@P}'; echo \"${x@P}\"").stops_at(Limit::Depth);
    attack_deep("x='$(echo \"${x@P}\")'; echo \"${x@P}\"")
        .stops_at_any(&[Limit::Depth, Limit::Files]);
    attack_deep("(PS4='$(echo x)'; set -x; :)");
}

#[test]
fn a43_namerefs_that_name_each_other_end() {
    attack("declare -n a=b b=a; echo $a; a=1; echo end")
        .begins("")
        .says("circular name reference");
    attack("declare -n a=a; echo $? end").prints("1 end\n");
    attack("f(){ local -n x=x; x=1; }; f; echo end").says("circular name reference");
    let chain: String = (0..3000)
        .map(|n| format!("declare -n a{n}=a{}\n", n + 1))
        .collect();
    attack_deep(&format!("{chain}echo $a0; a0=1; echo end"));
    attack_deep("declare -n a='b[a]' b='a[b]'; echo $a; a=1; echo end");
}

#[test]
fn a46_no_kind_of_nesting_starts_the_budget_anew() {
    let loops = |inner: &str| format!("for i in {{1..100}}; do {inner}; done");
    let burn = "for j in {1..500}; do :; done";
    for nested in [
        format!("eval '{burn}'"),
        format!("bash -c '{burn}'"),
        format!(". <(echo '{burn}')"),
        format!("cat <({burn})"),
        format!("({burn})"),
        format!("x=$({burn})"),
        format!("{burn} | cat"),
        format!("xargs -n1 bash -c '{burn}' <<< a"),
        format!("find / -maxdepth 0 -exec bash -c '{burn}' ';'"),
        format!("awk 'BEGIN {{ system(\"bash -c \\047{burn}\\047\") }}'"),
        format!("env bash -c '{burn}'"),
        format!("timeout 50 bash -c '{burn}'"),
        format!("{{ coproc {{ {burn}; }}; wait; }} 2> /dev/null"),
        format!("({burn}) & wait"),
    ] {
        attack(&loops(&nested)).stops_at(Limit::Commands);
    }
    attack("trap 'for j in {1..500}; do :; done' DEBUG; for i in {1..100}; do :; done")
        .stops_at(Limit::Commands);
}
