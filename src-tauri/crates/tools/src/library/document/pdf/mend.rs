//! What has to be put right in a PDF before its pages are read, since the reader trusts it.

use std::collections::BTreeSet;

use longrein_protocol::source::SourceMeta;
use pdf_extract::{Dictionary, Document as Pdf, Object, ObjectId};

/// How deep forms may contain forms, and page trees page trees.
const DEPTH_LIMIT: usize = 24;
/// The most forms that one page is followed through.
const FORMS_LIMIT: usize = 2_000;
/// US Letter, in points: for pages that say no size.
const LETTER: [f32; 4] = [0.0, 0.0, 612.0, 792.0];

/// Empties pictures (the reader would take them for text), gives a size to pages that have none,
/// and returns the pages that must not be read because their forms or trees run in circles.
pub(super) fn mend(pdf: &mut Pdf) -> BTreeSet<u32> {
    for object in pdf.objects.values_mut() {
        if let Object::Stream(stream) = object
            && stream
                .dict
                .get(b"Subtype")
                .is_ok_and(|kind| kind.as_name().is_ok_and(|name| name == b"Image"))
        {
            stream.dict.remove(b"Filter");
            stream.dict.remove(b"DecodeParms");
            stream.set_content(Vec::new());
        }
    }
    let mut refused = BTreeSet::new();
    for (number, id) in pdf.get_pages() {
        let Some(chain) = chain(pdf, id) else {
            refused.insert(number);
            continue;
        };
        let sized = chain.iter().any(|id| {
            pdf.get_dictionary(*id)
                .is_ok_and(|dictionary| dictionary.has(b"MediaBox"))
        });
        let resources = chain
            .iter()
            .find_map(|id| resolved(pdf, pdf.get_dictionary(*id).ok()?.get(b"Resources").ok()?));
        if resources.is_some_and(|resources| !forms_end(pdf, resources, 0, &mut { FORMS_LIMIT })) {
            refused.insert(number);
        }
        if !sized && let Ok(Object::Dictionary(page)) = pdf.get_object_mut(id) {
            page.set("MediaBox", LETTER.map(Object::Real).to_vec());
        }
    }
    refused
}

/// A page and the trees that it stands in, from the inside; `None` when they run in circles.
fn chain(pdf: &Pdf, page: ObjectId) -> Option<Vec<ObjectId>> {
    let mut chain = vec![page];
    while let Some(parent) = chain
        .last()
        .and_then(|id| pdf.get_dictionary(*id).ok())
        .and_then(|dictionary| {
            dictionary
                .get(b"Parent")
                .and_then(Object::as_reference)
                .ok()
        })
    {
        if chain.len() > DEPTH_LIMIT || chain.contains(&parent) {
            return None;
        }
        chain.push(parent);
    }
    Some(chain)
}

fn resolved<'a>(pdf: &'a Pdf, object: &'a Object) -> Option<&'a Dictionary> {
    let (_, object) = pdf.dereference(object).ok()?;
    match object {
        Object::Dictionary(dictionary) => Some(dictionary),
        Object::Stream(stream) => Some(&stream.dict),
        _ => None,
    }
}

/// Whether following the forms of `resources` comes to an end within the limits.
fn forms_end(pdf: &Pdf, resources: &Dictionary, depth: usize, left: &mut usize) -> bool {
    if depth > DEPTH_LIMIT {
        return false;
    }
    let Some(forms) = resources
        .get(b"XObject")
        .ok()
        .and_then(|forms| resolved(pdf, forms))
    else {
        return true;
    };
    for (_, form) in forms.iter() {
        let Ok((_, Object::Stream(form))) = pdf.dereference(form) else {
            continue;
        };
        let Some(inner) = form
            .dict
            .get(b"Resources")
            .ok()
            .and_then(|inner| resolved(pdf, inner))
        else {
            // A form without resources has those of its page, itself among them.
            let content = form
                .decompressed_content()
                .unwrap_or_else(|_| form.content.clone());
            if content.windows(2).any(|operator| operator == b"Do") {
                return false;
            }
            continue;
        };
        if *left == 0 {
            return false;
        }
        *left -= 1;
        if !forms_end(pdf, inner, depth + 1, left) {
            return false;
        }
    }
    true
}

/// What the PDF says of itself.
pub(super) fn described(pdf: &Pdf) -> SourceMeta {
    let info = pdf
        .trailer
        .get(b"Info")
        .ok()
        .and_then(|info| resolved(pdf, info));
    let text = |key: &[u8]| {
        let (_, object) = pdf.dereference(info?.get(key).ok()?).ok()?;
        pdf_extract::decode_text_string(object)
            .ok()
            .filter(|text| !text.trim().is_empty())
    };
    SourceMeta {
        title: text(b"Title")
            .filter(|title| !is_makeshift(title))
            .unwrap_or_default(),
        authors: text(b"Author")
            .map(|authors| names(&authors))
            .unwrap_or_default(),
        date: text(b"CreationDate").and_then(|date| day(&date)),
        ..SourceMeta::default()
    }
}

/// Titles that a program gave, not an author.
fn is_makeshift(title: &str) -> bool {
    let title = title.trim().to_lowercase();
    title.starts_with("microsoft word - ")
        || title.starts_with("untitled")
        || [".doc", ".docx", ".tex", ".dvi", ".pdf", ".indd"]
            .iter()
            .any(|end| title.ends_with(end))
}

fn names(authors: &str) -> Vec<String> {
    let divider = if authors.contains(';') { ";" } else { " and " };
    authors
        .split(divider)
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// `D:20210304…` as `2021-03-04`.
fn day(date: &str) -> Option<String> {
    let digits: String = date
        .trim_start_matches("D:")
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    match digits.len() {
        0..4 => None,
        4..8 => Some(digits[..4].to_owned()),
        _ => Some(format!(
            "{}-{}-{}",
            &digits[..4],
            &digits[4..6],
            &digits[6..8]
        )),
    }
}
