use expect_test::expect;
use pdf_extract::content::{Content, Operation};
use pdf_extract::{Dictionary, Document as Pdf, Object, ObjectId, Stream, dictionary};

use super::*;
use crate::library::passages::passages;

fn document(path: &str, bytes: &[u8]) -> Document {
    read(Kind::of(path).expect("a kind that is read"), path, bytes)
        .expect("a document that can be read")
}

/// Title, authors and date in a line.
fn about(document: &Document) -> String {
    let meta = &document.meta;
    format!("{:?} by {:?} of {:?}", meta.title, meta.authors, meta.date)
}

#[test]
fn front_matter_says_what_a_markdown_document_is() {
    let table: Vec<String> = [
        "---\ntitle: 'Plain'\nauthor: Ada Doe\nyear: 2020\n---\nText",
        "---\nauthors: [Ada Doe, \"Bo Roe\"]\n---\n# From the heading #\n",
        "---\nauthors:\n  - name: Ada Doe\n    affiliation: none\n  - Bo Roe\n---\nTitle below\n===\n",
        "---\nnever ends\n",
        "No title at all",
        "Text first\n\n# Then a heading",
    ]
    .iter()
    .map(|text| {
        let document = document("folder/name.md", text.as_bytes());
        format!("{} hidden {:?}", about(&document), document.hidden)
    })
    .collect();
    expect![[r#"
        "Plain" by ["Ada Doe"] of Some("2020") hidden [0..50]
        "From the heading" by ["Ada Doe", "Bo Roe"] of None hidden [0..37]
        "Title below" by ["Ada Doe", "Bo Roe"] of None hidden [0..68]
        "name.md" by [] of None hidden []
        "name.md" by [] of None hidden []
        "Then a heading" by [] of None hidden []"#]]
    .assert_eq(&table.join("\n"));
}

#[test]
fn a_page_is_read_as_its_reader_sees_it() {
    let html = "<!DOCTYPE html><html><head><title>A  page\n</title><meta name=author content='Ada Doe'>\
        <meta name='citation_publication_date' content='2019/02'><style>p{color:red}</style></head>\
        <body><nav>Menu</nav><h1>The heading</h1><p>First <b>bold</b>\n words&nbsp;here.<br>Next line.</p>\
        <script>var x = 'hidden';</script><ul><li>One</li><li>Two <em>more</em></li></ul>\
        <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>\
        <pre>kept\n  as it is</pre><div hidden>shown</div></body></html>";
    let document = document("page.html", html.as_bytes());
    expect![[r#""A page" by ["Ada Doe"] of Some("2019/02")"#]].assert_eq(&about(&document));
    expect![[r#"
        The heading

        First bold words here.
        Next line.

        One

        Two more

        a | b

        1 | 2

        kept
          as it is

        shown"#]]
    .assert_eq(&document.text);
}

#[test]
fn a_page_without_a_title_has_its_heading_and_its_own_encoding() {
    let latin = b"<meta charset=iso-8859-1><h1>Caf\xe9 <b>cr\xe8me</b></h1><p>na\xefve";
    let document = document("page.htm", latin);
    assert_eq!(
        (document.meta.title.as_str(), document.text.as_str()),
        ("Caf\u{e9} cr\u{e8}me", "Caf\u{e9} cr\u{e8}me\n\nna\u{ef}ve")
    );
}

#[test]
fn text_of_any_encoding_is_read_and_binary_data_is_not() {
    assert_eq!(document("a.txt", b"\xef\xbb\xbfmark").text, "mark");
    assert_eq!(document("a.txt", b"\xff\xfeh\0\xe9\0").text, "h\u{e9}");
    assert_eq!(
        document("a.txt", b"caf\xe9 \x93quoted\x94").text,
        "caf\u{e9} \u{201c}quoted\u{201d}"
    );
    assert_eq!(
        read(Kind::Text, "a.txt", b"a\0b"),
        Err(DocumentError::Binary)
    );
    assert_eq!(Kind::of("a.TXT"), Some(Kind::Text));
    assert_eq!(Kind::of("Makefile"), None);
}

#[test]
fn a_name_from_a_document_acts_on_no_screen() {
    let document = document("a.md", "# Red \u{1b}[31m\u{202e}title\n".as_bytes());
    assert_eq!(document.meta.title, "Red \\u{1b}[31m\\u{202e}title");
}

/// A PDF with one page for each text; each of a text's lines stands below the one before.
pub(in crate::library) fn pdf(
    pages: &[&str],
    change: impl FnOnce(&mut Pdf, &[ObjectId]),
) -> Vec<u8> {
    let mut pdf = Pdf::with_version("1.5");
    let tree = pdf.new_object_id();
    let font = pdf.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding",
    });
    let resources = pdf.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let mut kids = Vec::new();
    for text in pages {
        let mut operations = vec![
            Operation::new("BT", vec![]),
            Operation::new("Tf", vec!["F1".into(), 12.into()]),
            Operation::new("TL", vec![14.into()]),
            Operation::new("Td", vec![72.into(), 720.into()]),
        ];
        for line in text.lines() {
            operations.push(Operation::new("Tj", vec![Object::string_literal(line)]));
            operations.push(Operation::new("T*", vec![]));
        }
        operations.push(Operation::new("ET", vec![]));
        let content = Content { operations }.encode().unwrap();
        let content = pdf.add_object(Stream::new(Dictionary::new(), content));
        kids.push(pdf.add_object(dictionary! {
            "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
            "MediaBox" => vec![0.into(), 0.into(), 612.into(), 792.into()],
        }));
    }
    pdf.objects.insert(
        tree,
        Object::Dictionary(dictionary! {
            "Type" => "Pages", "Count" => kids.len() as i64,
            "Kids" => kids.iter().map(|kid| Object::Reference(*kid)).collect::<Vec<_>>(),
        }),
    );
    let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    let info = pdf.add_object(dictionary! {
        "Title" => Object::string_literal("On paper"),
        "Author" => Object::string_literal("Ada Doe and Bo Roe"),
        "CreationDate" => Object::string_literal("D:20210304050607Z"),
    });
    pdf.trailer.set("Root", catalog);
    pdf.trailer.set("Info", info);
    change(&mut pdf, &kids);
    let mut bytes = Vec::new();
    pdf.save_to(&mut bytes).unwrap();
    bytes
}

pub(in crate::library) const PAGES: [&str; 3] = [
    "The first page speaks of an exam-\nple that is divided.",
    "The second page has a result of 42 percent.",
    "Some last words.\nReferences\n[1] A. Doe. Graphs. 2019.\n[2] B. Roe. Trees. 2020.",
];

#[test]
fn a_pdf_is_read_page_by_page_with_a_receipt() {
    let document = document("paper.pdf", &pdf(&PAGES, |_, _| {}));
    expect![[r#""On paper" by ["Ada Doe", "Bo Roe"] of Some("2021-03-04")"#]]
        .assert_eq(&about(&document));
    expect![[r#"
        "The first page speaks of an exam-\nple that is divided.\u{c}The second page has a result of 42 percent.\u{c}Some last words.\nReferences\n[1] A. Doe. Graphs. 2019.\n[2] B. Roe. Trees. 2020."
    "#]].assert_debug_eq(&document.text);
    let receipt = document.meta.pdf.clone().expect("a PDF has a receipt");
    assert_eq!((receipt.pages, receipt.read, receipt.cut), (3, 3, false));
    let offered: Vec<(Option<u32>, &str)> = passages(&document.text, &document.hidden, true)
        .into_iter()
        .map(|range| {
            (
                range.page,
                &document.text[range.start as usize..range.end as usize],
            )
        })
        .collect();
    expect![[r#"
        [
            (
                Some(
                    1,
                ),
                "The first page speaks of an exam-\nple that is divided.",
            ),
            (
                Some(
                    2,
                ),
                "The second page has a result of 42 percent.",
            ),
            (
                Some(
                    3,
                ),
                "Some last words.",
            ),
        ]
    "#]]
    .assert_debug_eq(&offered);
}

#[test]
fn a_page_of_references_is_marked_and_so_is_the_next_one() {
    let list = "References\n[1] A. Doe. Graphs. 2019.\n[2] B. Roe. Trees. 2020.";
    let more = "[3] C. Poe. Words. 2021.\n[4] D. Woe. More. 2022.";
    let document = document(
        "paper.pdf",
        &pdf(
            &[
                "Text of the paper.",
                list,
                more,
                "Appendix with plain words.",
            ],
            |_, _| {},
        ),
    );
    assert_eq!(document.meta.pdf.as_ref().unwrap().bibliography, [2, 3]);
    let offered = passages(&document.text, &document.hidden, true);
    assert_eq!(
        offered.iter().map(|range| range.page).collect::<Vec<_>>(),
        [Some(1), Some(4)]
    );
}

#[test]
fn empty_and_broken_pages_are_told_and_the_others_are_read() {
    let bytes = pdf(
        &["Good words.", "", "Lost words.", "More good words."],
        |pdf, pages| {
            // A content stream whose operator has too few operands: the reader trips over it.
            let broken = pdf.add_object(Stream::new(Dictionary::new(), b"BT 1 0 0 cm ET".to_vec()));
            pdf.get_dictionary_mut(pages[2])
                .unwrap()
                .set("Contents", broken);
        },
    );
    let document = document("paper.pdf", &bytes);
    let receipt = document.meta.pdf.as_ref().unwrap();
    assert_eq!(
        (receipt.read, &receipt.empty[..], &receipt.failed[..]),
        (2, &[2][..], &[3][..])
    );
    expect![[r#"
        [
            "pages that could not be read: 3",
            "pages without text (they may need OCR): 2",
        ]
    "#]]
    .assert_debug_eq(&document.notes);
    assert_eq!(document.text, "Good words.\u{c}\u{c}\u{c}More good words.");
}

#[test]
fn a_form_that_shows_itself_costs_its_page_only() {
    let bytes = pdf(&["Good words.", "Round and round."], |pdf, pages| {
        let form = pdf.new_object_id();
        let own = dictionary! { "XObject" => dictionary! { "Me" => form } };
        let dictionary =
            dictionary! { "Type" => "XObject", "Subtype" => "Form", "Resources" => own.clone() };
        pdf.objects.insert(
            form,
            Object::Stream(Stream::new(dictionary, b"/Me Do".to_vec())),
        );
        let content = pdf.add_object(Stream::new(Dictionary::new(), b"/Me Do".to_vec()));
        let page = pdf.get_dictionary_mut(pages[1]).unwrap();
        page.set("Resources", own);
        page.set("Contents", content);
    });
    assert_eq!(document("paper.pdf", &bytes).meta.pdf.unwrap().failed, [2]);
    let inherited = pdf(&["Good words.", "Round and round."], |pdf, pages| {
        let form = Stream::new(
            dictionary! { "Type" => "XObject", "Subtype" => "Form" },
            b"/Me Do".to_vec(),
        );
        let form = pdf.add_object(form);
        let content = pdf.add_object(Stream::new(Dictionary::new(), b"/Me Do".to_vec()));
        let page = pdf.get_dictionary_mut(pages[1]).unwrap();
        page.set(
            "Resources",
            dictionary! { "XObject" => dictionary! { "Me" => form } },
        );
        page.set("Contents", content);
    });
    assert_eq!(
        document("paper.pdf", &inherited).meta.pdf.unwrap().failed,
        [2]
    );
}

#[test]
fn a_picture_on_a_page_and_a_page_without_a_size_do_not_matter() {
    let bytes = pdf(&["Words beside a picture."], |pdf, pages| {
        let picture =
            dictionary! { "Type" => "XObject", "Subtype" => "Image", "Width" => 1, "Height" => 1 };
        let picture = pdf.add_object(Stream::new(picture, b"1 0 0 cm (noise) Tj q q q".to_vec()));
        let page = pdf.get_dictionary_mut(pages[0]).unwrap();
        page.remove(b"MediaBox");
        let Ok(Object::Reference(resources)) = page.get(b"Resources").cloned() else {
            panic!()
        };
        let content = page.get(b"Contents").unwrap().as_reference().unwrap();
        pdf.get_dictionary_mut(resources)
            .unwrap()
            .set("XObject", dictionary! { "Im" => picture });
        let Ok(Object::Stream(content)) = pdf.get_object_mut(content) else {
            panic!()
        };
        content.set_content([content.content.as_slice(), b"\n/Im Do\n"].concat());
    });
    assert_eq!(
        document("paper.pdf", &bytes).text,
        "Words beside a picture."
    );
}

#[test]
fn what_is_no_pdf_or_has_no_text_says_so() {
    let told = |bytes: &[u8]| {
        read(Kind::Pdf, "a.pdf", bytes)
            .expect_err("it can't be read")
            .to_string()
    };
    assert!(
        told(b"not a PDF").starts_with("it is not a PDF that can be read ("),
        "{}",
        told(b"not a PDF")
    );
    assert_eq!(
        told(&pdf(&["", ""], |_, _| {})),
        "none of its 2 pages has text: it is scanned and needs OCR"
    );
    let whole = pdf(&PAGES, |_, _| {});
    for length in (0..whole.len()).step_by(37) {
        // Cut anywhere, it is read or refused, and nothing breaks.
        let _ = read(Kind::Pdf, "a.pdf", &whole[..length]);
    }
}
