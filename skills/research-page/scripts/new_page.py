#!/usr/bin/env python3
"""Writes the skeleton of a research page: landmarks, style, both colour schemes, no content.

    python3 scripts/new_page.py index.html --title 'Which index for 100 million vectors?' --lang en
"""

import argparse
import os
import re
import sys
from html import escape

# Headings by language; others are given with --headings.
HEADINGS = {
    "de": ("Die kurze Antwort", "Befunde", "Offen und widersprüchlich"),
    "en": ("The short answer", "Findings", "Open and contradictory"),
    "es": ("La respuesta breve", "Hallazgos", "Abierto y contradictorio"),
    "fr": ("La réponse en bref", "Constats", "Ouvert et contradictoire"),
    "it": ("La risposta in breve", "Risultati", "Aperto e contraddittorio"),
}
TITLE_LIMIT = 200


def skeleton(title, lang, headings):
    """The page's text."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "assets", "page.html")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    values = {"title": title, "lang": lang, "answer": headings[0], "findings": headings[1], "open": headings[2]}
    return re.sub(r"\{\{(\w+)\}\}", lambda found: escape(values[found.group(1)]), page)


def main():
    parser = argparse.ArgumentParser(description="Writes the skeleton of a research page.")
    parser.add_argument("page")
    parser.add_argument("--title", required=True)
    parser.add_argument("--lang", default="en", help="the page's language, as de or pt-BR")
    parser.add_argument("--headings", metavar="ANSWER|FINDINGS|OPEN", help="in a language that is not known here")
    parser.add_argument("--overwrite", action="store_true")
    asked = parser.parse_args()
    title = " ".join(asked.title.split())
    headings = tuple(asked.headings.split("|")) if asked.headings else HEADINGS.get(asked.lang.split("-")[0].lower())
    if not title or len(title) > TITLE_LIMIT or "[S" in title:
        sys.exit(f"error: a title has 1 to {TITLE_LIMIT} characters and no citation.")
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", asked.lang):
        sys.exit(f"error: {asked.lang!r} is no language tag; write for example en or pt-BR.")
    if headings is None or len(headings) != 3:
        sys.exit("error: give three headings in the page's language with --headings 'ANSWER|FINDINGS|OPEN'.")
    if os.path.exists(asked.page) and not asked.overwrite:
        sys.exit(f"error: {asked.page!r} is there already; edit it, or give --overwrite.")
    with open(asked.page, "w", encoding="utf-8", newline="\n") as file:
        file.write(skeleton(title, asked.lang, headings))
    print(f"{asked.page}: fill the header, the short answer, the findings and what is open, each with citations.")


if __name__ == "__main__":
    main()
