#!/usr/bin/env python3
"""Puts the receipts of an analysis together and checks that they still hold.

    python3 scripts/report.py REPORT.md --title 'Prices by city' --question 'Where is it dearest?' \\
        --receipts clean.json by_city.json --table by_city.csv --chart chart.svg

Writes the skeleton of a report: the question, the tables, the charts, and how each number came
about, with the SHA-256 of every file. Refuses when a file is no longer what its receipt says, or
when a step read what no step before it wrote and nobody named as raw data.
"""

import argparse
import json
import os

import tables
from tables import TableError

ROWS_SHOWN = 20


def receipt(path):
    try:
        with open(path, encoding="utf-8") as file:
            facts = json.load(file)
        facts["input"]["sha256"], facts["output"]["sha256"], facts["step"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TableError(f"{path!r} is no receipt of clean.py or compute.py: {error}.") from error
    return facts


def check(receipts):
    """The raw files; raises when a file is not what a receipt says, or a chain is broken."""
    written, raw, faults = {}, {}, []
    for path, facts in receipts:
        for side in ("input", "output"):
            file, hash_then = facts[side]["file"], facts[side]["sha256"]
            if not os.path.isfile(file):
                faults.append(f"{path}: {file!r} is gone")
            elif tables.sha256(file) != hash_then:
                faults.append(f"{path}: {file!r} changed since; run the step again")
        if facts["input"]["sha256"] not in written:
            raw[facts["input"]["file"]] = facts["input"]
        written[facts["output"]["sha256"]] = facts["output"]["file"]
    if faults:
        raise TableError("The receipts don't hold. " + "; ".join(faults) + ".")
    return raw


def cell(words):
    return str(words).replace("|", "\\|").replace("\n", " ")


def table_text(path):
    table = tables.read(path)
    lines = ["| " + " | ".join(cell(name) for name in table.columns) + " |", "|" + " --- |" * len(table.columns)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in table.rows[:ROWS_SHOWN]]
    if len(table.rows) > ROWS_SHOWN:
        lines.append(f"\n{len(table.rows) - ROWS_SHOWN} more rows are in `{path}`.")
    return "\n".join(lines)


def step_text(path, facts):
    """What a step did, in words."""
    into, out = facts["input"], facts["output"]
    lines = [f"**{facts['step']}**: `{into['file']}` ({into['rows']} rows) → `{out['file']}` ({out['rows']} rows), receipt `{path}`"]
    for name, value in facts.get("asked", {}).items():
        lines.append(f"  - {name.replace('_', ' ')}: `{json.dumps(value, ensure_ascii=False)}`")
    for what, said in facts.get("counts", {}).items():
        told = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in said.items() if value)
        if told:
            lines.append(f"  - {what}: {told}")
    for entry in facts.get("cells", []):
        what = f"changed in {entry['changed']} rows" if "changed" in entry else f"not taken, left as it was in {entry['left']} rows"
        lines.append(f"  - {entry['rule']} in `{entry['column']}`: {what}")
    for entry in facts.get("dropped", []):
        lines.append(f"  - {entry['rule']}: {entry['rows']} rows dropped")
    return "\n".join(lines)


def report(asked):
    receipts = [(path, receipt(path)) for path in asked.receipts]
    raw = check(receipts)
    parts = [f"# {asked.title}", ""]
    if asked.question:
        parts += [f"**Question.** {asked.question}", ""]
    parts += ["## Answer", "", "## What the data say", ""]
    for path in asked.table:
        parts += [table_text(path), ""]
    for path in asked.chart:
        if not os.path.isfile(path):
            raise TableError(f"There is no chart {path!r}.")
        parts += [f"![{os.path.basename(path)}]({path})", ""]
    parts += ["## What they do not say", "", "## How the numbers came about", ""]
    parts += [f"{at}. {step_text(path, facts)}" for at, (path, facts) in enumerate(receipts, 1)]
    parts += ["", "Raw data and results, by SHA-256:", ""]
    parts += [f"- `{name}` (raw): `{facts['sha256']}`" for name, facts in raw.items()]
    outputs = {facts["output"]["file"]: facts["output"]["sha256"] for _, facts in receipts}
    parts += [f"- `{name}`: `{hash_now}`" for name, hash_now in outputs.items()]
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Puts the receipts of an analysis together.")
    parser.add_argument("report")
    parser.add_argument("--title", required=True)
    parser.add_argument("--question")
    parser.add_argument("--receipts", nargs="+", required=True, metavar="JSON", help="in the order of the steps")
    parser.add_argument("--table", action="append", default=[], metavar="CSV")
    parser.add_argument("--chart", action="append", default=[], metavar="SVG")
    asked = parser.parse_args()
    tables.write_text(asked.report, report(asked))
    print(f"{asked.report}: {len(asked.receipts)} receipts hold. Write the sections Answer and What they do not say.")


if __name__ == "__main__":
    tables.run(main)
