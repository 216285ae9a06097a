#!/usr/bin/env python3
"""Says what is in a table, column by column, before anything is computed.

    python3 scripts/profile.py DATA.csv [--json OUT.json]

Reads .csv, .tsv, .txt, .json and .jsonl. For each column: how many cells are filled, what they are
(number, date, yes or no, text), how many differ, the smallest, middle and largest, the commonest,
and what looks wrong: spaces, mixed kinds, numbers as text, far outliers, duplicate rows.
"""

import argparse
import re
import statistics
from collections import Counter

import tables
from tables import is_missing, moment, number, shown

# A column is of a kind when at least this share of its filled cells is.
SHARE = 0.95
COMMONEST = 5
EXAMPLES = 3
# Tukey's fence: this many times the middle half beyond it is called far.
FAR = 3
# A number with something short before or after it; a date that does not begin with the year.
UNIT = re.compile(r"(?:[^\d\s.,+-]{1,4}\s?[+-]?\d[\d.,' ]*|[+-]?\d[\d.,' ]*\s?[^\d\s.,][^\d]{0,9})\Z")
DAY = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\Z")
YES_NO = frozenset(["true", "false", "yes", "no", "y", "n", "t", "f"])


def kind_of(cells, decimal):
    """What the filled cells are, and how many of them are not."""
    tests = [
        ("number", lambda cell: number(cell, decimal) is not None),
        ("date", lambda cell: moment(cell) is not None),
        ("yes or no", lambda cell: cell.strip().casefold() in YES_NO),
    ]
    for name, test in tests:
        hits = sum(1 for cell in cells if test(cell))
        if hits and hits >= SHARE * len(cells):
            return name, len(cells) - hits
    return "text", 0


def numbers_of(cells, decimal):
    values = sorted(value for cell in cells if (value := number(cell, decimal)) is not None)
    floats = [float(value) for value in values]
    facts = {
        "min": shown(values[0]),
        "median": shown(statistics.median(values)),
        "mean": shown(statistics.fmean(floats)),
        "max": shown(values[-1]),
        "sum": shown(sum(values)),
        "negative": sum(1 for value in values if value < 0),
        "zero": sum(1 for value in values if value == 0),
    }
    if len(floats) >= 2:
        facts["standard_deviation"] = shown(statistics.stdev(floats))
    if len(floats) >= 8:
        lower, _, upper = statistics.quantiles(floats, n=4, method="inclusive")
        facts["lower_quartile"], facts["upper_quartile"] = shown(lower), shown(upper)
        fence = FAR * (upper - lower)
        if fence > 0:
            facts["far_outliers"] = sum(1 for one in floats if one < lower - fence or one > upper + fence)
    return facts


def column_facts(cells, decimal):
    """Everything that is said of one column."""
    filled = [cell for cell in cells if not is_missing(cell)]
    facts = {"filled": len(filled), "missing": len(cells) - len(filled)}
    if not filled:
        return {**facts, "kind": "empty", "notes": ["every cell is missing"]}
    kind, others = kind_of(filled, decimal)
    counts = Counter(cell.strip() for cell in filled)
    facts.update(kind=kind, different=len(counts))
    notes = []
    if others:
        notes.append(f"{others} filled cells are no {kind}")
    if kind == "number":
        facts.update(numbers_of(filled, decimal))
        if facts.get("far_outliers"):
            notes.append(f"{facts['far_outliers']} values lie far from the others")
    elif kind == "date":
        dates = sorted(value for cell in filled if (value := moment(cell)))
        facts.update(first=shown(dates[0]), last=shown(dates[-1]))
    else:
        lengths = [len(cell) for cell in filled]
        facts.update(shortest=min(lengths), longest=max(lengths))
    common = counts.most_common(COMMONEST)
    if len(counts) < len(filled):
        facts["commonest"] = [{"value": value[:80], "times": times} for value, times in common]
    else:
        facts["examples"] = [value[:80] for value, _ in common[:EXAMPLES]]
    notes.extend(text_notes(filled, counts, kind, decimal))
    return {**facts, "notes": notes}


def text_notes(filled, counts, kind, decimal):
    """What looks wrong about how cells are written."""
    notes = []
    spaced = sum(1 for cell in filled if cell != cell.strip() or "  " in cell)
    if spaced:
        notes.append(f"{spaced} cells have spaces around or doubled inside")
    folded = Counter(value.casefold() for value in counts)
    if kind == "text" and len(folded) < len(counts):
        notes.append(f"{len(counts) - len(folded)} values differ from another in case only")
    if kind == "text":
        as_numbers = sum(1 for cell in filled if number(cell, decimal) is not None)
        other = "," if decimal == "." else "."
        as_other = sum(1 for cell in filled if number(cell, other) is not None)
        if as_other >= SHARE * len(filled) and as_other > as_numbers:
            notes.append(f"these are numbers with {other!r} before decimals: use --decimal {other!r}")
        elif (united := sum(1 for cell in filled if UNIT.match(cell.strip()))) >= len(filled) / 2:
            notes.append(f"{united} cells are a number with a unit: use clean.py --strip-unit")
        elif (dated := sum(1 for cell in filled if DAY.match(cell.strip()))) >= len(filled) / 2:
            notes.append(f"{dated} cells are dates whose order of day and month is not known: use clean.py --date")
        elif as_numbers >= len(filled) / 2:
            notes.append(f"{as_numbers} of {len(filled)} cells are numbers, the others are not")
    if len(counts) == 1 and len(filled) > 1:
        notes.append("every filled cell is the same")
    return notes


def profile(table, decimal):
    """The facts of a whole table."""
    rows = Counter(tuple(row) for row in table.rows)
    doubled = sum(times - 1 for times in rows.values())
    names = Counter(table.columns)
    notes = [f"the column name {name!r} occurs {times} times" for name, times in names.items() if times > 1]
    if doubled:
        notes.append(f"{doubled} rows repeat another row exactly")
    if "ragged_rows" in table.how:
        notes.append(f"{table.how['ragged_rows']} rows have another number of cells than the header")
    if "guessed" in str(table.how.get("encoding")):
        notes.append("the file is no UTF-8; it was read as cp1252, so look at letters with accents")
    columns = []
    for at, name in enumerate(table.columns):
        cells = [row[at] for row in table.rows]
        columns.append({"name": name, **column_facts(cells, decimal)})
    return {"rows": len(table.rows), "columns": columns, "read_as": table.how, "notes": notes}


def told(facts, path):
    """The facts as text for a model or a person."""
    lines = [f"{path}: {facts['rows']} rows, {len(facts['columns'])} columns, read as {facts['read_as']}"]
    lines += [f"! {note}" for note in facts["notes"]]
    for column in facts["columns"]:
        shares = f"{column['filled']} filled, {column['missing']} missing"
        lines.append(f"\n{column['name']}: {column['kind']}, {shares}")
        skipped = ("name", "kind", "filled", "missing", "notes", "commonest")
        lines.append("  " + ", ".join(f"{key} {value}" for key, value in column.items() if key not in skipped))
        if "commonest" in column:
            common = ", ".join(f"{one['value']!r} × {one['times']}" for one in column["commonest"])
            lines.append(f"  commonest: {common}")
        lines += [f"  ! {note}" for note in column["notes"]]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Says what is in a table.")
    parser.add_argument("data")
    parser.add_argument("--json", help="also write the facts to this file")
    parser.add_argument("--delimiter", help="the mark between cells; default: found out")
    parser.add_argument("--encoding", help="default: UTF-8, UTF-16 with a mark, else cp1252")
    parser.add_argument("--decimal", choices=[".", ","], default=".", help="the mark before decimals")
    parser.add_argument("--no-header", action="store_true", help="the first row is data")
    asked = parser.parse_args()
    table = tables.read(asked.data, asked.delimiter, asked.encoding, not asked.no_header)
    facts = {"file": asked.data, "sha256": tables.sha256(asked.data), **profile(table, asked.decimal)}
    if asked.json:
        tables.write_text(asked.json, tables.to_json(facts))
    print(told(facts, asked.data))


if __name__ == "__main__":
    tables.run(main)
