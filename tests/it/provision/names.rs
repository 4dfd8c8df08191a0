//! Names of files: any spelling of a MAC, each vendor's own names, sub-folders; and what is nobody's name.

use super::*;
use crate::app::Call;

#[tokio::test]
async fn a_mac_may_be_spelt_in_any_way() {
    let app = served().await;
    let file = app.fetch(&format!("{YEALINK}.cfg")).await.expect(200).body;
    for name in [
        "805EC0123456.cfg",
        "805eC0123456.CFG",
        "80:5e:c0:12:34:56.cfg",
        "80-5E-C0-12-34-56.cfg",
        "805e.c012.3456.cfg",
        "80.5e.c0.12.34.56.Cfg",
        "80%3A5e%3ac0%3A12%3A34%3A56.cfg",
        "80%2D5e%2Dc0%2D12%2D34%2D56.cfg",
        "805e%2Ec012%2E3456%2Ecfg",
        "%38%30%35%65c0123456.cfg",
    ] {
        assert_eq!(app.fetch(name).await.expect(200).body, file, "{name}");
    }
}

#[tokio::test]
async fn each_vendors_own_names_work_in_any_case() {
    let app = served().await;
    let text = async |name: &str| app.fetch(name).await.expect(200).text();
    assert!(text(&format!("{YEALINK}.boot")).await.contains("overwrite_mode"));
    assert!(text(&format!("{}.BOOT", YEALINK.to_uppercase())).await.contains("overwrite_mode"));
    let parameters = text(&format!("{POLY}-config.cfg")).await;
    assert!(parameters.contains("reg.1.address=\"100\""));
    assert_eq!(text(&format!("{}-CONFIG.CFG", POLY.to_uppercase())).await, parameters);
    assert_eq!(text(&format!("{LINPHONE}.xml")).await, text(&format!("{LINPHONE}.cfg")).await);
}

#[tokio::test]
async fn the_universal_name_answers_with_the_first_file_which_names_the_next() {
    let app = served().await;
    let master = app.fetch(&format!("{POLY}.cfg")).await.expect(200).text();
    let document = roxmltree::Document::parse(&master).unwrap();
    let named = document.root_element().attribute("CONFIG_FILES").unwrap();
    assert_eq!(named, format!("{POLY}-config.cfg"));
    app.fetch(named).await.expect(200);
}

#[tokio::test]
async fn a_phone_may_ask_below_a_folder() {
    let app = served().await;
    let file = app.fetch(&format!("{YEALINK}.cfg")).await.body;
    assert_eq!(app.fetch(&format!("phones/{YEALINK}.cfg")).await.expect(200).body, file);
}

/// Paths below `/provision/` that are nobody's, in the words of the contract and around them.
pub(super) fn nobodys() -> Vec<String> {
    let mac = YEALINK;
    let mut names: Vec<String> = [
        "",
        ".",
        "..",
        "../..",
        "%2e%2e/%2e%2e/etc/passwd",
        "y000000000028.cfg",
        "000000000000.cfg",
        "sip.cfg",
        "cfg.xml",
        "ffffffffffff.cfg",
        "010203040506.cfg",
        "805ec012345.cfg",
        "805ec01234567.cfg",
        "805ec0123456",
        "805ec0123456.",
        "805ec0123456.txt",
        "805ec0123456.cfg.gz",
        "805ec0123456.cfg/",
        "805ec0123456.cfg%00",
        "805ec0123456%00.cfg",
        "805ec0123456.cfg%0a",
        "805ec0123456%20.cfg",
        "805ec0123456.cfg%20",
        "80::5e:c0:12:34:56.cfg",
        ":805ec0123456.cfg",
        "805ec012345g.cfg",
        "%ff.cfg",
        "%c3%28.cfg",
        "805ec0123456%ff.cfg",
        "%",
        "%zz",
        "%805ec0123456.cfg",
        "805ec0123456.cfg%",
        "%25",
        "%2538%2530.cfg",
        "805ec012345%EF%BC%96.cfg",
        "*",
        "805ec0123456.cfg;x",
        "805ec0123456.cfg,805ec0123456.cfg",
    ]
    .map(str::to_owned)
    .into();
    for odd in [
        "/",
        "//",
        "../",
        "./",
        "a//",
        "a/../",
        "a/./",
        "%2f",
        "..%2f",
        "%2e%2e%2f",
        "a%2f",
        "a%2F",
        "..%5c",
        "%5c",
        ".hidden/",
        "%00/",
        "%ff/",
    ] {
        names.push(format!("{odd}{mac}.cfg"));
    }
    for digit in ["a", "%61", "0", "/", "a/", "%00", "%ff"] {
        names.push(format!("{}.cfg", digit.repeat(10_240 / digit.len())));
        names.push(format!("{}{mac}.cfg", digit.repeat(10_240 / digit.len())));
    }
    names
}

#[tokio::test]
async fn what_is_nobodys_name_is_404() {
    let app = served().await;
    for name in nobodys() {
        let answer = app.fetch(&name).await;
        assert_eq!((answer.status, answer.body.len()), (404, 0), "{name:.80}");
    }
}

#[tokio::test]
async fn nothing_but_provision_is_there() {
    let app = served().await;
    let name = format!("{YEALINK}.cfg");
    let paths = [
        "/".into(),
        format!("/{name}"),
        "/provision".into(),
        "/provision/".into(),
        format!("/Provision/{name}"),
        format!("//provision/{name}"),
        format!("/provision//{name}"),
        "/api/v1/devices".into(),
        "/docs".into(),
        "/openapi.json".into(),
        "/metrics".into(),
        "/livez".into(),
        format!("/provision/s/secret/../{name}"),
        format!("/x/../provision/{name}"),
    ];
    for path in paths {
        let answer = app.phone(Call::get(&path)).await;
        assert_eq!((answer.status, answer.body.len()), (404, 0), "{path}");
    }
}
