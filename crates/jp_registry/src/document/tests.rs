//! The vectors of RFC 8785, and what is refused.

mod form;

use serde_json::{Value, json};

use super::{DocumentError, MAX_DEPTH, canonical, number, parse};

const MAX: usize = 1024 * 1024;

fn read(text: &str) -> Result<Value, DocumentError> {
    parse(text.as_bytes(), MAX)
}

fn form(text: &str) -> String {
    String::from_utf8(canonical(&read(text).unwrap()).unwrap()).unwrap()
}

#[test]
fn numbers_are_written_as_in_appendix_b() {
    let table = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, text) in table {
        assert_eq!(number::write(f64::from_bits(bits)), text);
        assert_eq!(form(text), text, "and read back");
    }
}

#[test]
fn the_sample_of_the_rfc_comes_out_as_there() {
    let sample = r#"{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"#;
    let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    assert_eq!(form(sample), expected);
}

#[test]
fn keys_are_in_the_order_of_utf_16() {
    let sample = r#"{
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let expected = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
        \"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\
        \"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}";
    assert_eq!(form(sample), expected);
}

#[test]
fn numbers_that_are_the_same_are_the_same_value() {
    for same in ["1.0", "1", "1e0", "0.1e1", "10e-1"] {
        assert_eq!(read(same).unwrap(), json!(1), "{same}");
    }
    for zero in ["-0", "0", "-0.0", "0e5"] {
        assert_eq!(read(zero).unwrap(), json!(0), "{zero}");
    }
    assert_eq!(read("1e17").unwrap(), read("100000000000000000").unwrap());
}

#[test]
fn numbers_that_lose_digits_are_refused() {
    for text in [
        "9007199254740993",
        "-9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
        "1000000000000000000000000000001",
        "1e400",
        "-1e400",
    ] {
        let refused = read(text).unwrap_err();
        assert!(matches!(refused, DocumentError::Number { .. }), "{text}");
        assert!(refused.hint().is_some());
    }
    let refused = canonical(&json!({"n": u64::MAX})).unwrap_err();
    assert!(matches!(refused, DocumentError::Number { .. }));
    assert!(canonical(&json!(i64::MIN)).is_err());
    assert_eq!(form("9007199254740991"), "9007199254740991");
}

#[test]
fn a_key_that_is_there_twice_is_named_with_its_place() {
    let text = "{\n  \"a\": 1,\n  \"\\u0061\": 2\n}";
    let refused = read(text).unwrap_err();
    let DocumentError::Duplicate { key, line, .. } = &refused else {
        panic!("{refused}");
    };
    assert_eq!((key.as_str(), *line), ("a", 3));
    assert!(read(r#"{"x": [{"b": {}, "c": 1, "b": 2}]}"#).is_err());
}

#[test]
fn comments_are_blank_and_nothing_moves() {
    let text = "{ // one \"\n  \"a\": /* two\n lines */ \"/* no // comment */\", \"b\\\"//\": 1 }";
    let expected = json!({"a": "/* no // comment */", "b\"//": 1});
    assert_eq!(read(text).unwrap(), expected);
    // The place of an error behind comments is the place in the file.
    let refused = read("{ /* é\n */ \"a\": x }").unwrap_err();
    assert!(
        refused.to_string().starts_with("line 2, column "),
        "{refused}"
    );
    let refused = read("{}\n  /* never").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "line 2, column 3: this comment has no end"
    );
    // A carriage return ends a line for some: nobody may see a key that we do not.
    assert_eq!(read("{ // x\r\"a\": 1}").unwrap(), json!({"a": 1}));
}

#[test]
fn what_is_not_json_is_refused() {
    for text in [
        "",
        " ",
        "{",
        "{}{}",
        "{} x",
        "[1,]",
        "{\"a\":1,}",
        "'a'",
        "{a:1}",
        "NaN",
        "Infinity",
        "+1",
        "01",
        "1.",
        ".5",
        "0x10",
        "-",
        "\"\\ud800\"",
        "\"\\udc00x\"",
        "\"\\ud800\\u0041\"",
        "\"\n\"",
        "\"\t\"",
        "\"\\x41\"",
        "\"abc",
        "\"abc\\",
        "\u{feff}{}",
        "tru",
        "/",
        "/ /",
        "1 /",
        "/**",
        "/*/",
        "\u{a0}1",
        "1e",
        "--1",
        "1-1",
        "\0",
        "// only",
    ] {
        assert!(read(text).is_err(), "{text:?}");
    }
    let refused = parse(b"\"a\xff\"", MAX).unwrap_err();
    assert_eq!(refused, DocumentError::Encoding { at: 2 });
}

#[test]
fn size_is_looked_at_before_anything_else() {
    let refused = parse(&[0xff; 11], 10).unwrap_err();
    assert_eq!(refused, DocumentError::TooLarge { size: 11, max: 10 });
    assert!(parse(b"1234567890", 10).is_ok());
}

#[test]
fn depth_is_counted_and_no_stack_is_lost() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(canonical(&read(&nested(MAX_DEPTH)).unwrap()).is_ok());
    assert_eq!(read(&nested(MAX_DEPTH + 1)), Err(DocumentError::TooDeep));
    assert_eq!(
        read(&"[{\"a\":".repeat(100_000)),
        Err(DocumentError::TooDeep)
    );
    let built = (0..=MAX_DEPTH).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(canonical(&built), Err(DocumentError::TooDeep));
    // Brackets in strings are no depth.
    assert!(read(&format!("\"{}\"", "[".repeat(1000))).is_ok());
}
