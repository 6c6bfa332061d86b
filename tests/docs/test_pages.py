"""Pages agree with the files they include and with each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from docs_pages import ROOT, anchors, blocks, links, pages

pytestmark = pytest.mark.proves("house.docs")

PAGES = pages()


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        assert "://" not in target, f"{target}: the project has no home outside of this repository"
        file, _, anchor = target.partition("#")
        linked = (page.parent / file).resolve() if file else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_included_files_are_shown_as_they_are(page: Path) -> None:
    for block in blocks(page):
        kind, _, file = block.mark.partition(": ")
        if kind == "file":
            shown = (ROOT / file).read_text(encoding="utf-8")
            assert block.text == shown, f"{file} has changed: run python tests/docs/fill_blocks.py"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_json_on_a_page_is_json(page: Path) -> None:
    for block in blocks(page):
        if block.language == "json":
            assert json.loads(block.text) is not None


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_block_says_what_language_it_is_in(page: Path) -> None:
    known = {"console", "json", "python", "ts", "text"}
    assert {block.language for block in blocks(page)} <= known


def test_every_documented_source_file_is_shown_or_linked() -> None:
    mentioned = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    unmentioned = [file.name for file in (ROOT / "docs_src").glob("*.py") if f"docs_src/{file.name}" not in mentioned]
    assert unmentioned == []


def test_every_page_is_linked_from_another() -> None:
    linked = {(page.parent / target.partition("#")[0]).resolve() for page in PAGES for target in links(page)}
    assert [relative(page) for page in PAGES if page.resolve() not in linked and page.parent != ROOT] == []


def test_the_glossary_is_in_alphabetical_order() -> None:
    page = ROOT / "docs" / "glossary.md"
    words = [line[4:] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("### ")]
    assert words == sorted(words, key=str.casefold)


def test_every_decision_has_its_four_parts_and_is_listed() -> None:
    folder = ROOT / "docs" / "adr"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    decisions = sorted(folder.glob("0*.md"))
    assert [decision.name[:4] for decision in decisions] == [f"{number:04}" for number in range(1, len(decisions) + 1)]
    for decision in decisions:
        lines = decision.read_text(encoding="utf-8").splitlines()
        parts = [line for line in lines if line.startswith("## ")]
        assert parts == ["## Context", "## Decision", "## Consequences", "## Not chosen"], decision.name
        assert f"[{lines[0][2:]}]({decision.name})" in listed
