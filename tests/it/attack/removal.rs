//! What a phone had and is to lose.

use super::*;

#[tokio::test]
async fn a_raw_parameter_of_the_former_model_is_reset() {
    let app = served().await;
    let file = async || app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).text();
    let plain = file().await;
    app.patch(&device(YEALINK), &json!({"parameters": {"yealink/T46S": {"call_waiting.enable": "0"}}})).await.expect(200);
    let set = file().await;
    assert!(set.contains("call_waiting.enable = 0"), "{set}");

    let changed = app.patch(&device(YEALINK), &json!({"model": "T48S"})).await.expect(200).json();
    assert_eq!(changed["resets"], json!([{"path": "/parameters/yealink/call_waiting.enable"}]));
    assert!(file().await.contains("call_waiting.enable = 1"), "{}", file().await);

    let back = app.patch(&device(YEALINK), &json!({"model": "T46S"})).await.expect(200).json();
    assert_eq!((&back["resets"], file().await), (&json!([]), set));
    app.patch(&device(YEALINK), &json!({"parameters": null})).await.expect(200);
    app.patch(&device(YEALINK), &json!({"resets": []})).await.expect(200);
    assert_eq!(file().await, plain);
}

/// An explicit none sends the phone back also where only some words mean anything to it.
#[tokio::test]
async fn an_explicit_none_of_a_zone_or_a_language_resets() {
    let app = served().await;
    for (settings, parameter) in [
        (json!({"time": {"zone": ""}}), "local_time.time_zone"),
        (json!({"locale": {"language": ""}}), "lang.gui"),
        (json!({"locale": {"tones": ""}}), "voice.tone.country"),
    ] {
        app.patch(&device(YEALINK), &json!({"settings": settings})).await.expect(200);
        let file = app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).text();
        assert!(file.contains(&format!("\n{parameter} = ")), "{settings}: {file}");
    }
}
