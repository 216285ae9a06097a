#!/usr/bin/env python3
"""Draws a chart of a table as SVG: bars, lines, points or a histogram.

    python3 scripts/chart.py by_city.csv chart.svg --kind bar --x city --y median_unit \\
        --title 'Median price per m² by city, 2020–2024' --unit EUR

The drawing has a title and a description for screen readers, takes the colours of its page (light
and dark), loads nothing and runs nothing, so that it can stand inline in a page. Bars begin at zero.
Cells without a number are left out, and the caption that is printed says how many.
"""

import argparse
import math
from datetime import datetime
from html import escape

import tables
from tables import TableError, is_missing, moment, number, shown

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 74, 44, 56, 74
SERIES_LIMIT = 8
BARS_LIMIT = 60
POINTS_LIMIT = 5_000
TICKS = 5
LABEL_LETTERS = 18
# Told apart without colour vision (after Okabe and Ito), and by dash or shape as well.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d1f", "#767676"]
DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 3", "10 4", "4 4", "12 2"]


class Frame:
    """The plotting area and its two scales."""

    def __init__(self, x_range, y_range):
        self.x_range, self.y_range = x_range, y_range

    def x(self, value):
        return LEFT + share(value, self.x_range) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - share(value, self.y_range) * (HEIGHT - TOP - BOTTOM)


def share(value, limits):
    low, high = limits
    return (value - low) / (high - low)


def nice(low, high, from_zero=False, whole=False):
    """A range and its ticks at round numbers."""
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
        if from_zero:
            low, high = min(low, 0.0), max(high, 0.0)
    raw = max((high - low) / TICKS, 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(at * step, 12) for at in range(first, last + 1)]
    return (ticks[0], ticks[-1]), ticks


def tick_text(value):
    if value and (abs(value) >= 1e15 or abs(value) < 1e-6):
        return f"{value:.3g}"
    text = shown(float(value))
    whole, _, rest = text.partition(".")
    sign, digits = ("−", whole[1:]) if whole.startswith("-") else ("", whole)
    grouped = f"{int(digits):,}" if digits.isdigit() else digits
    return sign + grouped + ("." + rest if rest else "")


def text(x, y, words, anchor="middle", size=12, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{extra}>{escape(words)}</text>'


def brief(words):
    words = " ".join(str(words).split())
    return words if len(words) <= LABEL_LETTERS else words[: LABEL_LETTERS - 1] + "…"


def y_axis(frame, ticks, label):
    parts = []
    for tick in ticks:
        y = frame.y(tick)
        opacity = "0.5" if tick == 0 else "0.15"
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" stroke-opacity="{opacity}"/>')
        parts.append(text(LEFT - 8, y + 4, tick_text(tick), "end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(16, middle, label, extra=f' transform="rotate(-90 16 {middle:.1f})"'))
    return parts


def x_axis(frame, ticks, label, name=tick_text):
    parts = []
    for tick in ticks:
        x = frame.x(tick)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM + 5}" stroke="currentColor"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 19, name(tick)))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, label))
    return parts


def legend(names):
    if len(names) < 2:
        return []
    parts, x = [], LEFT
    for at, name in enumerate(names):
        parts.append(f'<line x1="{x}" x2="{x + 18}" y1="{TOP - 14}" y2="{TOP - 14}" stroke="{COLOURS[at]}" stroke-width="3" stroke-dasharray="{DASHES[at]}"/>')
        parts.append(text(x + 23, TOP - 10, brief(name), "start"))
        x += 36 + 7 * len(brief(name))
    return parts


def series(table, asked):
    """Pairs of cells by series, and how many rows were left out."""
    x_at, y_at = table.index(asked.x), table.index(asked.y)
    by_at = table.index(asked.series) if asked.series else None
    found, left_out = {}, 0
    for row in table.rows:
        value = None if is_missing(row[y_at]) else number(row[y_at])
        if value is None or is_missing(row[x_at]):
            left_out += 1
            continue
        name = asked.y if by_at is None else row[by_at].strip()
        found.setdefault(name, []).append((row[x_at].strip(), float(value)))
    if not found:
        raise TableError(f"No row has both {asked.x!r} and a number in {asked.y!r}.")
    if len(found) > SERIES_LIMIT:
        raise TableError(f"{len(found)} series can't be told apart; {SERIES_LIMIT} are the most. Filter or group first.")
    return found, left_out


def bars(table, asked):
    found, left_out = series(table, asked)
    labels = list(dict.fromkeys(label for values in found.values() for label, _ in values))
    if len(labels) > BARS_LIMIT:
        raise TableError(f"{len(labels)} bars are too many to read; {BARS_LIMIT} are the most. Use --limit in compute.py.")
    for name, values in found.items():
        if len({label for label, _ in values}) < len(values):
            raise TableError(f"{name!r} has several rows for one {asked.x!r}. Aggregate with compute.py first.")
    everything = [value for values in found.values() for _, value in values]
    y_range, ticks = nice(min(everything), max(everything), from_zero=True)
    frame = Frame((0.0, float(len(labels))), y_range)
    parts = y_axis(frame, ticks, label_of(asked.y, asked.unit)) + legend(list(found))
    thick = 0.8 / len(found)
    for at, (name, values) in enumerate(found.items()):
        for label, value in values:
            left = labels.index(label) + 0.1 + at * thick
            x, right = frame.x(left), frame.x(left + thick * 0.95)
            top, bottom = sorted((frame.y(value), frame.y(0.0)))
            told = escape(f"{label}: {shown(value)}" + (f" ({name})" if len(found) > 1 else ""))
            parts.append(
                f'<rect x="{x:.1f}" y="{top:.1f}" width="{right - x:.1f}" height="{max(bottom - top, 0.5):.1f}"'
                f' fill="{COLOURS[at]}"><title>{told}</title></rect>'
            )
    slanted = len(labels) > 8 or max(len(brief(label)) for label in labels) * 7 * len(labels) > WIDTH - LEFT - RIGHT
    for at, label in enumerate(labels):
        x, y = frame.x(at + 0.5), HEIGHT - BOTTOM + 16
        turned = f' transform="rotate(-35 {x:.1f} {y})"' if slanted else ""
        parts.append(text(x, y, brief(label), "end" if slanted else "middle", 11, turned))
    if not slanted:
        parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, asked.x))
    summary = f"{len(labels)} bars from {shown(min(everything))} to {shown(max(everything))}."
    return parts, summary, left_out


def on_a_line(labels):
    """Numbers for the labels of an axis: numbers, dates or their order; and how to name a tick."""
    values = [number(label) for label in labels]
    if all(value is not None for value in values):
        return [float(value) for value in values], None
    dates = [moment(label) for label in labels]
    if all(dates):
        first = datetime(1970, 1, 1)
        days = [(one - first).total_seconds() / 86_400 for one in dates]
        names = {day: one.date().isoformat() for day, one in zip(days, dates)}
        return days, names
    order = {label: float(at) for at, label in enumerate(dict.fromkeys(labels))}
    return [order[label] for label in labels], {at: label for label, at in order.items()}


def curves(table, asked):
    found, left_out = series(table, asked)
    flat = [(name, label, value) for name, values in found.items() for label, value in values]
    if len(flat) > POINTS_LIMIT:
        raise TableError(f"{len(flat)} points are too many; {POINTS_LIMIT} are the most. Aggregate with compute.py first.")
    places, names = on_a_line([label for _, label, _ in flat])
    values = [value for _, _, value in flat]
    y_range, y_ticks = nice(min(values), max(values), asked.from_zero)
    if names is None:
        x_range, x_ticks = nice(min(places), max(places))
        name_of = tick_text
    else:
        known = sorted(names)
        x_range = (known[0], known[-1]) if len(known) > 1 else (known[0] - 1, known[0] + 1)
        step = max(1, math.ceil(len(known) / 7))
        x_ticks = known[::step]
        name_of = lambda tick: brief(names[tick])
    frame = Frame(x_range, y_range)
    parts = y_axis(frame, y_ticks, label_of(asked.y, asked.unit))
    parts += x_axis(frame, x_ticks, asked.x, name_of) + legend(list(found))
    for at, name in enumerate(found):
        points = [(x, y, label) for x, (series_name, label, y) in zip(places, flat) if series_name == name]
        if asked.kind == "line":
            points.sort(key=lambda point: point[0])
            path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y, _ in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[at]}" stroke-width="2" stroke-dasharray="{DASHES[at]}"/>')
        radius = 3 if len(flat) < 300 else 1.6
        for x, y, label in points if asked.kind == "scatter" or len(flat) <= 200 else []:
            told = escape(f"{label}: {shown(y)}")
            parts.append(f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="{radius}" fill="{COLOURS[at]}" fill-opacity="0.75"><title>{told}</title></circle>')
    summary = f"{len(flat)} points; {asked.y} from {shown(min(values))} to {shown(max(values))}."
    return parts, summary, left_out


def histogram(table, asked):
    cells = table.cells(asked.x)
    values = [float(value) for cell in cells if not is_missing(cell) and (value := number(cell)) is not None]
    if not values:
        raise TableError(f"There is no number in {asked.x!r}.")
    low, high = min(values), max(values)
    count = asked.bins or max(1, min(40, math.ceil(math.log2(len(values)) + 1)))
    width = (high - low) / count or 1.0
    bins = [0] * count
    for value in values:
        bins[min(int((value - low) / width), count - 1)] += 1
    y_range, ticks = nice(0.0, float(max(bins)), from_zero=True, whole=True)
    frame = Frame((low, low + width * count), y_range)
    parts = y_axis(frame, ticks, "rows")
    every = max(1, math.ceil(count / 8))
    edges = [low + width * at for at in range(0, count + 1, every)]
    parts += x_axis(frame, edges, label_of(asked.x, asked.unit), lambda value: f"{value:.4g}")
    for at, times in enumerate(bins):
        x, right = frame.x(low + width * at), frame.x(low + width * (at + 1))
        top, bottom = frame.y(float(times)), frame.y(0.0)
        told = f"{low + width * at:.4g} to {low + width * (at + 1):.4g}: {times} rows"
        parts.append(f'<rect x="{x:.1f}" y="{top:.1f}" width="{max(right - x - 1, 0.5):.1f}" height="{bottom - top:.1f}" fill="{COLOURS[0]}"><title>{told}</title></rect>')
    summary = f"{len(values)} values from {shown(low)} to {shown(high)} in {count} bins."
    return parts, summary, len(cells) - len(values)


def label_of(name, unit):
    return f"{name} ({unit})" if unit else name


def draw(table, asked):
    """The drawing, and the words to put under it."""
    if not asked.y and asked.kind != "histogram":
        raise TableError(f"A chart of the kind {asked.kind!r} needs --y.")
    kinds = {"bar": bars, "line": curves, "scatter": curves, "histogram": histogram}
    parts, summary, left_out = kinds[asked.kind](table, asked)
    description = f"{summary} {left_out} rows without a number are left out." if left_out else summary
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" fill="currentColor" style="max-width:100%;height:auto">'
        f"<title>{escape(asked.title)}</title><desc>{escape(description)}</desc>"
    )
    parts.insert(0, text(LEFT, 22, asked.title, "start", 15, ' font-weight="600"'))
    return head + "\n" + "\n".join(parts) + "\n</svg>\n", description


def main():
    parser = argparse.ArgumentParser(description="Draws a chart of a table as SVG.")
    parser.add_argument("data")
    parser.add_argument("svg")
    parser.add_argument("--kind", choices=["bar", "line", "scatter", "histogram"], required=True)
    parser.add_argument("--x", required=True, metavar="COLUMN")
    parser.add_argument("--y", metavar="COLUMN", help="not for a histogram")
    parser.add_argument("--series", metavar="COLUMN", help="one bar or line for each of its values")
    parser.add_argument("--title", required=True)
    parser.add_argument("--unit", help="of the numbers, for the axis")
    parser.add_argument("--bins", type=int, choices=range(1, 101), metavar="1…100", help="of a histogram")
    parser.add_argument("--from-zero", action="store_true", help="lines and points: begin the axis at zero")
    asked = parser.parse_args()
    drawing, description = draw(tables.read(asked.data), asked)
    tables.write_text(asked.svg, drawing)
    print(f"{asked.svg}: {asked.title}. {description}")


if __name__ == "__main__":
    tables.run(main)
