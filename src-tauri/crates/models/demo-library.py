#!/usr/bin/env python3
"""Writes demo-library/10-recommendation.pdf: two pages of text with a title and an author.

Only the standard library is used, and the same bytes come out every time:
    python3 demo-library.py
"""

from pathlib import Path

TITLE = "A recommendation for the archive"
AUTHORS = "Ida Morrow, Tomas Quill, Wen Aldous, Ruth Calder"
PAGES = [
    [
        ("title", TITLE),
        ("small", "Demonstration library. Aldermoor and all of its figures are invented."),
        ("small", "Aldermoor, 1 September 2031"),
        ("text", "The archive has 100 million vectors, one machine with 64 GB of memory and two "
                 "NVMe drives, and about 300 queries per second at its busiest hour."),
        ("text", "For this machine we recommend the graph on disk. It is the only index of the "
                 "three that reached a recall of 0.965 within 14 GB of memory, and a latency of "
                 "8.9 ms is well below the 20 ms that were asked for."),
        ("text", "IVF-PQ with re-ranking is the second choice. It is rebuilt in 2 hours and 15 "
                 "minutes where the graph on disk takes more than a day, and it loses 0.022 of "
                 "recall."),
        ("text", "HNSW is the best index where memory is no question. It would need a machine "
                 "with at least 384 GB, which the archive does not have."),
    ],
    [
        ("head", "When to think again"),
        ("text", "More than 2,500 queries per second: the drives become the limit, and HNSW with "
                 "8-bit vectors should be measured on a machine with 128 GB."),
        ("text", "Filters that leave less than one percent of the vectors: IVF-PQ keeps its "
                 "recall there and a graph does not."),
        ("text", "A drive that is shared with backups, or a network volume: do not use a graph "
                 "on disk at all."),
        ("head", "What we do not know"),
        ("text", "All figures come from one set of vectors with 768 dimensions. We have not "
                 "measured sets whose vectors crowd together, and we have not run any index for "
                 "longer than ninety days."),
    ],
]
FONTS = {"title": ("F2", 22, 30), "head": ("F2", 14, 24), "small": ("F1", 9, 14), "text": ("F1", 11.5, 16)}
LEFT, TOP, WIDTH = 72, 760, 451


def wrapped(text, size):
    """Lines of at most WIDTH points, at the average width of Helvetica's letters."""
    limit, line = int(WIDTH / (size * 0.5)), ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > limit:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line


def content(page):
    parts, y = ["BT"], TOP
    for kind, text in page:
        font, size, leading = FONTS[kind]
        y -= 8
        for line in wrapped(text, size):
            escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            parts.append(f"/{font} {size} Tf 1 0 0 1 {LEFT} {y} Tm ({escaped}) Tj")
            y -= leading
    return "\n".join(parts + ["ET"]).encode("ascii")


def main():
    streams = [content(page) for page in PAGES]
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(PAGES)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(PAGES)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({TITLE}) /Author ({AUTHORS}) /CreationDate (D:20310901090000Z) >>".encode(),
    ]
    for number, stream in enumerate(streams):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {7 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out, offsets = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        out += b"%010d 00000 n \n" % offset
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    target = Path(__file__).parent / "demo-library" / "10-recommendation.pdf"
    target.write_bytes(out)


main()
