//! What events a stream has, and that it has the same ones however it is cut up.

use proptest::prelude::*;

use super::*;

/// Reads a stream that arrives in these pieces.
fn read<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    most: usize,
) -> Result<Vec<Event>, TooLong> {
    let (mut parser, mut events) = (Parser::new(most), Vec::new());
    for mut piece in pieces {
        while let Some(event) = parser.next(&mut piece)? {
            events.push(event);
        }
        assert!(piece.is_empty());
    }
    Ok(events)
}

fn shown(stream: &[u8]) -> Vec<String> {
    let events = read([stream], 1000).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let shown = |event: &Event| format!("{}|{}", text(&event.kind), text(&event.data));
    events.iter().map(shown).collect()
}

#[test]
fn events_are_read_as_the_standard_says() {
    for (stream, events) in [
        ("data: a\n\n", vec!["|a"]),
        ("data: a\r\rdata: b\r\n\r\n", vec!["|a", "|b"]),
        ("data: a\r\n\ndata: b\n\r", vec!["|a", "|b"]),
        (
            "data: one\ndata:two\ndata\ndata:  3\n\n",
            vec!["|one\ntwo\n\n 3"],
        ),
        (
            "event: message\nid: 7\nretry: 5\ndata: a:b\n\n",
            vec!["message|a:b"],
        ),
        (
            "event: a\nevent: b\ndata: c\n\ndata: d\n\n",
            vec!["b|c", "|d"],
        ),
        (
            ": hello\n:data: x\n\ndata: a\n: in between\ndata: b\n\n",
            vec!["|a\nb"],
        ),
        ("event: nothing\n\nid: 1\n\n\n\ndata: a\n\n", vec!["|a"]),
        ("data:\n\n", vec!["|"]),
        ("Data: x\n data: y\nnonsense\n\ndata: a\n\n", vec!["|a"]),
        ("\u{feff}data: a\n\n\u{feff}data: b\n\n", vec!["|a"]),
        ("\u{feff}: hello\n\ndata: ü€😀\n\n", vec!["|ü€😀"]),
        ("data: whole\n\ndata: cut off\n", vec!["|whole"]),
        ("", vec![]),
    ] {
        assert_eq!(shown(stream.as_bytes()), events, "{stream:?}");
    }
}

#[test]
fn an_event_over_the_limit_is_refused_whatever_it_is_made_of() {
    let endless = [b'x'; 200];
    for start in [
        "data: ",
        "",
        "event: ",
        "id: ",
        "data: x\ndata: ",
        "data: x\n\ndata: ",
    ] {
        let ended = read([start.as_bytes(), &endless], 100);
        assert_eq!(ended, Err(TooLong), "{start:?}");
    }
    let lines = "data\n".repeat(200);
    assert_eq!(read([lines.as_bytes()], 100), Err(TooLong));
    let fits = format!("data: {}\n\n", "x".repeat(94));
    assert_eq!(
        read([fits.as_bytes(); 3], 100).map(|events| events.len()),
        Ok(3)
    );
}

#[test]
fn a_comment_may_be_as_long_as_the_stream_and_keeps_no_memory() {
    let mut parser = Parser::new(100);
    for piece in [
        b": ".as_slice(),
        &[b'x'; 5000],
        &[b':'; 5000],
        b"\ndata: a\n",
    ] {
        assert_eq!(parser.next(&mut &*piece), Ok(None));
        assert!(parser.line.capacity() <= 100);
    }
    let event = parser.next(&mut b"\n".as_slice()).unwrap().unwrap();
    assert_eq!(event.data, b"a");
}

/// Bytes that mean something in a stream more often than chance has it.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "data: ",
        "data:",
        "data",
        "event: ",
        "id: 1",
        "retry: 1",
        ":",
        " ",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\r\n\r\n",
        "message",
        "{\"a\":1}",
        "ü",
        "😀",
        "\u{feff}",
    ]);
    let piece = prop_oneof![
        4 => words.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(stream in stream(), cuts in prop::collection::vec(0..400_usize, 0..12), most in 0..200_usize) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|ends| &stream[ends[0]..ends[1]]);
        let whole = read([stream.as_slice()], most);
        prop_assert_eq!(&read(pieces, most), &whole);
        prop_assert_eq!(&read(stream.chunks(1), most), &whole);
    }

    #[test]
    fn no_event_is_longer_than_it_may_be(stream in stream(), most in 0..40_usize) {
        let events = read([stream.as_slice()], most).unwrap_or_default();
        let size = |event: &Event| event.kind.len() + event.data.len();
        prop_assert!(events.iter().all(|event| size(event) <= most));
    }
}

#[test]
fn where_a_stream_was_is_known_until_it_says_otherwise() {
    for (stream, id, retry) in [
        ("id: a\nretry: 500\ndata:\n\n", Some("a"), Some(500)),
        ("id: a\ndata: x\n\nid: b\ndata: y\n", Some("a"), None),
        ("id: a\n\n", Some("a"), None),
        ("id: a\n\nid\n\n", None, None),
        ("id: a\u{0}b\n\n", None, None),
        ("id: \u{e9}\n\n", None, None),
        ("retry: 1.5\n\n", None, None),
        ("retry:\n\n", None, None),
    ] {
        let mut parser = Parser::new(1000);
        let mut bytes = stream.as_bytes();
        while parser.next(&mut bytes).unwrap().is_some() {}
        parser.begin_again();
        assert_eq!(parser.last_id(), id, "{stream:?}");
        let retry = retry.map(std::time::Duration::from_millis);
        assert_eq!(parser.retry(), retry, "{stream:?}");
    }
    let mut parser = Parser::new(1000);
    let endless = b"retry: 99999999999999999999999\n\n";
    assert_eq!(parser.next(&mut &endless[..]), Ok(None));
    assert_eq!(parser.retry(), Some(std::time::Duration::MAX));
    let long = format!("id: {}\n\n", "x".repeat(5000));
    let mut parser = Parser::new(10_000);
    assert_eq!(parser.next(&mut long.as_bytes()), Ok(None));
    assert_eq!(parser.last_id(), None);
}
