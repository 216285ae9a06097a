#!/usr/bin/env python3
"""Cleans a table by named rules, and writes down every cell that it changed.

    python3 scripts/clean.py RAW.csv CLEAN.csv --receipt clean.json \\
        --trim --missing --number PRICE --strip-unit PRICE=EUR --date DAY=%d.%m.%Y \\
        --rename 'Old name=new_name' --drop-duplicates

Nothing is guessed: without a rule a cell stays as it is. A cell that a rule can't take is left
alone and listed in the receipt as "left", so that it can be looked at. The raw file is never written.
"""

import argparse
import os
import re
from collections import Counter

import tables
from tables import TableError, is_missing, moment, number, shown

EXAMPLES = 10


class Receipt:
    """What was done, by rule and column, with examples."""

    def __init__(self):
        self.changed = Counter()
        self.left = Counter()
        self.examples = {}

    def change(self, rule, column, row, before, after):
        self.changed[rule, column] += 1
        self._example("changed", rule, column, {"row": row, "before": before, "after": after})

    def leave(self, rule, column, row, cell):
        self.left[rule, column] += 1
        self._example("left", rule, column, {"row": row, "cell": cell})

    def _example(self, what, rule, column, example):
        kept = self.examples.setdefault((what, rule, column), [])
        if len(kept) < EXAMPLES:
            kept.append(example)

    def entries(self):
        entries = []
        for what, counts in (("changed", self.changed), ("left", self.left)):
            for (rule, column), times in counts.items():
                examples = self.examples[what, rule, column]
                entries.append({"rule": rule, "column": column, what: times, "examples": examples})
        return entries


def each_cell(table, at, rule, receipt, make):
    """Applies `make` to the filled cells of a column; None leaves a cell as it is."""
    for row_at, row in enumerate(table.rows, 1):
        cell = row[at]
        if is_missing(cell):
            continue
        made = make(cell)
        if made is None:
            receipt.leave(rule, table.columns[at], row_at, cell)
        elif made != cell:
            receipt.change(rule, table.columns[at], row_at, cell, made)
            row[at] = made


def trim(table, receipt):
    for at in range(len(table.columns)):
        each_cell(table, at, "trim", receipt, lambda cell: re.sub(r"\s+", " ", cell.replace("\u00a0", " ")).strip())


def unify_missing(table, receipt):
    for at, column in enumerate(table.columns):
        for row_at, row in enumerate(table.rows, 1):
            if row[at] != "" and is_missing(row[at]):
                receipt.change("missing", column, row_at, row[at], "")
                row[at] = ""


def strip_unit(table, column, unit, receipt):
    def make(cell):
        text = cell.strip()
        if text.casefold().endswith(unit.casefold()):
            return text[: len(text) - len(unit)].strip()
        if text.casefold().startswith(unit.casefold()):
            return text[len(unit) :].strip()
        # A bare number has no unit to lose; anything else may have another one.
        return text if re.match(r"[+-]?[\d.,' \u00a0\u202f]+\Z", text) else None

    each_cell(table, table.index(column), f"strip-unit {unit}", receipt, make)


def to_number(table, column, decimal, receipt):
    def make(cell):
        value = number(cell, decimal)
        return None if value is None else shown(value)

    each_cell(table, table.index(column), f"number {decimal}", receipt, make)


def to_date(table, column, pattern, receipt):
    def make(cell):
        value = moment(cell, pattern)
        if value is None:
            return None
        has_time = any(mark in pattern for mark in ("%H", "%I", "%T", "%X", "%c"))
        return value.isoformat() if has_time else value.date().isoformat()

    each_cell(table, table.index(column), f"date {pattern}", receipt, make)


def replace(table, column, old, new, receipt):
    each_cell(table, table.index(column), "replace", receipt, lambda cell: new if cell.strip() == old else cell)


def rename(table, old, new):
    if new in table.columns:
        raise TableError(f"There is a column {new!r} already.")
    table.columns[table.index(old)] = new


def drop_missing(table, column):
    at = table.index(column)
    kept = [row for row in table.rows if not is_missing(row[at])]
    dropped = len(table.rows) - len(kept)
    table.rows[:] = kept
    return dropped


def drop_duplicates(table):
    seen, kept = set(), []
    for row in table.rows:
        key = tuple(row)
        if key not in seen:
            seen.add(key)
            kept.append(row)
    dropped = len(table.rows) - len(kept)
    table.rows[:] = kept
    return dropped


def pair(text, what):
    name, mark, value = text.partition("=")
    if not mark or not name:
        raise TableError(f"{what} wants COLUMN=VALUE, not {text!r}.")
    return name, value


def clean(table, asked):
    """Applies the rules in the order in which they make sense: text, missing, values, rows, names."""
    receipt, dropped = Receipt(), []
    if asked.trim:
        trim(table, receipt)
    if asked.missing:
        unify_missing(table, receipt)
    for text in asked.replace:
        column, values = pair(text, "--replace")
        old, new = pair(values, "--replace COLUMN=")
        replace(table, column, old, new, receipt)
    for text in asked.strip_unit:
        strip_unit(table, *pair(text, "--strip-unit"), receipt)
    for column in asked.number:
        to_number(table, column, asked.decimal, receipt)
    for text in asked.date:
        to_date(table, *pair(text, "--date"), receipt)
    for column in asked.drop_missing:
        dropped.append({"rule": f"drop-missing {column}", "rows": drop_missing(table, column)})
    if asked.drop_duplicates:
        dropped.append({"rule": "drop-duplicates", "rows": drop_duplicates(table)})
    for text in asked.rename:
        rename(table, *pair(text, "--rename"))
    return receipt, dropped


def arguments():
    parser = argparse.ArgumentParser(description="Cleans a table by named rules.")
    parser.add_argument("raw")
    parser.add_argument("clean")
    parser.add_argument("--receipt", required=True, help="where to write what was changed, as JSON")
    parser.add_argument("--delimiter")
    parser.add_argument("--encoding")
    parser.add_argument("--trim", action="store_true", help="outer and doubled spaces, everywhere")
    parser.add_argument("--missing", action="store_true", help="NA, null, - and the like become empty")
    parser.add_argument("--decimal", choices=[".", ","], default=".", help="the mark that --number expects")
    parser.add_argument("--number", action="append", default=[], metavar="COLUMN")
    parser.add_argument("--strip-unit", action="append", default=[], metavar="COLUMN=UNIT")
    parser.add_argument("--date", action="append", default=[], metavar="COLUMN=PATTERN", help="as strptime takes it")
    parser.add_argument("--replace", action="append", default=[], metavar="COLUMN=OLD=NEW")
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("--drop-missing", action="append", default=[], metavar="COLUMN")
    parser.add_argument("--drop-duplicates", action="store_true")
    return parser.parse_args()


def main():
    asked = arguments()
    if os.path.realpath(asked.raw) == os.path.realpath(asked.clean):
        raise TableError("The raw file is never written: give the clean one another name.")
    table = tables.read(asked.raw, asked.delimiter, asked.encoding)
    rows_before = len(table.rows)
    receipt, dropped = clean(table, asked)
    tables.write_csv(asked.clean, table.columns, table.rows)
    facts = {
        "step": "clean",
        "input": {"file": asked.raw, "sha256": tables.sha256(asked.raw), "rows": rows_before},
        "output": {"file": asked.clean, "sha256": tables.sha256(asked.clean), "rows": len(table.rows)},
        "dropped": dropped,
        "cells": receipt.entries(),
    }
    tables.write_text(asked.receipt, tables.to_json(facts))
    print(f"{asked.clean}: {len(table.rows)} of {rows_before} rows")
    for entry in facts["cells"]:
        what = f"{entry['changed']} changed" if "changed" in entry else f"{entry['left']} LEFT as they were"
        print(f"  {entry['rule']} in {entry['column']!r}: {what}, e.g. {entry['examples'][0]}")
    for entry in dropped:
        print(f"  {entry['rule']}: {entry['rows']} rows dropped")


if __name__ == "__main__":
    tables.run(main)
