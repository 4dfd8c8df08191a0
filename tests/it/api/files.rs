//! `/devices/{mac}/files`: what there is, and the bytes with their secrets masked.

use super::*;

#[tokio::test]
async fn each_file_is_listed_as_it_is_served() {
    let app = four_vendors().await;
    for (mac, names) in [
        (YEALINK, vec![format!("{YEALINK}.cfg"), format!("{YEALINK}.boot")]),
        (POLY, vec![format!("{POLY}.cfg"), format!("{POLY}-config.cfg")]),
        (GRANDSTREAM, vec![format!("cfg{GRANDSTREAM}.xml")]),
        (LINPHONE, vec![format!("{LINPHONE}.xml")]),
    ] {
        let listed = app.get(&format!("/devices/{mac}/files")).await.expect(200);
        assert_eq!(column(&listed, "name"), names);
        for (index, item) in listed.json()["items"].as_array().unwrap().iter().enumerate() {
            let mut members: Vec<_> = item.as_object().unwrap().keys().map(String::as_str).collect();
            members.sort_unstable();
            assert_eq!(members, ["etag", "kind", "main", "media_type", "name", "size"]);
            let served = app.fetch(item["name"].as_str().unwrap()).await.expect(200);
            assert_eq!(item["size"], served.body.len());
            assert_eq!(item["etag"].as_str(), served.header("etag"));
            assert_eq!(item["media_type"].as_str(), served.header("content-type"));
            assert_eq!(item["main"], index == 0);
        }
        assert_eq!(app.fetch(&format!("{mac}.cfg")).await.body, app.fetch(&names[0]).await.body);
    }
}

#[tokio::test]
async fn secrets_are_masked_unless_revealed() {
    let app = four_vendors().await;
    for mac in [YEALINK, POLY, GRANDSTREAM, LINPHONE] {
        for name in column(&app.get(&format!("/devices/{mac}/files")).await, "name") {
            let path = format!("/devices/{mac}/files/{name}");
            let served = app.fetch(&name).await.text();
            let masked = app.get(&path).await.expect(200);
            assert_eq!(masked.text(), served.replace("secret-of-line-1", "********"), "{name}");
            assert_eq!(masked.header("content-type"), app.fetch(&name).await.header("content-type"));
            assert_eq!(app.get(&format!("{path}?reveal=true")).await.expect(200).text(), served);
        }
    }
    app.get(&format!("/devices/{YEALINK}/files/{}.CFG", YEALINK.to_uppercase())).await.expect(200);
    for other in ["nothing", &format!("{POLY}.cfg"), "..", &format!("{YEALINK}.xml")] {
        app.get(&format!("/devices/{YEALINK}/files/{other}")).await.problem(404);
    }
}
