"""Many clients at once against `codemodekit serve --http`, from a process of their own: `make load`.

Each client holds a connection and runs programs one after another; each program calls a tool with what only this client
sent, and has to get it back. Prints rates, errors and the server's memory; exits with 1 at any error.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import httpx2
import typer
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

TOKEN = "a-token-for-the-load-run"
TOOLS = "async def echo(value: dict) -> dict:\n    return value\n\n\ntools = [echo]\n"
CONFIG = {"python": {"app": "load_tools:tools"}, "policy": "allow-all"}
PROGRAM = "return (await tools.app.echo({ value: context })).structuredContent"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a load run came to."""

    clients: int
    runs: int
    errors: int
    mixed_up: int
    """Answers that belonged to somebody else."""
    seconds: float
    runs_per_s: float
    p50_ms: float
    p95_ms: float
    memory_warm_mb: float
    """Of the server, after a tenth of the runs."""
    memory_end_mb: float

    @property
    def is_well(self) -> bool:
        return self.errors == 0 and self.mixed_up == 0 and self.memory_end_mb <= self.memory_warm_mb * 1.1 + 5


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[str, int]]:
    """Address and process of a server."""
    (folder / "load_tools.py").write_text(TOOLS, encoding="utf-8")
    (folder / "codemode.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "codemodekit", "serve", "--http", "127.0.0.1:0", "--auth-token-env", "LOAD_TOKEN",
        cwd=folder, env={**os.environ, "LOAD_TOKEN": TOKEN}, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert server.stderr is not None
    try:
        line = (await asyncio.wait_for(server.stderr.readline(), 60)).decode()
        found = re.search(r"http://\S+", line)
        if found is None:
            raise RuntimeError(f"the server did not start: {line}")
        yield found[0].rstrip("."), server.pid
    finally:
        server.terminate()
        await server.communicate()


def memory_mb(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


async def load(clients: int, runs: int, on_run: Any = lambda: None) -> Outcome:
    """`runs` programs in all, by `clients` clients at once."""
    times: list[float] = []
    failures: list[str] = []
    mixed_up = 0
    warm = 0.0
    begun = 0

    async def client_of(name: int, address: str, pid: int) -> None:
        nonlocal begun, mixed_up, warm
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(60, read=None)) as http:
            async with Client(streamable_http_client(address, http_client=http), read_timeout_seconds=60) as client:
                while begun < runs:
                    begun += 1
                    mine = {"client": name, "run": begun}
                    start = time.perf_counter()
                    answer = await client.call_tool("run_typescript", {"code": PROGRAM, "context": mine})
                    times.append(time.perf_counter() - start)
                    told = answer.structured_content or {}
                    if not told.get("ok"):
                        failures.append(str(answer.content)[:200])
                    elif told["value"] != mine:
                        mixed_up += 1
                    on_run()
                    if len(times) == runs // 10:
                        warm = memory_mb(pid)

    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder)) as (address, pid):
            start = time.perf_counter()
            ended = await asyncio.gather(
                *(client_of(name, address, pid) for name in range(clients)), return_exceptions=True
            )
            seconds = time.perf_counter() - start
            failures += [repr(each) for each in ended if each is not None]
            end = memory_mb(pid)
    ordered = sorted(times) or [0.0]
    for failure in failures[:5]:
        print(failure, file=sys.stderr)
    return Outcome(
        clients=clients,
        runs=len(times),
        errors=len(failures),
        mixed_up=mixed_up,
        seconds=seconds,
        runs_per_s=len(times) / seconds,
        p50_ms=statistics.median(ordered) * 1e3,
        p95_ms=ordered[int(len(ordered) * 0.95)] * 1e3,
        memory_warm_mb=warm,
        memory_end_mb=end,
    )


def main(
    clients: Annotated[int, typer.Option(min=1, help="Clients at once.")] = 200,
    runs: Annotated[int, typer.Option(min=10, help="Programs in all.")] = 10_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Load a server of its own from many clients, and see that every answer is right and memory stays flat."""
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("runs", total=runs)
        outcome = asyncio.run(load(clients, runs, lambda: progress.advance(task)))
    if as_json:
        print(json.dumps(asdict(outcome)))
    else:
        table = Table("figure", "value", title=f"{clients} clients, {runs:,} runs")
        for name, value in asdict(outcome).items():
            table.add_row(name.replace("_", " "), f"{value:,.1f}" if isinstance(value, float) else f"{value:,}")
        Console().print(table)
    raise typer.Exit(0 if outcome.is_well else 1)


if __name__ == "__main__":
    typer.run(main)
