//! Documents of absurd size and names of absurd content.

use super::*;

/// Layers that hold a name of their own choosing, and where it stands.
fn named(name: &str) -> [(Value, &'static str); 3] {
    [
        (json!({"parameters": {name: {"call_waiting.enable": "0"}}}), "/parameters/"),
        (json!({"settings": {"firmware": {name: {"url": "http://host.example/x"}}}}), "/settings/firmware/"),
        (json!({"settings": {"calling": {"dial_plan": {name: "x"}}}}), "/settings/calling/dial_plan/"),
    ]
}

#[tokio::test]
async fn names_that_could_not_be_stored_are_refused() {
    let app = served().await;
    for name in ["yealink/\0", "yealink/\n", "yealink/T46S\u{7f}", &format!("yealink/{}", "x".repeat(300)), "yealink/", "", "/T46S"] {
        for (document, place) in named(name) {
            let paths = app.patch(&device(YEALINK), &document).await.error_paths();
            assert_eq!(paths, [format!("{place}{}", name.replace('/', "~1"))], "{document}");
        }
    }
    // A dial plan is a vendor's, firmware a model's.
    app.patch(&device(YEALINK), &json!({"settings": {"calling": {"dial_plan": {"yealink/T46S": "x"}}}})).await.problem(422);
    app.patch(&device(YEALINK), &json!({"settings": {"firmware": {"yealink": {"url": "http://host.example/x"}}}})).await.problem(422);
}

/// The path of a reset repeats the names: a row that was taken must be readable after it too.
#[tokio::test]
async fn the_longest_names_can_be_set_and_removed() {
    let app = served().await;
    let (selector, name) = (format!("yealink/{}", "/".repeat(248)), "a".repeat(256));
    app.patch("/tenants/default", &json!({"parameters": {&selector: {&name: "1"}}})).await.expect(200);
    let removed = app.patch("/tenants/default", &json!({"parameters": {&selector: null}})).await.expect(200).json();
    assert_eq!(removed["resets"].as_array().unwrap().len(), 1);
    app.get("/tenants/default").await.expect(200);
    app.fetch(&format!("{YEALINK}.cfg")).await.expect(200);
}

#[tokio::test]
async fn a_list_beyond_its_bound_is_one_error() {
    let app = served().await;
    for (document, path) in [
        (json!({"settings": {"sip": {"codecs": vec!["nonsense"; 100_000]}}}), "/settings/sip/codecs"),
        (json!({"settings": {"phonebooks": vec![json!({}); 2000]}}), "/settings/phonebooks"),
        (json!({"modules": vec!["x"; 17]}), "/modules"),
        (json!({"lines": vec![json!({}); 1001]}), "/lines"),
        (json!({"keys": vec![json!({}); 20_000]}), "/keys"),
    ] {
        assert_eq!(app.patch(&device(YEALINK), &document).await.error_paths(), [path]);
    }
}

#[tokio::test]
async fn an_answer_lists_a_thousand_errors_at_most_and_repeats_no_long_value() {
    let app = served().await;
    let many: serde_json::Map<String, Value> = (0..5000).map(|n| (format!("unknown{n}"), json!(1))).collect();
    assert_eq!(app.patch(&device(YEALINK), &Value::Object(many)).await.errors().len(), 1000);
    let bad: serde_json::Map<String, Value> = (0..5000).map(|n| (format!("not a name {n}"), json!("1"))).collect();
    assert_eq!(app.patch(&device(YEALINK), &json!({"parameters": {"yealink": bad}})).await.errors().len(), 1000);
    let long = app.patch(&device(YEALINK), &json!({"settings": {"access": {"web": "x".repeat(1 << 20)}}})).await.expect(422);
    assert!(long.body.len() < 2000, "{}", long.body.len());
}
