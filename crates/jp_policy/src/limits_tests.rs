//! The table of defaults and ceilings, and what happens to limits at and beyond its edges.

use alloc::string::ToString;

use proptest::prelude::*;

use super::*;
use crate::testing::any_ceilings;

const ALL: [Limit; 4] = [Limit::Memory, Limit::Time, Limit::Fuel, Limit::Output];

fn asking(limit: Limit, amount: u64) -> LimitsRequest {
    let mut asked = LimitsRequest::default();
    match limit {
        Limit::Memory => asked.memory = Some(amount),
        Limit::Time => asked.time_ms = Some(amount),
        Limit::Fuel => asked.fuel = Some(amount),
        Limit::Output => asked.output = Some(amount),
        Limit::OpenFiles => panic!("open files cannot be asked for"),
    }
    asked
}

fn amount(limits: &Limits, limit: Limit) -> u64 {
    match limit {
        Limit::Memory => limits.memory_bytes,
        Limit::Time => u64::try_from(limits.time.as_millis()).unwrap(),
        Limit::Fuel => limits.fuel.unwrap_or(u64::MAX),
        Limit::Output => limits.output_bytes,
        Limit::OpenFiles => limits.open_files.into(),
    }
}

const fn top(limit: Limit) -> u64 {
    match limit {
        Limit::Memory => 1_073_741_824,
        Limit::Time => 300_000,
        Limit::Fuel => 1_000_000_000_000,
        Limit::Output => 100_000_000,
        Limit::OpenFiles => 32,
    }
}

#[test]
fn defaults_are_the_documented_table() {
    let limits = Ceilings::default()
        .check(&LimitsRequest::default(), None)
        .unwrap();
    let expected = Limits {
        memory_bytes: 268_435_456,
        time: Duration::from_secs(30),
        fuel: None,
        output_bytes: 10_000_000,
        open_files: 32,
    };
    assert_eq!(limits, expected);
    assert_eq!(limits, Limits::default());
    assert_eq!(Limits::REGISTRY_FUEL, 1_000_000_000);
}

#[test]
fn a_limit_may_be_one_and_may_be_the_ceiling() {
    for limit in ALL {
        for asked in [1, top(limit)] {
            let limits = Ceilings::default()
                .check(&asking(limit, asked), None)
                .unwrap();
            assert_eq!(amount(&limits, limit), asked, "{limit}");
            for other in ALL.into_iter().filter(|other| *other != limit) {
                assert_eq!(amount(&limits, other), amount(&Limits::default(), other));
            }
        }
    }
}

#[test]
fn zero_is_refused_and_does_not_mean_none() {
    for limit in ALL {
        let zero = Err(LimitError::Zero { limit });
        let ceilings = Ceilings::default();
        assert_eq!(ceilings.check(&asking(limit, 0), Some(5)), zero.clone());
        assert_eq!(
            ceilings
                .lowered_by(&asking(limit, 0))
                .map(|_| Limits::default()),
            zero
        );
    }
    let no_fuel = Ceilings::default().check(&LimitsRequest::default(), Some(0));
    assert_eq!(no_fuel, Err(LimitError::Zero { limit: Limit::Fuel }));
    let text = "the time limit is zero; leave it out for the default, or set it to 1 or more";
    assert_eq!(LimitError::Zero { limit: Limit::Time }.to_string(), text);
}

#[test]
fn more_than_the_ceiling_is_refused_with_both_numbers() {
    let texts = [
        "the memory limit of 1073741825 bytes is above the ceiling of 1073741824 bytes",
        "the time limit of 300001 ms is above the ceiling of 300000 ms",
        "the fuel limit of 1000000000001 is above the ceiling of 1000000000000",
        "the output limit of 100000001 bytes is above the ceiling of 100000000 bytes",
    ];
    for (limit, text) in ALL.into_iter().zip(texts) {
        let ceilings = Ceilings::default();
        let asked = asking(limit, top(limit) + 1);
        assert_eq!(ceilings.check(&asked, None).unwrap_err().to_string(), text);
        assert_eq!(ceilings.lowered_by(&asked).unwrap_err().to_string(), text);
        assert!(ceilings.check(&asking(limit, u64::MAX), None).is_err());
    }
}

#[test]
fn a_lowered_ceiling_lowers_the_default_and_refuses_more() {
    for limit in ALL {
        let lowered = Ceilings::default()
            .lowered_by(&asking(limit, 1_000))
            .unwrap();
        let limits = lowered.check(&LimitsRequest::default(), None).unwrap();
        assert_eq!(amount(&limits, limit), 1_000, "{limit}");
        assert!(lowered.check(&asking(limit, 1_000), None).is_ok());
        assert!(lowered.check(&asking(limit, 1_001), None).is_err());
        assert!(lowered.lowered_by(&asking(limit, 1_001)).is_err());
    }
    let untouched = Ceilings::default().lowered_by(&LimitsRequest::default());
    assert_eq!(untouched, Ok(Ceilings::default()));
}

#[test]
fn fuel_is_what_was_asked_else_the_default_and_never_above_the_ceiling() {
    let registry = Some(Limits::REGISTRY_FUEL);
    let full = Limit::Fuel;
    // Ceiling, asked, default, granted.
    let cases = [
        (top(full), None, None, None),
        (top(full), None, registry, registry),
        (top(full), Some(7), None, Some(7)),
        (top(full), Some(7), registry, Some(7)),
        (
            top(full),
            Some(10_000_000_000),
            registry,
            Some(10_000_000_000),
        ),
        (500, None, None, Some(500)),
        (500, None, registry, Some(500)),
        (500, Some(7), None, Some(7)),
        (top(full), None, Some(u64::MAX), Some(top(full))),
    ];
    for (fuel, asked, default, granted) in cases {
        let ceilings = Ceilings {
            fuel,
            ..Ceilings::default()
        };
        let asked = LimitsRequest {
            fuel: asked,
            ..LimitsRequest::default()
        };
        assert_eq!(ceilings.check(&asked, default).unwrap().fuel, granted);
    }
}

#[test]
fn limits_without_fuel_lie_within_no_limits_with_fuel() {
    let free = Limits::default();
    let bound = Limits {
        fuel: Some(1),
        ..free
    };
    assert!(bound.is_within(&free) && free.is_within(&free) && bound.is_within(&bound));
    assert!(!free.is_within(&bound));
    let mut more = free;
    more.open_files += 1;
    assert!(free.is_within(&more) && !more.is_within(&free));
}

#[test]
fn keys_and_names_of_limits_are_those_of_a_configuration() {
    let names = ["memory", "time", "fuel", "output"];
    for (limit, name) in ALL.into_iter().zip(names) {
        assert_eq!((limit.key(), limit.to_string().as_str()), (name, name));
    }
    assert_eq!(Limit::OpenFiles.key(), "open_files");
    assert_eq!(Limit::OpenFiles.to_string(), "open files");
}

#[test]
fn a_request_reads_whole_numbers_under_known_keys_only() {
    let read = |text: &str| serde_json::from_str::<LimitsRequest>(text);
    assert_eq!(read("{}").unwrap(), LimitsRequest::default());
    assert_eq!(read(r#"{"time_ms":5}"#).unwrap(), asking(Limit::Time, 5));
    let bad = [
        r#"{"open_files":64}"#,
        r#"{"memory":-1}"#,
        r#"{"memory":1.5}"#,
        r#"{"memory":"1GB"}"#,
        r#"{"fuel":18446744073709551616}"#,
        r#"{"fuel":1,"fuel":2}"#,
    ];
    for bad in bad {
        assert!(read(bad).is_err(), "{bad}");
    }
    let written = serde_json::to_string(&asking(Limit::Fuel, 9)).unwrap();
    assert_eq!(written, r#"{"fuel":9}"#);
}

proptest! {
    #[test]
    fn intersected_ceilings_are_the_lower_of_each(a in any_ceilings(), b in any_ceilings(), c in any_ceilings()) {
        let both = a.intersect(&b);
        prop_assert_eq!(both, b.intersect(&a));
        prop_assert_eq!(a.intersect(&a), a);
        prop_assert_eq!(both.intersect(&c), a.intersect(&b.intersect(&c)));
        prop_assert_eq!(both.memory_bytes, a.memory_bytes.min(b.memory_bytes));
        prop_assert_eq!(both.time, a.time.min(b.time));
        prop_assert_eq!(both.fuel, a.fuel.min(b.fuel));
        prop_assert_eq!(both.output_bytes, a.output_bytes.min(b.output_bytes));
    }

    #[test]
    fn no_request_makes_the_check_panic(
        memory: Option<u64>, time_ms: Option<u64>, fuel: Option<u64>, output: Option<u64>,
        default: Option<u64>, ceilings in any_ceilings(),
    ) {
        let asked = LimitsRequest { memory, time_ms, fuel, output };
        let _ = ceilings.lowered_by(&asked);
        if let Ok(limits) = ceilings.check(&asked, default) {
            prop_assert!(limits.fuel.is_none_or(|fuel| fuel <= ceilings.fuel));
            prop_assert!(limits.time <= ceilings.time);
        }
    }
}
