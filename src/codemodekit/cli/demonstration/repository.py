"""A small git repository with a history to read, the same every time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import anyio

from codemodekit.cli.demonstration.team import MEMBERS
from codemodekit.errors import CodeModeKitError

__all__ = ["COMMITS", "make_repository"]

COMMITS: Final = 40
_FIRST: Final = datetime(2026, 7, 1, 8, tzinfo=UTC)
_WORK: Final = (
    "docs: how refunds are paid out",
    "feat: orders can be split",
    "chore: dependencies brought up to date",
    "fix: totals are rounded once, at the end",
    "feat: customers see when a parcel left",
    "test: what happens when the bank is away",
    "refactor: one place for prices",
)


async def make_repository(folder: Path, git: str) -> None:
    """Make the repository in a folder that exists.

    Raises:
        CodeModeKitError: git will not do it.
    """
    environment = _environment()
    for arguments, given in (
        (("init", "--quiet"), b""),
        (("fast-import", "--quiet"), "".join(_history()).encode()),
        (("checkout", "--quiet", "main"), b""),
    ):
        try:
            await anyio.run_process([git, *arguments], input=given, cwd=folder, env=environment)
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode("utf-8", "replace").strip()
            raise CodeModeKitError(f"git {arguments[0]} failed: {said[:300]}") from error
        except OSError as error:
            raise CodeModeKitError(f"git could not be started: {error.strerror or error}") from error


def _environment() -> Mapping[str, str]:
    """Ours without what would make git look elsewhere: another repository, or settings that sign and hook commits."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def _history() -> Iterator[str]:
    """As `git fast-import` reads it: all commits in one process."""
    for number in range(COMMITS):
        member, message = MEMBERS[number * 5 % len(MEMBERS)], f"{_WORK[number % len(_WORK)]} (step {number + 1})"
        seconds = int((_FIRST + timedelta(hours=17 * number)).timestamp())
        text = f"{message}\n"
        yield "commit refs/heads/main\n"
        yield f"committer {member.name} <{member.email}> {seconds} +0000\n"
        yield f"data {len(text.encode())}\n{text}"
        yield f"M 100644 inline notes/{number % 5}.txt\ndata {len(text.encode())}\n{text}\n"
