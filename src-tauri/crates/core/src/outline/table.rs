//! Tables with a separator between their columns.

use csv::{ReaderBuilder, StringRecord};

use super::{Kind, counted, name};

/// What may stand between columns, the likeliest first.
const SEPARATORS: &[u8] = b",\t;|";
/// Records that have to agree on their columns before a text is a table.
const AGREEING: usize = 50;
/// The fewest records, the line of names included.
const RECORDS_MIN: usize = 3;
/// The most columns that are told apart.
const COLUMNS_MAX: usize = 64;

/// The outline of a table, and whether tabs separate it.
pub(super) fn separated(text: &str) -> Option<(Kind, Vec<String>)> {
    let separator = SEPARATORS
        .iter()
        .find(|separator| agree(text, **separator))?;
    let kind = match separator {
        b'\t' => Kind::Tsv,
        _ => Kind::Csv,
    };
    Some((kind, lines(text, *separator)?))
}

/// Whether the first records have the same number of columns, more than one.
fn agree(text: &str, separator: u8) -> bool {
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let (mut count, mut columns) = (0, 0);
    while count < AGREEING {
        match reader.read_record(&mut record) {
            Ok(true) if count == 0 => columns = record.len(),
            Ok(true) if record.len() == columns => {}
            Ok(false) => break,
            // A quote that is never closed takes in all that follows, and is no record.
            Ok(true) | Err(_) => return false,
        }
        count += 1;
    }
    columns > 1 && count >= RECORDS_MIN
}

/// What a column holds.
#[derive(Default)]
struct Column {
    integers: u64,
    numbers: u64,
    texts: u64,
    empty: u64,
    least: f64,
    most: f64,
}

impl Column {
    fn take(&mut self, cell: &str) {
        let cell = cell.trim();
        let number: Option<f64> = cell.parse().ok().filter(|number: &f64| number.is_finite());
        match number {
            _ if cell.is_empty() => self.empty += 1,
            None => self.texts += 1,
            Some(number) => {
                let first = self.integers + self.numbers == 0;
                self.least = if first {
                    number
                } else {
                    self.least.min(number)
                };
                self.most = if first { number } else { self.most.max(number) };
                match cell.parse::<i64>() {
                    Ok(_) => self.integers += 1,
                    Err(_) => self.numbers += 1,
                }
            }
        }
    }

    fn in_words(&self) -> String {
        let what = match (self.texts, self.numbers, self.integers) {
            (0, 0, 0) => return "empty".to_owned(),
            (0, 0, _) => "integer",
            (0, _, _) => "number",
            (_, 0, 0) => "text",
            _ => "text or number",
        };
        let mut words = what.to_owned();
        if self.texts == 0 {
            words.push_str(&format!(", {} to {}", self.least, self.most));
        }
        if self.empty > 0 {
            words.push_str(&format!(", {} empty", crate::view::thousands(self.empty)));
        }
        words
    }
}

fn lines(text: &str, separator: u8) -> Option<Vec<String>> {
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut first = StringRecord::new();
    reader.read_record(&mut first).ok()?;
    let is_name = |cell: &str| {
        let cell = cell.trim();
        !cell.is_empty() && cell.parse::<f64>().is_err()
    };
    let has_names = first.iter().all(is_name);
    let width = first.len().min(COLUMNS_MAX);
    let mut columns: Vec<Column> = (0..width).map(|_| Column::default()).collect();
    let (mut rows, mut uneven) = (0_u64, 0_u64);
    let mut take = |record: &StringRecord| {
        rows += 1;
        uneven += u64::from(record.len() != first.len());
        columns
            .iter_mut()
            .zip(record)
            .for_each(|(column, cell)| column.take(cell));
    };
    if !has_names {
        take(&first);
    }
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).ok()? {
        take(&record);
    }
    let mut head = format!(
        "{}, {}",
        counted(rows, "row", "rows"),
        counted(first.len() as u64, "column", "columns"),
    );
    if uneven > 0 {
        head.push_str(&format!(
            " ({} with more or fewer)",
            crate::view::thousands(uneven)
        ));
    }
    let mut lines = vec![format!("{head}:")];
    for (number, column) in (1..).zip(&columns) {
        let named = first
            .get(number - 1)
            .filter(|_| has_names)
            .map(|cell| name(cell.trim()));
        let named = named.unwrap_or_else(|| format!("column {number}"));
        lines.push(format!("- {named}: {}", column.in_words()));
    }
    if first.len() > width {
        lines.push(format!("- … and {} more columns", first.len() - width));
    }
    Some(lines)
}
