"""Tables of text: read from CSV, TSV, JSON and JSON Lines, and written as CSV.

Shared by the programs beside it. A cell is always text here, exactly as it stands in the file, so
that nothing is lost by reading; what counts as a number, a date or nothing is asked for.
"""

import csv
import hashlib
import io
import json
import math
import os
import re
import sys
from datetime import date, datetime
from decimal import Context, Decimal, InvalidOperation

FILE_LIMIT_BYTES = 256 * 1024 * 1024
ROWS_LIMIT = 2_000_000
COLUMNS_LIMIT = 2_000
CELL_LIMIT_LETTERS = 16 * 1024 * 1024
SAMPLE_BYTES = 64 * 1024

# What people write for "there is no value here", in lower case.
MISSING = frozenset(["", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", ".", "?"])


# More digits than this say more about reckoning than about the data.
SHOWN = Context(prec=12)


class TableError(Exception):
    """Something that the person has to mend. Its text says what and how."""


class Table:
    """Named columns over rows of text, and how the file was read."""

    def __init__(self, columns, rows, how):
        self.columns = columns
        self.rows = rows
        self.how = how

    def index(self, name):
        """The place of a column, by its name without regard to case and outer spaces."""
        exact = [at for at, column in enumerate(self.columns) if column == name]
        folded = name.strip().casefold()
        near = [at for at, column in enumerate(self.columns) if column.strip().casefold() == folded]
        found = exact or near
        if not found:
            known = ", ".join(repr(column) for column in self.columns[:30])
            raise TableError(f"There is no column {name!r}. The columns are: {known}.")
        if len(found) > 1:
            raise TableError(f"The column {name!r} is there {len(found)} times; rename one first.")
        return found[0]

    def cells(self, name):
        """All cells of a column."""
        at = self.index(name)
        return [row[at] for row in self.rows]


def is_missing(cell):
    """Whether a cell says that there is no value."""
    return cell.strip().casefold() in MISSING


_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
_GROUPED_POINT = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?\Z")
_GROUPED_COMMA = re.compile(r"[+-]?\d{1,3}([. \u00a0\u202f']\d{3})+(,\d+)?\Z")
_COMMA = re.compile(r"[+-]?\d+,\d+\Z")


def number(cell, decimal="."):
    """The number in a cell as a Decimal, or None.

    `decimal` is the mark before decimals, "." or ",". Groups of thousands are taken where they are
    whole. A sign of per cent or money around a number is not: it is a unit, and clean.py removes
    it where it is told to.
    """
    text = cell.strip().replace("\u2212", "-")
    if decimal == ".":
        if _GROUPED_POINT.match(text):
            text = text.replace(",", "")
    elif _GROUPED_COMMA.match(text) or _COMMA.match(text):
        text = re.sub(r"[. \u00a0\u202f']", "", text).replace(",", ".")
    elif "." in text:
        return None
    if not _PLAIN.match(text):
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


# Patterns of dates that can be told apart without guessing; the others need clean.py --date.
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y%m%d")


def moment(cell, pattern=None):
    """The date or time in a cell, or None. Without a pattern only forms that begin with the year."""
    text = cell.strip()
    if pattern is None:
        if text.endswith("Z"):
            text = text[:-1]
        if len(text) == 8 and not (text.isdigit() and 1800 <= int(text[:4]) <= 2200):
            return None
    for form in [pattern] if pattern else _DATES:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def shown(value):
    """A number as people read it: no exponent where none is needed, no zeros at the end."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return "not a number"
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        rounded = value if value == value.to_integral() else value.normalize(SHOWN)
        text = format(rounded, "f") if abs(value) < Decimal("1e15") else format(rounded, "g")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return str(value)


def sha256(path):
    """The SHA-256 of a file's bytes, as receipts carry it."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def read(path, delimiter=None, encoding=None, header=True):
    """Reads a table by the ending of its name: .csv, .tsv, .txt, .json, .jsonl or .ndjson."""
    if not os.path.isfile(path):
        raise TableError(f"There is no file {path!r}.")
    size = os.path.getsize(path)
    if size > FILE_LIMIT_BYTES:
        raise TableError(f"{path!r} has {size} bytes; at most {FILE_LIMIT_BYTES} are read. Split it.")
    with open(path, "rb") as file:
        data = file.read()
    text, encoding = _decoded(path, data, encoding)
    ending = os.path.splitext(path)[1].lower()
    if ending == ".json":
        return _from_records(path, _json(path, text), {"format": "json", "encoding": encoding})
    if ending in (".jsonl", ".ndjson"):
        return _from_records(path, _json_lines(path, text), {"format": "jsonl", "encoding": encoding})
    return _from_delimited(path, text, delimiter, header, encoding)


def _decoded(path, data, encoding):
    if encoding:
        try:
            return data.decode(encoding), encoding
        except (LookupError, UnicodeDecodeError) as error:
            raise TableError(f"{path!r} can't be read as {encoding}: {error}.") from error
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16"), "utf-16"
    try:
        return data.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        # Every byte means something in it, so it is said and not silently trusted.
        return data.decode("cp1252", errors="replace"), "cp1252 (guessed)"


def _from_delimited(path, text, delimiter, header, encoding):
    if delimiter is None:
        delimiter = _delimiter(path, text)
    csv.field_size_limit(CELL_LIMIT_LETTERS)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows = []
    try:
        for row in lines:
            if len(rows) > ROWS_LIMIT:
                raise TableError(f"{path!r} has more than {ROWS_LIMIT} rows. Split it.")
            if any(cell.strip() for cell in row):
                rows.append(row)
    except csv.Error as error:
        raise TableError(f"{path!r}, line {lines.line_num}: {error}.") from error
    if not rows:
        raise TableError(f"{path!r} has no rows.")
    width = max(len(row) for row in rows)
    if width > COLUMNS_LIMIT:
        raise TableError(f"{path!r} has {width} columns; at most {COLUMNS_LIMIT} are read.")
    columns = rows.pop(0) if header else []
    # A longer row than the header is kept whole, under names that say so.
    columns = [column.strip() for column in columns]
    columns += [f"column_{at + 1}" for at in range(len(columns), width)]
    columns = [column or f"column_{at + 1}" for at, column in enumerate(columns)]
    ragged = sum(1 for row in rows if len(row) != len(columns))
    rows = [row + [""] * (len(columns) - len(row)) for row in rows]
    how = {"format": "delimited", "delimiter": delimiter, "encoding": encoding}
    if ragged:
        how["ragged_rows"] = ragged
    return Table(columns, rows, how)


def _delimiter(path, text):
    """The mark that splits the first lines most evenly."""
    if path.lower().endswith(".tsv"):
        return "\t"
    sample = io.StringIO(text[:SAMPLE_BYTES], newline="")
    best, best_score = ",", (0, 0)
    for mark in ",;\t|":
        sample.seek(0)
        try:
            widths = [len(row) for _, row in zip(range(50), csv.reader(sample, delimiter=mark)) if row]
        except csv.Error:
            continue
        if not widths:
            continue
        common = max(set(widths), key=widths.count)
        score = (widths.count(common) / len(widths) if common > 1 else 0, common)
        if score > best_score:
            best, best_score = mark, score
    return best


def _json(path, text):
    try:
        value = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise TableError(f"{path!r} is no JSON: {error}.") from error
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        if len(lists) != 1:
            raise TableError(f"{path!r} holds no single list of records; take the part out that does.")
        value = lists[0]
    if not isinstance(value, list):
        raise TableError(f"{path!r} is no list of records.")
    return value


def _json_lines(path, text):
    records = []
    for at, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                records.append(json.loads(line, parse_float=Decimal))
            except (ValueError, RecursionError) as error:
                raise TableError(f"{path!r}, line {at}: no JSON: {error}.") from error
    return records


def _from_records(path, records, how):
    if len(records) > ROWS_LIMIT:
        raise TableError(f"{path!r} has more than {ROWS_LIMIT} records. Split it.")
    columns, flat = {}, []
    for at, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise TableError(f"{path!r}: record {at} is no object with names.")
        row = dict(_leaves(record))
        flat.append(row)
        columns.update(dict.fromkeys(row))
        if len(columns) > COLUMNS_LIMIT:
            raise TableError(f"{path!r} has more than {COLUMNS_LIMIT} columns.")
    if not columns:
        raise TableError(f"{path!r} has no records.")
    rows = [[row.get(column, "") for column in columns] for row in flat]
    return Table(list(columns), rows, how)


def _leaves(record, above=""):
    """Names and texts; what is nested gets its path as name, and a list stays one cell of JSON."""
    for name, value in record.items():
        path = f"{above}{name}"
        if isinstance(value, dict):
            yield from _leaves(value, path + ".")
        elif isinstance(value, list):
            yield path, json.dumps(value, ensure_ascii=False, default=str)
        elif value is None:
            yield path, ""
        elif isinstance(value, bool):
            yield path, "true" if value else "false"
        else:
            yield path, str(value)


def write_csv(path, columns, rows):
    """Writes a table beside its place and moves it there, so that no half of it is ever read."""
    write_text(path, to_csv(columns, rows))


def to_csv(columns, rows):
    """A table as CSV, with line breaks that every program reads."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([["" if cell is None else shown(cell) for cell in row] for row in rows])
    return out.getvalue()


def write_text(path, text):
    """Writes a text beside its place and moves it there."""
    unfinished = path + ".unfinished"
    with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.replace(unfinished, path)


def to_json(value):
    """JSON for people and programs."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=shown) + "\n"


def run(main):
    """Runs a program: what the person has to mend is one line, with status 2."""
    try:
        main()
    except TableError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
