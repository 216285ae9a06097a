//! What a page says of itself besides its words.

use expect_test::expect;

use crate::server::{notes, whole};

#[tokio::test]
async fn a_catalogue_record_says_who_wrote_it() {
    let page = whole(
        "<html lang=pt-BR><title>Journal | The page</title>
        <meta name=citation_title content='On the patience of herons'>
        <meta name=citation_author content='Reed, Ada'>
        <meta name=citation_author content='Okoye, Ben'>
        <meta name=citation_author content='Reed, Ada'>
        <meta name=DC.creator content='Somebody Else'>
        <meta name=citation_publication_date content='2026/02/03'>
        <meta name=citation_doi content='https://doi.org/10.1234/heron.5'>
        <link rel='alternate canonical' href='https://journal.example/heron'>
        <p>Abstract.",
    )
    .await;
    expect![[r#"
        (
            "On the patience of herons",
            [
                "Reed, Ada",
                "Okoye, Ben",
            ],
            Some(
                "2026/02/03",
            ),
            Some(
                "10.1234/heron.5",
            ),
            Some(
                "https://journal.example/heron",
            ),
            Some(
                "pt-BR",
            ),
        )
    "#]]
    .assert_debug_eq(&(
        &page.meta.title,
        &page.meta.authors,
        &page.meta.date,
        &page.identifier,
        &page.canonical,
        &page.language,
    ));
}

#[tokio::test]
async fn a_description_for_machines_is_read() {
    let page = whole(
        r#"<title>T</title><script type="application/ld+json">{"@context":"https://schema.org",
        "@graph":[{"@type":"WebSite","name":"No"},{"@type":["NewsArticle"],"headline":"Tides",
        "datePublished":"2026-01-02","author":[{"@type":"Person","name":"Ada Reed"},"Ben Okoye",
        {"name":" "}]}]}</script><script type="application/ld+json">{broken</script><p>Words."#,
    )
    .await;
    expect![[r#"
        (
            "Tides",
            [
                "Ada Reed",
                "Ben Okoye",
            ],
            Some(
                "2026-01-02",
            ),
        )
    "#]]
    .assert_debug_eq(&(&page.meta.title, &page.meta.authors, &page.meta.date));
}

#[tokio::test]
async fn a_page_that_only_sends_on_says_where_to() {
    let page = whole("<meta http-equiv=Refresh content='0; URL=/real?x'><p>Moved").await;
    let words = notes(&page);
    assert!(words[0].contains("/real?x at once"), "{words:?}");
    let page = whole("<meta http-equiv=refresh content='300'><p>News").await;
    assert!(page.notes.is_empty());
}

#[tokio::test]
async fn a_page_without_a_title_is_called_by_its_address() {
    let page = whole("<p>Words.").await;
    assert_eq!(page.meta.title, "page");
}
