#!/usr/bin/env python3
"""Computes over a table: filter, derive, group, aggregate, sort; correlate and fit.

    python3 scripts/compute.py CLEAN.csv --out by_city.csv --receipt by_city.json \\
        --where 'year >= 2020 and price > 0' --derive 'unit=price/area' \\
        --group-by city --agg 'count()' --agg 'median(unit)' --agg 'p90(unit)' --sort=-median_unit

    python3 scripts/compute.py CLEAN.csv --out fit.csv --receipt fit.json --fit area,price

Aggregates: count() rows, count(c) filled cells, distinct(c), sum(c), mean(c), median(c), min(c),
max(c), stdev(c), pNN(c), share(c) of the sum over all groups. Missing cells are left out of a
column's aggregate, and the receipt says how many. A cell that is text where a number is needed is
an error unless --skip-text is given, which counts it. Sums are exact.
"""

import argparse
import math
import re
import statistics
from decimal import Decimal

import tables
from expressions import Expression
from tables import Table, TableError, is_missing, number, shown

AGGREGATE = re.compile(r"(count|distinct|sum|mean|median|min|max|stdev|share|p\d{1,2})\(\s*(.*?)\s*\)(?:\s+as\s+(\w+))?\Z")
GROUPS_LIMIT = 100_000


class Aggregate:
    """One `name(column)`."""

    def __init__(self, text):
        found = AGGREGATE.match(text.strip())
        if not found:
            raise TableError(f"{text!r} is no aggregate; write for example 'median(price)' or 'count()'.")
        self.kind, self.column, name = found.groups()
        if not self.column and self.kind != "count":
            raise TableError(f"{self.kind}() needs a column.")
        self.name = name or re.sub(r"\W+", "_", f"{self.kind}_{self.column}").strip("_")

    def of(self, rows, at, counts, skip_text):
        """The value over some rows."""
        if not self.column:
            return len(rows)
        cells = [row[at] for row in rows if not is_missing(row[at])]
        counts["missing"] = counts.get("missing", 0) + len(rows) - len(cells)
        if self.kind == "count":
            return len(cells)
        if self.kind == "distinct":
            return len({cell.strip() for cell in cells})
        values = numbers(cells, self.column, counts, skip_text)
        return self._number(values) if values else None

    def _number(self, values):
        if self.kind in ("sum", "share"):
            return sum(values, Decimal(0))
        if self.kind == "mean":
            return sum(values, Decimal(0)) / len(values)
        if self.kind == "median":
            return statistics.median(values)
        if self.kind in ("min", "max"):
            return min(values) if self.kind == "min" else max(values)
        if self.kind == "stdev":
            return statistics.stdev([float(value) for value in values]) if len(values) > 1 else None
        return quantile(values, int(self.kind[1:]) / 100)


def quantile(values, share):
    """By linear interpolation between the two nearest ranks."""
    values = sorted(values)
    place = Decimal(str(share)) * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def numbers(cells, column, counts, skip_text):
    values = []
    for cell in cells:
        value = number(cell)
        if value is None:
            if not skip_text:
                raise TableError(
                    f"{cell!r} in {column!r} is no number. Clean the column first, or leave such cells"
                    " out with --skip-text."
                )
            counts["text"] = counts.get("text", 0) + 1
        else:
            values.append(value)
    return values


def derive(table, text, counts, skip_text):
    name, mark, formula = text.partition("=")
    name = name.strip()
    if not mark or not name or name in table.columns:
        raise TableError(f"--derive wants a new NAME=FORMULA, not {text!r}.")
    expression = Expression(formula, table, skip_text)
    empty = 0
    for row in table.rows:
        value = expression.value(row)
        empty += value is None
        row.append("" if value is None else shown(value))
    table.columns.append(name)
    counts[f"derive {name}"] = {"rows": len(table.rows), "without_value": empty}


def where(table, text, counts, skip_text):
    expression = Expression(text, table, skip_text)
    results = [expression.value(row) for row in table.rows]
    counts[f"where {text}"] = {
        "kept": sum(1 for one in results if one),
        "dropped": sum(1 for one in results if one is not None and not one),
        "dropped_without_value": sum(1 for one in results if one is None),
    }
    table.rows[:] = [row for row, one in zip(table.rows, results) if one]


def group(table, by, aggregates, skip_text, counts):
    places = [table.index(name) for name in by]
    groups = {}
    for row in table.rows:
        groups.setdefault(tuple(row[at] for at in places), []).append(row)
        if len(groups) > GROUPS_LIMIT:
            raise TableError(f"There are more than {GROUPS_LIMIT} groups; group by fewer columns.")
    ats = [table.index(one.column) if one.column else None for one in aggregates]
    rows = []
    for key, members in groups.items():
        cells = [one.of(members, at, counts.setdefault(one.name, {}), skip_text) for one, at in zip(aggregates, ats)]
        rows.append(list(key) + cells)
    for place, one in enumerate(aggregates, len(by)):
        if one.kind == "share":
            total = sum((row[place] for row in rows if row[place] is not None), Decimal(0))
            for row in rows:
                row[place] = row[place] / total if total and row[place] is not None else None
    columns = list(by) + [one.name for one in aggregates]
    return Table(columns, [["" if cell is None else shown(cell) for cell in row] for row in rows], {})


def pairs(table, text, counts, skip_text):
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2:
        raise TableError(f"Two columns are needed, as X,Y; {text!r} names {len(names)}.")
    xs, ys = (table.cells(name) for name in names)
    both = [(x, y) for x, y in zip(xs, ys) if not is_missing(x) and not is_missing(y)]
    counts["pairs"] = {"used": len(both), "left_out_without_value": len(xs) - len(both)}
    made = []
    for x, y in both:
        values = numbers([x], names[0], counts["pairs"], skip_text) + numbers([y], names[1], counts["pairs"], skip_text)
        if len(values) == 2:
            made.append((float(values[0]), float(values[1])))
    if len(made) < 3:
        raise TableError(f"Only {len(made)} rows have both numbers; three are the least.")
    return names, made


def relation(table, text, counts, skip_text, with_line):
    """Pearson's and Spearman's coefficients, and a line of least squares."""
    (x_name, y_name), values = pairs(table, text, counts, skip_text)
    xs, ys = [x for x, _ in values], [y for _, y in values]
    if len(set(xs)) == 1 or len(set(ys)) == 1:
        raise TableError("One of the columns has the same value everywhere: nothing can be said.")
    row = [x_name, y_name, len(values), statistics.correlation(xs, ys), statistics.correlation(ranks(xs), ranks(ys))]
    columns = ["x", "y", "rows", "pearson", "spearman"]
    if with_line:
        line = statistics.linear_regression(xs, ys)
        rest = [y - (line.slope * x + line.intercept) for x, y in values]
        mean = statistics.fmean(ys)
        spread = math.fsum((y - mean) ** 2 for y in ys)
        off = math.fsum(one**2 for one in rest)
        columns += ["slope", "intercept", "r_squared", "residual_standard_error"]
        row += [line.slope, line.intercept, 1 - off / spread, math.sqrt(off / max(len(values) - 2, 1))]
    return Table(columns, [[shown(cell) for cell in row]], {})


def ranks(values):
    """Ranks from 1; equal values share the middle of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    made = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for place in order[at : end + 1]:
            made[place] = (at + end) / 2 + 1
        at = end + 1
    return made


def sort(table, text):
    """By a column; `-` before it turns the order. Cells without a value come last."""
    backwards = text.startswith("-")
    at = table.index(text[1:] if backwards else text)
    filled = [row for row in table.rows if not is_missing(row[at])]
    are_numbers = all(number(row[at]) is not None for row in filled)
    filled.sort(key=lambda row: number(row[at]) if are_numbers else row[at].casefold(), reverse=backwards)
    table.rows[:] = filled + [row for row in table.rows if is_missing(row[at])]


def compute(table, asked, counts):
    for text in asked.derive_first:
        derive(table, text, counts, asked.skip_text)
    for text in asked.where:
        where(table, text, counts, asked.skip_text)
    for text in asked.derive:
        derive(table, text, counts, asked.skip_text)
    if asked.correlate or asked.fit:
        return relation(table, asked.fit or asked.correlate, counts, asked.skip_text, bool(asked.fit))
    aggregates = [Aggregate(text) for text in asked.agg]
    by = [name.strip() for name in asked.group_by.split(",")] if asked.group_by else []
    if aggregates or by:
        by = [table.columns[table.index(name)] for name in by]
        table = group(table, by, aggregates or [Aggregate("count()")], asked.skip_text, counts)
    for text in reversed(asked.sort):
        sort(table, text)
    if asked.limit is not None:
        counts["limit"] = {"shown": min(asked.limit, len(table.rows)), "of": len(table.rows)}
        table.rows[:] = table.rows[: max(asked.limit, 0)]
    return table


def arguments():
    parser = argparse.ArgumentParser(description="Computes over a table.")
    parser.add_argument("data")
    parser.add_argument("--out", required=True, help="where to write the result, as CSV")
    parser.add_argument("--receipt", required=True, help="where to write what was done, as JSON")
    parser.add_argument("--derive-first", action="append", default=[], metavar="NAME=FORMULA", help="before --where")
    parser.add_argument("--where", action="append", default=[], metavar="CONDITION")
    parser.add_argument("--derive", action="append", default=[], metavar="NAME=FORMULA", help="after --where")
    parser.add_argument("--group-by", metavar="COLUMN,…")
    parser.add_argument("--agg", action="append", default=[], metavar="AGGREGATE")
    parser.add_argument("--correlate", metavar="X,Y")
    parser.add_argument("--fit", metavar="X,Y")
    parser.add_argument("--sort", action="append", default=[], metavar="COLUMN", help="--sort=-COLUMN: largest first")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--skip-text", action="store_true", help="leave cells out that are no numbers, and count them")
    return parser.parse_args()


def main():
    asked = arguments()
    table = tables.read(asked.data)
    rows, counts = len(table.rows), {}
    result = compute(table, asked, counts)
    tables.write_csv(asked.out, result.columns, result.rows)
    done = {name: value for name, value in vars(asked).items() if value and name not in ("data", "out", "receipt")}
    facts = {
        "step": "compute",
        "input": {"file": asked.data, "sha256": tables.sha256(asked.data), "rows": rows},
        "asked": done,
        "counts": counts,
        "output": {"file": asked.out, "sha256": tables.sha256(asked.out), "rows": len(result.rows)},
    }
    tables.write_text(asked.receipt, tables.to_json(facts))
    print(tables.to_csv(result.columns, result.rows[:20]), end="")
    if len(result.rows) > 20:
        print(f"… {len(result.rows) - 20} more rows in {asked.out}")
    for what, said in counts.items():
        print(f"# {what}: {said}")


if __name__ == "__main__":
    tables.run(main)
