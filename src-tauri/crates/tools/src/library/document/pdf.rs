//! The text of a PDF, page by page, with a receipt.
//!
//! PDFs come from anywhere and their readers break: a page is read on a thread of its own with
//! room for deep nesting, a panic costs one page, and what takes too long is left alone.

mod bibliography;
mod mend;

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use longrein_protocol::source::{PdfReceipt, SourceMeta};
use pdf_extract::{
    ColorSpace, Document as Pdf, MediaBox, OutputDev, OutputError, Path, PlainTextOutput, Transform,
};

use super::{Document, DocumentError, TEXT_LIMIT_BYTES};

/// The most pages that are read.
const PAGES_LIMIT: usize = 2_000;
/// How long one document may take.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// The most characters of one page.
const PAGE_LIMIT_CHARACTERS: usize = 256 * 1024;
/// Readers that were left alone because they took too long: with so many, no PDF is tried.
const HANGING_LIMIT: usize = 4;
/// Room for deeply nested forms.
const STACK_BYTES: usize = 32 * 1024 * 1024;
/// How many pages may wait to be taken up.
const PAGES_WAITING: usize = 16;
const THREAD: &str = "longrein-pdf";

static HANGING: AtomicUsize = AtomicUsize::new(0);

/// What the reading thread has to say, in this order.
enum News {
    /// What the document is, and its number of pages.
    Opened(Box<SourceMeta>, usize),
    /// The next page; `None` when it could not be read.
    Page(Option<String>),
    /// It can't be read at all.
    Broken(DocumentError),
}

pub(super) fn read(bytes: &[u8]) -> Result<Document, DocumentError> {
    if HANGING.load(Ordering::Relaxed) >= HANGING_LIMIT {
        return Err(DocumentError::OthersHang);
    }
    keep_panics_quiet();
    let (sender, news) = mpsc::sync_channel(PAGES_WAITING);
    let stop = Arc::new(AtomicBool::new(false));
    let (bytes, stopped) = (bytes.to_vec(), Arc::clone(&stop));
    let reader = thread::Builder::new()
        .name(THREAD.to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let read = AssertUnwindSafe(|| read_pages(&bytes, &sender, &stopped));
            if panic::catch_unwind(read).is_err() {
                // The receiver may be gone, and then nobody wants to know.
                let _ = sender.send(News::Broken(DocumentError::BrokenPdf(
                    "its structure is damaged".to_owned(),
                )));
            }
        })
        .map_err(|error| DocumentError::BrokenPdf(error.to_string()))?;

    let mut collected = Collected::default();
    let deadline = Instant::now() + TIME_LIMIT;
    let outcome = loop {
        match news.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(News::Opened(meta, pages)) => collected.open(*meta, pages),
            Ok(News::Page(page)) => collected.page(page),
            Ok(News::Broken(error)) => break Err(error),
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                leave_alone(reader);
                break if collected.receipt.read > 0 {
                    Ok(())
                } else {
                    Err(DocumentError::TooSlow(TIME_LIMIT.as_secs()))
                };
            }
        }
        if collected.text.len() > TEXT_LIMIT_BYTES {
            break Ok(());
        }
    };
    stop.store(true, Ordering::Relaxed);
    outcome.and_then(|()| collected.finish())
}

/// A thread can't be ended. It is told to stop and counted until it does.
fn leave_alone(reader: thread::JoinHandle<()>) {
    HANGING.fetch_add(1, Ordering::Relaxed);
    let waiting = thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            if reader.join().is_ok() {
                HANGING.fetch_sub(1, Ordering::Relaxed);
            }
        });
    if waiting.is_err() {
        tracing::warn!("a PDF hangs and no thread could be had to wait for it");
    }
}

/// A panic in a PDF's reader is no news to the person: the receipt says which page failed.
fn keep_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some(THREAD) {
                others(info);
            }
        }));
    });
}

/// On the reading thread. An error to send means that nobody listens any more.
fn read_pages(bytes: &[u8], sender: &SyncSender<News>, stop: &AtomicBool) {
    let mut pdf = match Pdf::load_mem(bytes) {
        Ok(pdf) => pdf,
        Err(error) => {
            let _ = sender.send(News::Broken(DocumentError::BrokenPdf(error.to_string())));
            return;
        }
    };
    if pdf.is_encrypted() && pdf.decrypt("").is_err() {
        let _ = sender.send(News::Broken(DocumentError::EncryptedPdf));
        return;
    }
    let pages: Vec<u32> = pdf.get_pages().into_keys().collect();
    let refused = mend::mend(&mut pdf);
    let meta = mend::described(&pdf);
    if sender
        .send(News::Opened(Box::new(meta), pages.len()))
        .is_err()
    {
        return;
    }
    for page in pages.into_iter().take(PAGES_LIMIT) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let text = if refused.contains(&page) {
            None
        } else {
            read_page(&pdf, page, stop)
        };
        if sender.send(News::Page(text)).is_err() {
            return;
        }
    }
}

fn read_page(pdf: &Pdf, page: u32, stop: &AtomicBool) -> Option<String> {
    let read = AssertUnwindSafe(|| {
        let mut text = String::new();
        let mut output = Bounded {
            inner: PlainTextOutput::new(&mut text),
            stop,
            left: PAGE_LIMIT_CHARACTERS,
        };
        pdf_extract::output_doc_page(pdf, &mut output, page).ok()?;
        Some(text)
    });
    panic::catch_unwind(read).ok().flatten()
}

/// Plain text that ends when the page is too long or nobody waits for it any more.
struct Bounded<'t> {
    inner: PlainTextOutput<&'t mut String>,
    stop: &'t AtomicBool,
    left: usize,
}

impl Bounded<'_> {
    fn go_on(&self) -> Result<(), OutputError> {
        if self.left == 0 || self.stop.load(Ordering::Relaxed) {
            return Err(OutputError::FormatError(std::fmt::Error));
        }
        Ok(())
    }
}

impl OutputDev for Bounded<'_> {
    fn begin_page(
        &mut self,
        page: u32,
        media: &MediaBox,
        art: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.inner.begin_page(page, media, art)
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.inner.end_page()
    }

    fn output_character(
        &mut self,
        transform: &Transform,
        width: f64,
        spacing: f64,
        size: f64,
        character: &str,
    ) -> Result<(), OutputError> {
        self.go_on()?;
        self.left -= 1;
        self.inner
            .output_character(transform, width, spacing, size, character)
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.go_on()?;
        self.inner.begin_word()
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        self.inner.end_word()
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.inner.end_line()
    }

    fn stroke(
        &mut self,
        _: &Transform,
        _: &ColorSpace,
        _: &[f64],
        _: &Path,
    ) -> Result<(), OutputError> {
        self.go_on()
    }

    fn fill(
        &mut self,
        _: &Transform,
        _: &ColorSpace,
        _: &[f64],
        _: &Path,
    ) -> Result<(), OutputError> {
        self.go_on()
    }
}

#[derive(Default)]
struct Collected {
    meta: SourceMeta,
    text: String,
    receipt: PdfReceipt,
    hidden: Vec<std::ops::Range<usize>>,
    taken: u32,
}

impl Collected {
    fn open(&mut self, meta: SourceMeta, pages: usize) {
        self.meta = meta;
        self.receipt.pages = u32::try_from(pages).unwrap_or(u32::MAX);
    }

    fn page(&mut self, page: Option<String>) {
        if self.taken > 0 {
            self.text.push('\u{c}');
        }
        self.taken += 1;
        let Some(page) = page else {
            self.receipt.failed.push(self.taken);
            return;
        };
        let page = tidy(&page);
        if !page.contains(char::is_alphanumeric) {
            self.receipt.empty.push(self.taken);
            return;
        }
        self.receipt.read += 1;
        let goes_on = self.receipt.bibliography.last() == Some(&(self.taken - 1));
        if let Some(from) = bibliography::begins(&page, goes_on) {
            if bibliography::is_whole_page(&page, from) {
                self.receipt.bibliography.push(self.taken);
            }
            self.hidden
                .push(self.text.len() + from..self.text.len() + page.len());
        }
        self.text.push_str(&page);
    }

    fn finish(mut self) -> Result<Document, DocumentError> {
        let receipt = &mut self.receipt;
        receipt.cut = self.taken < receipt.pages;
        if receipt.read == 0 {
            return Err(if receipt.empty.is_empty() {
                DocumentError::UnreadablePdf(receipt.pages)
            } else {
                DocumentError::ScannedPdf(receipt.pages)
            });
        }
        let notes = notes(receipt, self.taken);
        self.meta.pdf = Some(self.receipt);
        Ok(Document {
            meta: self.meta,
            text: self.text,
            hidden: self.hidden,
            notes,
        })
    }
}

fn notes(receipt: &PdfReceipt, taken: u32) -> Vec<String> {
    let mut notes = Vec::new();
    let listed = |pages: &[u32]| {
        pages
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !receipt.failed.is_empty() {
        notes.push(format!(
            "pages that could not be read: {}",
            listed(&receipt.failed)
        ));
    }
    if !receipt.empty.is_empty() {
        notes.push(format!(
            "pages without text (they may need OCR): {}",
            listed(&receipt.empty)
        ));
    }
    if receipt.cut {
        notes.push(format!(
            "only its first {taken} of {} pages were read",
            receipt.pages
        ));
    }
    notes
}

/// Lines without blanks at their ends, at most one empty line in a row, no form feeds of its own.
fn tidy(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for line in page.split(['\n', '\r', '\u{c}']).map(str::trim) {
        if !line.is_empty() {
            text.push_str(line);
            text.push('\n');
        } else if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}
