"""Commands on the pages are commands that exist, and what is shown of their output is what they print."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from docs_pages import ROOT, blocks, pages, sections

from codemodekit.cli.main import leaves, run

pytestmark = pytest.mark.proves("house.docs")

CLI_PAGE: Final = ROOT / "docs" / "cli.md"
_OPTION: Final = re.compile(r"^ +(?:-\w, )?(--[\w-]+)", re.MULTILINE)
_TARGET: Final = re.compile(r"^([\w-]+):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Line:
    """One command of a console block, with the output that is shown under it."""

    page: str
    words: tuple[str, ...]
    output: str
    mark: str

    @property
    def is_ours(self) -> bool:
        return self.words[0].rsplit("/", 1)[-1] == "codemodekit"


def commands() -> list[Line]:
    found = []
    for page in pages():
        for block in blocks(page):
            if block.language == "console":
                for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                    command, _, output = part.partition("\n")
                    name = page.relative_to(ROOT).as_posix()
                    found.append(Line(name, tuple(shlex.split(command)), output, block.mark))
    return found


LINES: Final = commands()
OURS: Final = [line for line in LINES if line.is_ours]
LEAVES: Final = {" ".join(words): words for words in leaves()}


def command_of(line: Line) -> str:
    """`policy explain`, or `run`: what a line's first words name."""
    return next((name for name, words in LEAVES.items() if line.words[1 : 1 + len(words)] == words), "")


def options_of(command: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    assert run([*LEAVES[command], "--help"]) == 0
    return set(_OPTION.findall(capsys.readouterr().out)) - {"--help"}


def test_every_block_of_a_console_begins_with_a_command() -> None:
    for page in pages():
        assert all(block.text.startswith("$ ") for block in blocks(page) if block.language == "console"), page


@pytest.mark.parametrize("line", OURS, ids=lambda line: " ".join(line.words))
def test_a_documented_command_exists_with_its_options(line: Line, capsys: pytest.CaptureFixture[str]) -> None:
    command = command_of(line)
    assert command
    given = {word.partition("=")[0] for word in line.words[2:] if word.startswith("--")}
    assert given <= options_of(command, capsys)


@pytest.mark.parametrize(
    "line", [line for line in LINES if not line.is_ours], ids=lambda line: f"{line.page}: {' '.join(line.words)}"
)
def test_other_commands_are_make_targets_or_files_of_ours(line: Line) -> None:
    program, argument = line.words
    if program == "make":
        assert argument in _TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    else:
        assert program == "python"
        assert (ROOT / argument).is_file()


@pytest.mark.parametrize("line", [line for line in OURS if line.mark == "run"], ids=lambda line: " ".join(line.words))
def test_a_command_prints_what_its_page_shows(
    line: Line, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    if "two_servers" in " ".join(line.words):
        pytest.importorskip("mcp_server_git", reason="the extra 'demo' is not installed")
        if not (ROOT / ".git").exists():
            pytest.skip("not a git checkout")
    assert run(line.words[1:]) in (0, 1)
    pattern = re.escape(_settled(line.output)).replace("…", ".+?")
    printed = _settled(capsys.readouterr().out)
    assert re.fullmatch(pattern, printed), printed


def _settled(text: str) -> str:
    """The text without what differs from run to run: durations, and the width of columns."""
    lines = (" ".join(re.sub(r"\d+\.\d ms", "0.0 ms", line).split()) for line in text.strip().splitlines())
    return "\n".join(lines)


def test_every_command_is_documented() -> None:
    assert set(LEAVES) <= set(sections(CLI_PAGE, 2))


@pytest.mark.parametrize("command", LEAVES)
def test_every_option_is_documented_and_no_other(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = re.findall(r"^\| `(--[\w-]+)", sections(CLI_PAGE, 2)[command], re.MULTILINE)
    assert set(rows) == options_of(command, capsys)
