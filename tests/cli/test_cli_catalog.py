"""`catalog save` and `catalog diff`: files that hold a catalogue, and what has become of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_running import Run, complaint

pytestmark = pytest.mark.proves("catalog.diff", "cli.commands")

TOOLS = """
from codemodekit import define_tool

def greet(name: str) -> str:
    "Greets someone."
    return name

tools = [greet]
newer = [define_tool(greet, description="Greets."), define_tool(lambda: 1, name="wave")]
"""


@pytest.fixture
def sources(cli: Run, tmp_path: Path) -> Any:
    """Sets what the sources offer; a name that is None is down."""
    (tmp_path / "cmk_catalog_tools.py").write_text(TOOLS)

    def offer(**python: str | None) -> None:
        config = {
            "mcpServers": {
                n: {"command": "x", "env": {"K": "${CMK_ABSENT}"}} for n, at in python.items() if at is None
            },
            "python": {name: f"cmk_catalog_tools:{at}" for name, at in python.items() if at is not None},
        }
        (tmp_path / "codemode.json").write_text(json.dumps(config))

    return offer


def test_a_catalogue_is_saved_and_compared_with_what_is_offered_now(cli: Run, sources: Any, tmp_path: Path) -> None:
    sources(app="tools")
    code, out, err = cli("catalog", "save", "a.json")
    assert (code, err) == (0, "")
    assert "a.json: 1 tools, revision" in out
    code, out, _ = cli("catalog", "diff", "a.json", "current")
    assert code == 0
    assert "equal" in out
    sources(app="newer", more="tools")
    code, out, _ = cli("catalog", "diff", "a.json", "current")
    assert code == 1
    assert out.splitlines() == [
        "+ source more",
        "~ app.greet: description",
        "+ app.wave",
        "+ more.greet",
        "2 added, 0 removed, 1 changed.",
    ]
    code, out, _ = cli("catalog", "diff", "a.json", "current", "--json")
    found = json.loads(out)
    assert (code, found["equal"], found["sourcesAdded"]) == (1, False, ["more"])
    assert found["changed"] == [
        {
            "source": "app",
            "tool": "greet",
            "changes": [{"aspect": "description", "before": "Greets someone.", "after": "Greets."}],
        }
    ]


def test_two_files_are_compared_without_any_source(cli: Run, sources: Any, tmp_path: Path) -> None:
    sources(app="tools")
    cli("catalog", "save", "a.json")
    cli("catalog", "save", "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    (tmp_path / "codemode.json").unlink()
    assert cli("catalog", "diff", "a.json", "b.json")[0] == 0
    complaint(cli("catalog", "diff", "a.json", "current"), "no sources")


def test_while_a_source_is_down_nothing_is_saved_unless_that_is_wanted(cli: Run, sources: Any, tmp_path: Path) -> None:
    sources(app="tools", crm=None)
    code, out, err = cli("catalog", "save", "a.json")
    assert (code, out) == (1, "")
    assert "crm" in err.splitlines()[-1]
    assert not (tmp_path / "a.json").exists()
    code, out, _ = cli("catalog", "save", "a.json", "--partial", "--json")
    assert (code, json.loads(out)["missing"]) == (0, ["crm"])
    sources(app="tools", crm="tools")
    code, out, _ = cli("catalog", "diff", "a.json", "current")
    assert code == 1
    assert "? source crm" in out
    assert "crm.greet" not in out


def test_to_standard_output_only_the_catalogue_is_written(cli: Run, sources: Any) -> None:
    sources(app="tools")
    code, out, _ = cli("catalog", "save", "-", "--json")
    assert code == 0
    assert json.loads(out)["sources"]["app"]["greet"]["description"] == "Greets someone."


def test_a_file_that_holds_something_else_is_not_overwritten(cli: Run, sources: Any, tmp_path: Path) -> None:
    sources(app="tools")
    before = (tmp_path / "codemode.json").read_bytes()
    complaint(cli("catalog", "save", "codemode.json"), "not overwritten", "codemode.json")
    complaint(cli("catalog", "save", "."), "not overwritten")
    assert (tmp_path / "codemode.json").read_bytes() == before
    complaint(cli("catalog", "save", "absent/a.json"), "absent", "cannot be written")
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".new"] == []


def test_what_is_no_saved_catalogue_is_one_line_and_exit_2(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    (tmp_path / "b.json").write_text("[" * 100_000)
    (tmp_path / "c.json").write_bytes(b"\xff\xfe")
    for name in ("a.json", "b.json", "c.json", "absent.json"):
        complaint(cli("catalog", "diff", name, name), name)
    complaint(cli("catalog", "diff", "a.json"), "B")
