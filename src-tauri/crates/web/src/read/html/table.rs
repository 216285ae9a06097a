//! Tables: those that hold data become rows and columns, those that only lay a page out do not.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use crate::read::block::{Span, Table};

/// The most columns of a table.
const COLUMNS_LIMIT: usize = 64;
/// The most rows that one cell may reach over.
const REACH_LIMIT: usize = 1_000;
/// The most cells of a table, those included that others reach over.
const CELLS_LIMIT: usize = 100_000;
/// A cell with more letters is a part of a page, not of a table.
const CELL_LETTERS_LIMIT: usize = 2_000;

/// Whether a table holds data: rows of several short cells without blocks in them.
pub(super) fn holds_data(table: NodeRef<'_, Node>) -> bool {
    let role = table
        .value()
        .as_element()
        .and_then(|element| element.attr("role"));
    if matches!(role, Some("presentation" | "none")) {
        return false;
    }
    let (mut cells, mut widest, mut letters) = (0usize, 0usize, 0usize);
    for node in table.descendants().skip(1) {
        match node.value() {
            Node::Element(element) => match element.name() {
                "table" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "blockquote" | "hr"
                | "form" | "section" | "article" => return false,
                "tr" => cells = 0,
                "td" | "th" => {
                    cells += 1;
                    letters = 0;
                    widest = widest.max(cells);
                }
                _ => {}
            },
            Node::Text(text) => {
                letters += text.len();
                if letters > CELL_LETTERS_LIMIT {
                    return false;
                }
            }
            _ => {}
        }
    }
    widest > 1
}

/// A table that is being read.
#[derive(Default)]
pub(super) struct Rows {
    table: Table,
    row: Vec<Vec<Span>>,
    /// For each column, how many further rows a cell above reaches over.
    reaching: Vec<usize>,
    cell: Option<Cell>,
    cells: usize,
    /// Whether the row has a cell that is no heading.
    has_data: bool,
    in_head: bool,
}

#[derive(Clone, Copy)]
struct Cell {
    columns: usize,
    rows: usize,
}

impl Rows {
    /// Whether words belong to a cell now.
    pub fn is_in_cell(&self) -> bool {
        self.cell.is_some()
    }

    pub fn open_head(&mut self) {
        self.in_head = true;
    }

    pub fn close_head(&mut self) {
        self.in_head = false;
    }

    pub fn open_cell(&mut self, element: &Element) {
        let reach = |name: &str, limit: usize| {
            element
                .attr(name)
                .and_then(|value| value.trim().parse::<usize>().ok())
                .unwrap_or(1)
                .clamp(1, limit)
        };
        self.has_data |= element.name() == "td";
        self.cell = Some(Cell {
            columns: reach("colspan", COLUMNS_LIMIT),
            rows: reach("rowspan", REACH_LIMIT),
        });
    }

    pub fn close_cell(&mut self, words: Vec<Span>) {
        let Some(cell) = self.cell.take() else {
            return;
        };
        self.pass_reached();
        let mut words = Some(words);
        for _ in 0..cell.columns {
            let column = self.row.len();
            if column >= COLUMNS_LIMIT || self.cells >= CELLS_LIMIT {
                return;
            }
            self.row.push(words.take().unwrap_or_default());
            self.cells += 1;
            if self.reaching.len() <= column {
                self.reaching.resize(column + 1, 0);
            }
            self.reaching[column] = cell.rows - 1;
        }
    }

    pub fn close_row(&mut self) {
        self.pass_reached();
        for left in self.reaching.iter_mut().skip(self.row.len()) {
            *left = left.saturating_sub(1);
        }
        let row = std::mem::take(&mut self.row);
        let has_data = std::mem::take(&mut self.has_data);
        if row.iter().all(Vec::is_empty) {
            return;
        }
        if self.table.rows.is_empty() {
            self.table.has_header = self.in_head || !has_data;
        }
        self.table.rows.push(row);
    }

    /// The table; `None` when it has no words.
    pub fn finish(mut self) -> Option<Table> {
        self.close_row();
        (!self.table.rows.is_empty()).then_some(self.table)
    }

    /// Leaves empty what cells above reach over.
    fn pass_reached(&mut self) {
        while let Some(left) = self.reaching.get_mut(self.row.len())
            && *left > 0
            && self.cells < CELLS_LIMIT
        {
            *left -= 1;
            self.row.push(Vec::new());
            self.cells += 1;
        }
    }
}
