#!/usr/bin/env python3
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""No sentence of the pages has more than 25 words.

    check_sentences.py [PAGE...]      default: README.md, CONTRIBUTING.md and docs; exit code 0: all are short

Prose counts: paragraphs and entries of lists, not tables, headings and blocks of text. A sentence ends at . ! ? ; or :. Code in
back quotes is one word, brackets that hold nothing else are none. Pages that a command writes, and records of decisions, are not
looked at.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Iterator, List, Tuple

SOURCE = Path(__file__).resolve().parents[2]
MOST_WORDS = 25
CODE = "code"


def is_written_by_hand(page: Path) -> bool:
    """`weft docs` and `weft validate` make the others."""
    return not page.name.startswith("06_validation_") and "Made by `weft docs`" not in page.read_text(encoding="utf-8")


def paragraphs(text: str) -> Iterator[Tuple[int, str]]:
    """Number of the first line, and the text in one line."""
    first, words, fenced = 0, "", False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.startswith("```")
        entry = re.match(r"\s*([*-]|\d+\.)\s+", line)
        no_prose = fenced or fence or not line.strip() or line.startswith(("#", "|", "<!--", "![")) or (line.startswith("    ") and not words)
        if (no_prose or entry) and words:
            yield first, words
            words = ""
        fenced = fenced != fence
        if no_prose:
            continue
        if not words:
            first = number
        words += " " + (line[entry.end() :] if entry else line.strip())
    if words:
        yield first, words


def sentences(paragraph: str) -> List[str]:
    text = re.sub(r"`[^`]*`", CODE, paragraph)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(rf"\((?:{CODE}[,; ]*)+\)", "", text)
    text = re.sub(r"\b(Fig|al|Sec)\.", r"\1", text)
    return [part for part in re.split(r"(?<=[.!?;:])\s+", text) if part.strip()]


def words(sentence: str) -> int:
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def problems(page: Path) -> Iterator[str]:
    for line, paragraph in paragraphs(page.read_text(encoding="utf-8")):
        for sentence in sentences(paragraph):
            count = words(sentence)
            if count > MOST_WORDS:
                yield f"{page}:{line}: {count} words, {MOST_WORDS} at most: {sentence.strip()}"


def main(arguments: List[str]) -> int:
    pages = [Path(name) for name in arguments] or [
        page
        for page in [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").glob("*.md"))]
        if is_written_by_hand(page)
    ]
    found = [problem for page in pages for problem in problems(page)]
    for problem in found:
        print(problem)
    print(f"{len(pages)} pages, {len(found)} sentences are too long")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
