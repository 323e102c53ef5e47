//! No grant exceeds any of the three sides, and every refusal says what is missing.

use alloc::string::{String, ToString};

use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::{
    Access, Ambient, Brokered, Limit, Net,
    testing::{any_capabilities, any_ceilings, host, is_pointwise_within, path},
};

pub(super) fn any_policy() -> impl Strategy<Value = Policy> {
    let parts = (any_capabilities(), any_ceilings());
    parts.prop_map(|(capabilities, ceilings)| Policy {
        capabilities,
        ceilings,
    })
}

pub(super) fn any_request() -> impl Strategy<Value = Request> {
    let small = || option::weighted(0.3, 0_u64..2_000_000);
    let limits = (small(), small(), small(), small());
    let fuel = option::of(1_u64..2_000_000_000);
    (any_capabilities(), limits, fuel).prop_map(|(capabilities, limits, default_fuel)| {
        let (memory, time_ms, fuel, output) = limits;
        let limits = LimitsRequest {
            memory,
            time_ms,
            fuel,
            output,
        };
        Request {
            capabilities,
            limits,
            default_fuel,
            ..Request::default()
        }
    })
}

/// Narrows a request to what both policies allow, so that a grant is likely.
pub(super) fn narrowed(host: &Policy, app: &Policy, tool: &Request) -> Request {
    let both = host.capabilities.intersect(&app.capabilities);
    let capabilities = tool.capabilities.intersect(&both);
    Request {
        capabilities,
        ..tool.clone()
    }
}

pub(super) fn widened(policy: &Policy, more: &Policy) -> Policy {
    let (a, b) = (&policy.capabilities, &more.capabilities);
    let net = match (&a.net, &b.net) {
        (Net::Any, _) | (_, Net::Any) => Net::Any,
        (Net::Hosts(a), Net::Hosts(b)) => Net::Hosts(a.union(b).cloned().collect()),
        (Net::None, net) | (net, Net::None) => net.clone(),
    };
    let rules = a.files.rules().iter().chain(b.files.rules()).cloned();
    let (c, d) = (&policy.ceilings, &more.ceilings);
    Policy {
        capabilities: Capabilities {
            files: crate::Files::new(rules),
            net,
            subprocess: a.subprocess || b.subprocess,
            brokered: Brokered::new(a.brokered.names().chain(b.brokered.names()).cloned()),
            selected: a.selected.max(b.selected),
            env: a.env.union(&b.env).cloned().collect(),
            ambient: Ambient {
                clocks: a.ambient.clocks || b.ambient.clocks,
                random: a.ambient.random || b.ambient.random,
                stdio: a.ambient.stdio || b.ambient.stdio,
            },
        },
        ceilings: Ceilings {
            memory_bytes: c.memory_bytes.max(d.memory_bytes),
            time: c.time.max(d.time),
            fuel: c.fuel.max(d.fuel),
            output_bytes: c.output_bytes.max(d.output_bytes),
        },
    }
}

fn is_within_ceilings(limits: &Limits, ceilings: &Ceilings) -> bool {
    // Without a lowered ceiling on fuel, work may be left to the time limit.
    let free = ceilings.fuel == Ceilings::default().fuel;
    limits.fuel.map_or(free, |fuel| fuel <= ceilings.fuel)
        && limits.memory_bytes <= ceilings.memory_bytes
        && limits.time <= ceilings.time
        && limits.output_bytes <= ceilings.output_bytes
        && limits.open_files == 32
}

fn is_within_request(limits: &Limits, tool: &Request) -> bool {
    let asked = &tool.limits;
    let ms = |ms| limits.time <= core::time::Duration::from_millis(ms);
    let fuel = |most| limits.fuel.is_some_and(|fuel| fuel <= most);
    asked.memory.is_none_or(|most| limits.memory_bytes <= most)
        && asked.time_ms.is_none_or(ms)
        && asked.fuel.or(tool.default_fuel).is_none_or(fuel)
        && asked.output.is_none_or(|most| limits.output_bytes <= most)
}

fn wanting(capabilities: Capabilities) -> Request {
    Request {
        capabilities,
        ..Request::default()
    }
}

pub(super) fn allowing(capabilities: Capabilities) -> Policy {
    Policy {
        capabilities,
        ..Policy::default()
    }
}

fn denial(
    host: &Capabilities,
    app: &Capabilities,
    tool: &Capabilities,
) -> (String, Option<String>) {
    let (host, app) = (allowing(host.clone()), allowing(app.clone()));
    let denied = compose(&host, &app, &wanting(tool.clone())).unwrap_err();
    (denied.to_string(), denied.setting())
}

#[test]
fn nothing_asked_of_nothing_is_an_empty_grant_with_default_limits() {
    let grant = compose(&Policy::default(), &Policy::default(), &Request::default()).unwrap();
    assert_eq!(grant.capabilities(), &Capabilities::default());
    assert_eq!(grant.limits(), &Limits::default());
}

#[test]
fn a_denial_names_the_side_the_capability_and_the_line_to_add() {
    let none = Capabilities::default();
    let read = none.clone().with_files(path("/data"), Access::Read);
    let write = none.clone().with_files(path("/data"), Access::ReadWrite);
    let secret = none.clone().with_files(path("/data-secret"), Access::Read);
    let net = |net| Capabilities {
        net,
        ..Capabilities::default()
    };
    let one = net(Net::hosts([host("a.example:80")]));
    let exec = Capabilities {
        subprocess: true,
        ..none.clone()
    };
    let cases = [
        (
            &none,
            &read,
            "fs.read of /data",
            r#"files = ["/data:read"]"#,
        ),
        (
            &read,
            &write,
            "fs.write of /data",
            r#"files = ["/data:read-write"]"#,
        ),
        (
            &write,
            &secret,
            "fs.read of /data-secret",
            r#"files = ["/data-secret:read"]"#,
        ),
        (
            &none,
            &one,
            "net to a.example:80",
            r#"net = ["a.example:80"]"#,
        ),
        (&one, &net(Net::Any), "net to any host", "net = true"),
        (&none, &exec, "tool.exec.subprocess", "subprocess = true"),
    ];
    for (policy, wanted, name, line) in cases {
        let line = Some(line.to_string());
        let by_host = alloc::format!("it needs {name}, which your policy does not allow");
        assert_eq!(
            denial(policy, wanted, wanted),
            (by_host.clone(), line.clone())
        );
        let by_app = alloc::format!("it needs {name}, which this workspace may not use");
        assert_eq!(denial(wanted, policy, wanted), (by_app, line.clone()));
        // When both refuse, the user's own policy is the answer: no app could change it.
        assert_eq!(denial(policy, policy, wanted), (by_host, line));
    }
}

#[test]
fn refused_limits_say_why_and_suggest_no_line() {
    let mut tool = Request::default();
    tool.limits.time_ms = Some(300_001);
    let denied = compose(&Policy::default(), &Policy::default(), &tool).unwrap_err();
    let text =
        "its limits are refused: the time limit of 300001 ms is above the ceiling of 300000 ms";
    assert_eq!(
        (denied.to_string().as_str(), denied.setting()),
        (text, None)
    );
    tool.limits.time_ms = Some(0);
    let denied = compose(&Policy::default(), &Policy::default(), &tool).unwrap_err();
    assert_eq!(
        denied,
        Denied::Limits {
            source: LimitError::Zero { limit: Limit::Time }
        }
    );
}

#[test]
fn either_side_may_lower_a_ceiling() {
    let lowered = |memory_bytes| Policy {
        ceilings: Ceilings {
            memory_bytes,
            ..Ceilings::default()
        },
        ..Policy::default()
    };
    for (host, app) in [(1_000, 2_000), (2_000, 1_000)] {
        let grant = compose(&lowered(host), &lowered(app), &Request::default()).unwrap();
        assert_eq!(grant.limits().memory_bytes, 1_000);
    }
}

#[test]
fn what_both_sides_cover_is_granted_although_they_only_overlap() {
    let net = |text| Capabilities {
        net: Net::hosts([host(text)]),
        ..Capabilities::default()
    };
    let (mine, app) = (
        allowing(net("*.example.com:8443")),
        allowing(net("a.example.com")),
    );
    let wanted = net("a.example.com:8443");
    let grant = compose(&mine, &app, &wanting(wanted.clone())).unwrap();
    assert_eq!(grant.capabilities(), &wanted);
}

proptest! {
    #[test]
    fn a_grant_never_exceeds_any_of_the_three(
        host in any_policy(), app in any_policy(), tool in any_request(), narrow: bool,
    ) {
        let tool = if narrow { narrowed(&host, &app, &tool) } else { tool };
        if let Ok(grant) = compose(&host, &app, &tool) {
            for side in [&host.capabilities, &app.capabilities, &tool.capabilities] {
                prop_assert!(is_pointwise_within(grant.capabilities(), side));
            }
            prop_assert!(is_within_ceilings(grant.limits(), &host.ceilings));
            prop_assert!(is_within_ceilings(grant.limits(), &app.ceilings));
            prop_assert!(is_within_request(grant.limits(), &tool));
        }
    }

    #[test]
    fn a_grant_is_never_less_than_the_tool_asked_for(
        host in any_policy(), app in any_policy(), tool in any_request(),
    ) {
        let tool = narrowed(&host, &app, &tool);
        match compose(&host, &app, &tool) {
            Ok(grant) => prop_assert!(is_pointwise_within(&tool.capabilities, grant.capabilities())),
            Err(Denied::Limits { .. }) => {}
            Err(denied) => prop_assert!(false, "{}", denied),
        }
    }

    #[test]
    fn a_wider_host_or_app_never_shrinks_the_grant(
        host in any_policy(), app in any_policy(), tool in any_request(), more in any_policy(),
    ) {
        let tool = narrowed(&host, &app, &tool);
        if let Ok(before) = compose(&host, &app, &tool) {
            let wider = [(widened(&host, &more), app.clone()), (host.clone(), widened(&app, &more))];
            for (host, app) in wider {
                let after = compose(&host, &app, &tool);
                prop_assert!(after.is_ok(), "{:?}", after);
                let after = after.unwrap();
                prop_assert!(is_pointwise_within(before.capabilities(), after.capabilities()));
                prop_assert!(before.limits().is_within(after.limits()));
            }
        }
    }

    #[test]
    fn adding_a_tool_never_widens_an_app(
        host in any_policy(), app in any_policy(), tools in vec(any_request(), 0..4),
    ) {
        let before = app.clone();
        let granted = tools.iter().flat_map(|tool| {
            [compose(&host, &app, tool), compose(&host, &app, &narrowed(&host, &app, tool))]
        });
        // Everything all tools of the app may do together is still within the app.
        let nothing = allowing(Capabilities { ambient: Ambient::NONE, ..Capabilities::default() });
        let together = granted.flatten().fold(nothing, |sum, grant| {
            widened(&sum, &allowing(grant.capabilities().clone()))
        });
        prop_assert!(is_pointwise_within(&together.capabilities, &app.capabilities));
        prop_assert_eq!(app, before);
    }
}
