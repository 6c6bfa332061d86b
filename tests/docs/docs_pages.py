"""Markdown in, the few things the tests look at out: headings, links, fenced blocks and what stands before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["ROOT", "Block", "anchors", "blocks", "links", "pages", "sections"]

ROOT: Final = Path(__file__).resolve().parents[2]

_FENCE: Final = re.compile(r"^```(?P<language>[\w-]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK: Final = re.compile(r"<!-- (?P<mark>[^>]+?) -->\n\Z")
_HEADING: Final = re.compile(r"^(?P<level>#+) (?P<title>.+)$", re.MULTILINE)
_LINK: Final = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    page: Path
    language: str
    text: str
    mark: str
    """The comment on the line above, such as `file: docs_src/first_run.py`; empty without one."""


def pages() -> list[Path]:
    """Every page of ours."""
    folders = (ROOT / "docs", ROOT / "examples")
    return [ROOT / "README.md", *sorted(page for folder in folders for page in folder.rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for fence in _FENCE.finditer(text):
        mark = _MARK.search(text, 0, fence.start())
        yield Block(page, fence["language"], fence["text"], mark["mark"] if mark else "")


def _prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def sections(page: Path, level: int) -> dict[str, str]:
    """Text under each heading of this level, blocks included."""
    text = page.read_text(encoding="utf-8")
    parts = re.split(rf"^{'#' * level} (.+)$", text, flags=re.MULTILINE)
    titles, bodies = parts[1::2], parts[2::2]
    return {
        title: re.split(rf"^#{{1,{level}}} ", body, flags=re.MULTILINE)[0]
        for title, body in zip(titles, bodies, strict=True)
    }


def anchors(page: Path) -> set[str]:
    """The anchors of its headings, as Markdown renderers make them."""
    titles = (heading["title"] for heading in _HEADING.finditer(_prose(page)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def links(page: Path) -> list[str]:
    return [link["target"] for link in _LINK.finditer(_prose(page))]
