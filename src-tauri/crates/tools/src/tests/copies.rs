//! Published copies: they stay what was published, and show what was checked.

use super::*;

#[tokio::test]
async fn a_copy_that_is_no_longer_the_one_published_is_no_evidence() {
    let mut desk = Desk::new();
    desk.put("index.html", PAGE);
    desk.publish("index.html").await;
    let forbid = || evidence("index.html", Permit::Forbid, 2);
    assert!(desk.verify(forbid()).await.contains(": holds: "));
    desk.put("artifacts/index.html", "<p>Forged.</p>");
    let told = desk.verify(forbid()).await;
    expect![[r#"
        every quote in index.html is in its source, and nothing is uncited: does not hold: 2 of 2 quotes verbatim
        - artifacts/index.html is no longer the copy that was published. Publish index.html again."#]].assert_eq(&told);
    fs::remove_file(desk.folder.path().join("artifacts/index.html")).unwrap();
    assert_eq!(desk.verify(forbid()).await, told);
    desk.publish("index.html").await;
    assert!(desk.verify(forbid()).await.contains(": holds: "));
}

#[cfg(unix)]
#[tokio::test]
async fn no_copy_is_published_through_a_link() {
    let mut desk = Desk::new();
    desk.put("out/index.html", PAGE);
    std::os::unix::fs::symlink("out", desk.folder.path().join("artifacts")).unwrap();
    desk.put("index.html", PAGE);
    expect!["not_permitted: `artifacts` is a link to another folder, so no copy is published through it; remove the link"].assert_eq(&desk.publish("index.html").await);
    let original = fs::read_to_string(desk.folder.path().join("out/index.html")).unwrap();
    assert_eq!(original, PAGE);
}

#[tokio::test]
async fn a_page_that_brings_in_other_pages_is_not_published() {
    let mut desk = Desk::new();
    desk.put(
        "index.html",
        "<head><base href=x><meta http-equiv=\" Refresh \" content=\"0;url=x\"></head>\
         <iframe src=x></iframe><object></object><embed><noscript>x</noscript><p>Words.</p>",
    );
    desk.put("frames.html", "<frameset><frame src=x></frameset>");
    let told = [
        desk.publish("index.html").await,
        desk.publish("frames.html").await,
    ];
    expect![[r#"
        invalid_arguments: `index.html` was not published. Mend these and publish it again:
        - <base> can show what the page itself does not hold: take it out
        - <meta http-equiv="refresh"> can show what the page itself does not hold: take it out
        - <iframe> can show what the page itself does not hold: take it out
        - <object> can show what the page itself does not hold: take it out
        - <embed> can show what the page itself does not hold: take it out
        - <noscript> can show what the page itself does not hold: take it out
        invalid_arguments: `frames.html` was not published. Mend these and publish it again:
        - <frame> can show what the page itself does not hold: take it out"#]]
    .assert_eq(&told.join("\n"));
    assert!(desk.context.artifacts.is_empty());
}

#[tokio::test]
async fn a_page_whose_scripts_can_change_it_is_no_evidence_where_all_is_to_be_cited() {
    let mut desk = Desk::new();
    desk.put(
        "index.html",
        &format!(
            "{PAGE}<script>document.body.append('A claim.')</script><p onclick=\"x()\">Short.</p>\
             <a href=\" java\nscript:x()\">here</a><svg><a xlink:href='JavaScript:x()'><text>x</text></a></svg>"
        ),
    );
    desk.publish("index.html").await;
    expect![[r#"
        every quote in index.html is in its source, and nothing is uncited: does not hold: 2 of 2 quotes verbatim
        - index.html has <script>, onclick of <p>, a javascript: URL in href of <a>, a javascript: URL in href of <a>: what these show can't be checked. Take them out and publish it again."#]].assert_eq(
        &desk
            .verify(evidence("index.html", Permit::Forbid, 2))
            .await,
    );
    assert!(
        desk.verify(evidence("index.html", Permit::Allow, 2))
            .await
            .contains(": holds: ")
    );
}
