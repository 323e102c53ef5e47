//! What a scrubber finds, and what it leaves alone.

use data_encoding::{BASE64, BASE64URL, HEXLOWER, HEXUPPER};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const VALUE: &str = "s3cr&t/\"v\u{e4}lue\" +?>x";

fn scrubber() -> Scrubber {
    Scrubber::new([("pat", VALUE.as_bytes())]).unwrap()
}

fn percent(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[test]
fn every_usual_spelling_of_a_value_is_replaced() {
    let basic = |before: &str| BASE64.encode(format!("{before}{VALUE}").as_bytes());
    let spellings = [
        VALUE.to_owned(),
        BASE64.encode(VALUE.as_bytes()),
        BASE64URL.encode(VALUE.as_bytes()),
        HEXLOWER.encode(VALUE.as_bytes()),
        HEXUPPER.encode(VALUE.as_bytes()),
        percent(VALUE),
        percent(VALUE).replace('+', "%20"),
        percent(VALUE).replace('+', "%20").to_ascii_lowercase(),
        serde_json::to_string(VALUE).unwrap(),
        "s3cr&t\\/\\\"v\\u00e4lue\\\" +?>x".to_owned(),
        "s3cr&amp;t/&quot;v\u{e4}lue&quot; +?&gt;x".to_owned(),
        basic("user:"),
        basic("u:"),
        basic("us:"),
    ];
    for spelling in spellings {
        let text = format!("before {spelling} after");
        let scrubbed = scrubber().scrub(&text).into_owned();
        assert!(scrubbed.contains("[secret:pat]"), "{text}: {scrubbed}");
        assert!(!scrubbed.contains("cr&t") && scrubbed.starts_with("before "));
        assert!(scrubbed.ends_with(" after"), "{scrubbed}");
    }
}

#[test]
fn the_rest_of_a_text_stays_as_it_is() {
    let text = format!("a{VALUE}{VALUE}b\u{1f600}");
    assert_eq!(
        scrubber().scrub(&text),
        "a[secret:pat][secret:pat]b\u{1f600}"
    );
    for text in ["", "secret", "s3cr&t", "[secret:pat]"] {
        assert!(matches!(scrubber().scrub(text), Cow::Borrowed(same) if same == text));
    }
    assert!(Scrubber::default().is_empty() && Scrubber::new([]).unwrap().is_empty());
}

#[test]
fn a_value_is_found_whichever_of_its_letters_are_escaped() {
    let scrubber = Scrubber::new([("pat", "T\u{1f600}P/SECRET+\"x\\y".as_bytes())]).unwrap();
    for spelling in [
        r#"T\ud83d\ude00P\/SECRET\u002B\"x\\y"#,
        r#"\u0054\uD83D\uDE00\u0050\u002f\u0053\u0045CRET+\u0022x\u005cy"#,
        r#"T\\ud83d\\ude00P\\/SECRET\\u002b\\\"x\\\\y"#,
        "T%f0%9F%98%80P/S%45CRET+\"x\\y",
        "T%25f0%259F%2598%2580P%252FSECRET%2B%2522x%255Cy",
        "T&#128512;P/SECRET&#43;&quot;x&#x5C;y",
        "T&amp;#x1F600;P/SECRET+&amp;quot;x\\y",
        r#"T\xf0\x9f\x98\x80P/SECRET\x2b\x22x\x5cy"#,
    ] {
        let text = format!("{{\"a\":\"{spelling}\",\"b\":\"\\u00e4 50% &c\"}}");
        let scrubbed = scrubber.scrub(&text).into_owned();
        assert_eq!(
            scrubbed, r#"{"a":"[secret:pat]","b":"\u00e4 50% &c"}"#,
            "{text}"
        );
    }
}

#[test]
fn escapes_that_spell_no_value_stay_as_they_are() {
    for text in [
        r#"\u0073\u0033cr \ud83d \ud83d\u0041 \u12 \x %25 %zz %2 &amp; &#0; &#x110000; &nosuch; \\\\\\\\\\\\"#,
        r"%25252525252525 &amp;amp;amp;amp;amp; \\\\\\\\\\\\\\\\n \",
        "%",
        "&amp",
        "\\",
    ] {
        assert!(
            matches!(scrubber().scrub(text), Cow::Borrowed(same) if same == text),
            "{text}"
        );
    }
}

#[test]
fn a_value_of_arbitrary_bytes_is_found_where_a_text_was_made_of_it() {
    let value = b"TOP\xff\xfeSECRET";
    let scrubber = Scrubber::new([("x", value.as_slice())]).unwrap();
    let text = format!("Bearer {}!", String::from_utf8_lossy(value));
    assert_eq!(scrubber.scrub(&text), "Bearer [secret:x]!");
}

#[test]
fn json_is_scrubbed_in_names_texts_and_numbers() {
    let mut json = json!({ VALUE: [VALUE, {"a": 1234567890123_u64}], "b": null, "c": 12 });
    let both = scrubber().and(&Scrubber::new([("number", b"1234567890123".as_slice())]).unwrap());
    both.scrub_json(&mut json);
    let expected = json!({
        "[secret:pat]": ["[secret:pat]", {"a": "[secret:number]"}], "b": null, "c": 12
    });
    assert_eq!(json, expected);
}

#[test]
fn the_longer_of_two_secrets_wins() {
    let both = Scrubber::new([
        ("short", b"password".as_slice()),
        ("long", b"password-and-more".as_slice()),
    ])
    .unwrap();
    assert_eq!(
        both.scrub("password-and-more password"),
        "[secret:long] [secret:short]"
    );
}

#[test]
fn a_scrubber_does_not_show_what_it_looks_for() {
    let text = format!("{:?}", scrubber());
    assert!(text.starts_with("Scrubber(") && !text.contains("s3cr"));
}

#[test]
fn ten_megabytes_are_scrubbed_in_one_pass() {
    let mut text = "lorem ipsum dolor sit amet ".repeat(400_000);
    text.push_str(VALUE);
    assert!(scrubber().scrub(&text).ends_with("[secret:pat]"));
    // Generous, for an unoptimised build on a busy machine; a search per pattern takes far longer.
}

proptest! {
    #[test]
    fn no_value_survives(value in proptest::collection::vec(any::<u8>(), 8..64), before in "\\PC{0,9}", after in "\\PC{0,9}") {
        prop_assume!(value.trim_ascii().len() >= 8);
        let scrubber = Scrubber::new([("x", value.as_slice())]).unwrap();
        for form in forms(&value) {
            let text = [before.as_bytes(), &form, after.as_bytes()].concat();
            let scrubbed = scrubber.scrub_bytes(&text);
            prop_assert!(!scrubbed.windows(form.len()).any(|window| window == form));
        }
    }
}
