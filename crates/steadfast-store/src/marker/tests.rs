use proptest::prelude::*;

use super::*;

const AT: Millis = Millis(1_700_000_000_000);

fn markdown(text: &str) -> String {
    with_marker(text, DraftFormat::Markdown, AT)
}

fn json(text: &str) -> String {
    with_marker(text, DraftFormat::Json, AT)
}

#[test]
fn the_marker_stands_below_the_first_heading() {
    assert_eq!(markdown("# A plan\n\nText.\n"), "# A plan\n**Approved:** 2023-11-14T22:13:20Z\n\nText.\n");
    assert_eq!(markdown("# A plan"), "# A plan\n**Approved:** 2023-11-14T22:13:20Z\n");
    assert_eq!(
        markdown("---\n# no: heading\n---\n```\n# none either\n```\n## Here\n"),
        "---\n# no: heading\n---\n```\n# none either\n```\n## Here\n**Approved:** 2023-11-14T22:13:20Z\n"
    );
}

#[test]
fn without_a_heading_the_marker_stands_at_the_top() {
    assert_eq!(markdown("#tag\n"), "**Approved:** 2023-11-14T22:13:20Z\n#tag\n");
    assert_eq!(markdown("---\na: b\n---\nText.\n"), "---\na: b\n---\n**Approved:** 2023-11-14T22:13:20Z\nText.\n");
}

#[test]
fn in_json_the_marker_is_the_first_key_and_the_rest_stays_as_written() {
    assert_eq!(json("{\n  \"b\": 1\n}\n"), "{\n  \"approved\": \"2023-11-14T22:13:20Z\",\n  \"b\": 1\n}\n");
    assert_eq!(json("{\"b\":[{\"approved\":1}]}"), "{\"approved\": \"2023-11-14T22:13:20Z\",\"b\":[{\"approved\":1}]}");
    assert_eq!(json("{ }"), "{ \"approved\": \"2023-11-14T22:13:20Z\" }");
    assert_eq!(json("[1]"), "[1]");
}

#[test]
fn a_marker_in_the_middle_of_an_object_is_taken_out_with_its_comma() {
    let time = "\"2023-11-14\"";
    assert_eq!(without_marker(&format!("{{\"a\":1, \"approved\": {time}, \"b\":2}}")), "{\"a\":1, \"b\":2}");
    assert_eq!(without_marker(&format!("{{\"a\":1, \"approved\": {time}\n}}")), "{\"a\":1\n}");
    assert_eq!(without_marker(&format!("{{\"approved\": {time}}}")), "{}");
}

#[test]
fn a_text_says_that_it_is_approved_outside_of_its_code() {
    let says =
        ["# P\n**Approved:** today\n", "  **Approved:**", "{\"approved\": true}", "{\"a\":{},\"approved\":\"x\"}"];
    let says_not = [
        "# P\n```\n**Approved:** 2023-11-14\n```\n",
        "it will have a line `**Approved:**`",
        "{\"approved\": null}",
        "{\"approved\": false, \"b\": 1}",
        "{\"a\": {\"approved\": \"x\"}}",
        "{\"a\": \"approved\"}",
        "",
    ];
    assert_eq!(says.map(has_marker), [true; 4]);
    assert_eq!(says_not.map(has_marker), [false; 7]);
}

#[test]
fn words_beside_the_time_are_part_of_what_is_hashed() {
    let plan = "# P\nText.\n";
    let forged = "# P\n**Approved:** 2023-11-14 and drop the tests\nText.\n";
    assert_eq!(text_hash(plan), text_hash("# P\n**Approved:** 2023-11-14T22:13:20Z\nText.\n\n  \n"));
    assert_ne!(text_hash(plan), text_hash(forged));
    assert_ne!(text_hash("{\"a\":1}"), text_hash("{\"a\":1,\"approved\":\"and more\"}"));
}

proptest! {
    #[test]
    fn approving_changes_no_hash_and_twice_is_once(
        lines in proptest::collection::vec(
            "(# .{0,8}|```|~~~|---|\\*\\*Approved:\\*\\* [0-9]{0,4}|\\{|\"approved\": \"[0-9]{0,3}\",?|\"é\": [0-9]|\\}|,|\\PC{0,12})",
            0..12,
        ),
    ) {
        let text = lines.join("\n");
        for format in [DraftFormat::Markdown, DraftFormat::Json, DraftFormat::Text] {
            let once = with_marker(&text, format, AT);
            let authored = without_marker(&text);
            // A second marker that somebody wrote counts as text, and becomes a first one when ours goes.
            prop_assert_eq!(text_hash(&once), digest::of_bytes(authored.trim_end().as_bytes()));
            prop_assert_eq!(with_marker(&once, format, AT), once.clone());
        }
    }
}
