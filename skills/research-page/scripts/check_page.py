#!/usr/bin/env python3
"""Tells what the evidence check would refuse or mark in a page, before it is published.

    python3 scripts/check_page.py index.html [--quotes notes/quotes.md]

Each finding is a line `LINE: what is wrong; what to do`. Status 0: nothing was found; 1: something
was; 2: the page can't be read. With --quotes, every quote of the page has to be among the collected
ones: lines like `S3: "exact words" | anything`. The harness compares with the sources themselves.
"""

import argparse
import re
import sys
import unicodedata
from html.parser import HTMLParser

PAGE_LIMIT_BYTES = 8 * 1024 * 1024
QUOTE_WORDS = (4, 25)
STATEMENT_WORDS = 4
OWN_SENTENCES = 6
FINDINGS_SHOWN = 60

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
INLINE = frozenset(
    "a abbr b bdi bdo cite code data del dfn em i ins kbd label mark q s samp small span strong sub sup time u var wbr"
    .split()
)
# Text that is not shown, or in which a citation can't become a link.
NO_CITATION = {"title", "style", "script", "svg", "textarea", "a", "pre", "option", "button", "template"}
LABELS = {"h1", "h2", "h3", "h4", "h5", "h6", "th", "dt", "pre", "title", "style", "script", "template"}
OWN = {"header", "footer", "nav", "aside"}
WHOLE = {"tr", "blockquote", "figure"}
COVERS = {"caption": "table", "figcaption": "figure", "footer": "blockquote", "cite": "blockquote"}
REFUSED = {"base", "iframe", "frame", "object", "embed", "noscript", "script"}
LOADING = {"src", "srcset", "poster", "background", "data", "action", "formaction"}

BEGINS = re.compile(r"[\[\u3010]\s*[Ss][ _#-]?\d")
TOKEN = re.compile(
    r"""\[\s*S\d+(?:\s*:\s*(?:"[^"\]]*"|\u201c[^\u201d]*\u201d))?(?:\s*[;,]\s*S\d+(?:\s*:\s*(?:"[^"\]]*"|\u201c[^\u201d]*\u201d))?)*\s*\]"""
)
ONE = re.compile(r"""S(\d+)(?:\s*:\s*(?:"([^"\]]*)"|\u201c([^\u201d]*)\u201d))?""")


def folded(words):
    """Words as the evidence check compares them: white space, hyphenation and marks are folded."""
    words = unicodedata.normalize("NFKC", words).replace("\u00ad", "")
    words = re.sub(r"(\w)-\s+(\w)", r"\1\2", words)
    words = words.translate(str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2212": "-", "\u2010": "-", "\u2011": "-"}))
    return " ".join(words.split())


class Element:
    def __init__(self, name, line, above):
        self.name, self.line, self.above = name, line, above
        self.cites = False

    def outer(self):
        one = self
        while one is not None:
            yield one
            one = one.above


class Page(HTMLParser):
    """Walks through the page once; `blocks` are runs of text that belong together."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.at = Element("", 1, None)
        self.blocks = {}
        self.findings = []
        self.quotes = []
        self.citations = 0
        self.seen = set()
        self.ids = set()
        self.title = ""
        self.lang = ""
        self.feeds = {}

    def find(self, line, words):
        self.findings.append((line, words))

    def handle_starttag(self, name, attributes):
        line = self.getpos()[0]
        self.seen.add(name)
        if name in REFUSED:
            self.find(line, f"<{name}> can show what the page does not hold; take it out")
        for key, value in attributes:
            self.attribute(name, key, value or "", line)
        if name == "html":
            self.lang = dict(attributes).get("lang") or ""
        if name == "img" and not dict(attributes).get("alt"):
            self.find(line, "<img> has no text; say in alt what it shows")
        if name in VOID:
            if name == "br":
                self.handle_data(" ")
            return
        # A paragraph or row ends where the next one begins, as browsers have it.
        ends = {"li": {"li"}, "tr": {"tr"}, "td": {"td", "th"}, "th": {"td", "th"}, "dt": {"dt", "dd"}, "dd": {"dt", "dd"}}
        self.close_open(ends.get(name, set()))
        if name not in INLINE:
            self.close_open({"p"})
        self.at = Element(name, line, self.at)

    def close_open(self, names):
        if self.at.name in names:
            self.at = self.at.above

    def handle_startendtag(self, name, attributes):
        self.handle_starttag(name, attributes)
        # In HTML the slash closes nothing; in a drawing it does.
        if name not in VOID and any(one.name == "svg" for one in self.at.outer()):
            self.handle_endtag(name)

    def handle_endtag(self, name):
        for one in self.at.outer():
            if one.name == name:
                self.at = one.above
                return

    def attribute(self, name, key, value, line):
        if key.startswith("on"):
            self.find(line, f"{key} of <{name}> runs code; take it out")
        if BEGINS.search(value):
            self.find(line, f"a citation stands in {key} of <{name}>; it counts in running text only")
        loads = key in LOADING or key == "href" and name in ("link", "use", "image")
        if loads and value and not value.startswith(("data:", "#")):
            self.find(line, f"{key} of <{name}> loads {value[:60]!r}; put it into the page")
        if key == "href" and name == "a" and re.match(r"(?i)\s*(?:[a-z]+:|//)", value):
            self.find(line, "an address is written out; cite the source, and the app makes the link")
        if key == "style" and "url(" in value and "data:" not in value:
            self.find(line, "a style loads from an address; put it into the page")
        if key == "id":
            if value in self.ids:
                self.find(line, f"the id {value!r} is there twice")
            self.ids.add(value)

    def handle_comment(self, words):
        if BEGINS.search(words):
            self.find(self.getpos()[0], "a citation stands in a comment; it counts in running text only")

    def handle_data(self, words):
        names = [one.name for one in self.at.outer()]
        line = self.getpos()[0]
        if "title" in names and "svg" not in names:
            self.title += words
        if "style" in names and re.search(r"@import|url\(\s*['\"]?(?!data:|#)", words):
            self.find(line, "a style loads from an address; put it into the page")
        barred = next((name for name in names if name in NO_CITATION), None)
        if barred:
            if BEGINS.search(words):
                self.find(line, f"a citation stands in <{barred}>; it counts in running text only")
            words = BEGINS.sub("", words)
        if any(name in ("style", "script", "template", "title") for name in names):
            return
        key = self.block()
        text, first = self.blocks.get(key, ("", None))
        inner = next((one for one in self.at.outer() if one.name not in INLINE), self.at)
        # Between two cells or paragraphs of one block is a blank.
        blank = " " if self.feeds.get(key) not in (None, inner) else ""
        self.feeds[key] = inner
        self.blocks[key] = (text + blank + words, first or (line if words.strip() else None))

    def block(self):
        outer = list(self.at.outer())
        whole = next((one for one in outer if one.name in WHOLE), None)
        return whole or next((one for one in outer if one.name not in INLINE), outer[-1])

    def finish(self):
        own = {}
        cited, uncited = {}, []
        for element, (text, line) in self.blocks.items():
            names = [one.name for one in element.outer()]
            line = line or element.line
            found = self.cite(text, line)
            if found:
                cited[element] = True
                self.cover(element)
            elif not any(name in LABELS for name in names) and is_statement(text):
                voice = next((name for name in names if name in OWN), None)
                if voice:
                    own[voice] = own.get(voice, 0) + len(sentences(text))
                else:
                    uncited.append((element, line, text))
        for element, line, text in uncited:
            if not self.is_covered(element):
                self.find(line, f"nothing is cited for “{brief(text)}”; cite it, join it to a cited sentence, or take it out")
        for voice, count in own.items():
            if count > OWN_SENTENCES:
                self.find(1, f"<{voice}> has {count} sentences; what states something goes into <main>, with citations")
        self.shape()

    def cite(self, text, line):
        """Takes the block's citations up; says whether it has any."""
        any_found = False
        for begin in BEGINS.finditer(text):
            token = TOKEN.match(text, begin.start())
            if not token:
                self.find(line, f"“{brief(text[begin.start():], 50)}” is not written like [S1] or [S1: \"exact words\"]")
                continue
            any_found = True
            for number, straight, curly in ONE.findall(token.group()):
                self.citations += 1
                quote = straight or curly
                if quote:
                    self.quote(int(number), quote, line)
        return any_found

    def quote(self, number, words, line):
        count = len(words.split())
        if not QUOTE_WORDS[0] <= count <= QUOTE_WORDS[1]:
            self.find(line, f"the quote of S{number} has {count} words; take {QUOTE_WORDS[0]} to {QUOTE_WORDS[1]}")
        if "..." in words or "…" in words or "[" in words:
            self.find(line, f"the quote of S{number} leaves words out; make two quotes of it")
        self.quotes.append((number, words, line))

    def cover(self, element):
        """What a citation covers besides its block: a caption its table, a table's row its caption."""
        for one in element.outer():
            one.cites = one.cites or one.name in WHOLE
            if one.name in COVERS:
                for outer in one.outer():
                    if outer.name == COVERS[one.name]:
                        outer.cites = True
                        return
            if one.name == "table":
                one.row_cites = True
                return

    def is_covered(self, element):
        for one in element.outer():
            if one.cites:
                return True
            if one.name == "caption" and any(getattr(outer, "row_cites", False) for outer in one.outer()):
                return True
        return False

    def shape(self):
        """What a page needs to be read by everybody."""
        for name, words in (("main", "put the findings into <main>"), ("h1", "say the question in an <h1>")):
            if name not in self.seen:
                self.find(1, f"there is no <{name}>; {words}")
        if not self.title.strip():
            self.find(1, "there is no <title>; say the question or the answer in a few words")
        if not self.lang:
            self.find(1, "<html> has no lang; name the page's language")
        if "table" in self.seen and "caption" not in self.seen:
            self.find(1, "a table has no <caption>; say what it shows, of what, when")
        if not self.citations:
            self.find(1, "the page cites nothing")


def sentences(text):
    text = TOKEN.sub("", text)
    return [one for one in re.split(r"(?<=[.!?])\s+", " ".join(text.split())) if one]


def is_statement(text):
    """Whether something is stated: four words or more, no question, no line that leads to a list."""
    if text.strip().endswith(":"):
        return False
    return any(len(one.split()) >= STATEMENT_WORDS and not one.endswith("?") and re.search(r"[^\W\d_]", one) for one in sentences(text))


def brief(text, letters=70):
    text = " ".join(text.split())
    return text if len(text) <= letters else text[: letters - 1] + "…"


def collected(path):
    """The quotes that were collected, by source."""
    kept = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r"""\s*(?:[-*]\s*)?\[?S(\d+)\s*:\s*["\u201c](.*?)["\u201d]\s*\]?\s*(?:\||$)""", line)
            if found:
                kept.setdefault(int(found.group(1)), []).append(folded(found.group(2)))
    return kept


def compare(page, kept):
    for number, words, line in page.quotes:
        if not any(folded(words) in one for one in kept.get(number, [])):
            page.find(line, f"“{brief(words)}” was not collected from S{number}; copy it from the source again")


def main():
    parser = argparse.ArgumentParser(description="Tells what the evidence check would refuse or mark.")
    parser.add_argument("page")
    parser.add_argument("--quotes", metavar="FILE", help="the collected quotes")
    asked = parser.parse_args()
    try:
        with open(asked.page, "rb") as file:
            data = file.read(PAGE_LIMIT_BYTES + 1)
        if len(data) > PAGE_LIMIT_BYTES:
            raise ValueError(f"it has more than {PAGE_LIMIT_BYTES} bytes")
        text = data.decode("utf-8")
        kept = collected(asked.quotes) if asked.quotes else None
    except (OSError, ValueError) as error:
        print(f"error: {asked.page!r} can't be checked: {error}", file=sys.stderr)
        sys.exit(2)
    page = Page()
    page.feed(text)
    page.close()
    page.finish()
    if kept is not None:
        compare(page, kept)
    findings = sorted(set(page.findings))
    for line, words in findings[:FINDINGS_SHOWN]:
        print(f"{line}: {words}")
    if len(findings) > FINDINGS_SHOWN:
        print(f"… and {len(findings) - FINDINGS_SHOWN} more")
    print(f"{page.citations} citations, {len(page.quotes)} quotes, {len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
