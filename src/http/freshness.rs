//! Conditional requests of phones: 200 with the whole file, or 304.

use axum::http::{HeaderMap, header};

/// Does `If-None-Match` hold the tag? Weak comparison (RFC 9110, 13.1.2), lists and `*` included.
pub(super) fn matches(headers: &HeaderMap, etag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|tag| tag.trim() == "*" || opaque(tag) == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_weak_tags_and_the_star() {
        let holds = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, value.parse().unwrap());
            matches(&headers, "\"abc\"")
        };
        assert!(holds("\"abc\"") && holds("W/\"abc\"") && holds("\"x\", \"abc\"") && holds("*") && holds(" W/\"x\" ,W/\"abc\""));
        assert!(!holds("\"abcd\"") && !holds("abc") && !holds("") && !matches(&HeaderMap::new(), "\"abc\""));
    }
}
