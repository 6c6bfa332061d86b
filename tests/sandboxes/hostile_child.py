"""Runs programs of the hostile corpus in a process of its own and writes one JSON line about each.

Arguments: the corpus file and the group. Each program runs beside a harmless one, and is followed by another. The peak
of resident memory is set back before each (Linux).
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

from codemodekit.code_mode import CodeMode
from codemodekit.limits import ExecutionLimits
from codemodekit.policy import allow_all_tool_calls
from codemodekit.providers.local import local

LIMITS = ExecutionLimits(memory_bytes=64 << 20, compute_time_ms=500)
BESIDE = "let s = 0; for (let i = 0; i < 20; i++) s += (await tools.app.twice({ n: i })).structuredContent; return s"


async def twice(n: int) -> int:
    return 2 * n


def memory(key: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith(key)).split()[1]) * 1024


async def one(code_mode: CodeMode, program: str) -> dict[str, Any]:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = memory("VmRSS:")
    ended_after = used = 0.0

    async def hostile() -> Any:
        nonlocal ended_after, used
        start, start_used = time.perf_counter(), time.process_time()
        result = await code_mode.run(program)
        ended_after, used = time.perf_counter() - start, time.process_time() - start_used
        return result

    result, beside = await asyncio.gather(hostile(), code_mode.run(BESIDE))
    growth = memory("VmHWM:") - before
    after = await code_mode.run("return 6 * 7")
    return {
        "ok": result.ok,
        "code": str(result.error.code) if result.error else None,
        "value": result.value if result.ok else None,
        "seconds": ended_after,
        "processorSeconds": used,
        "growth": growth,
        "beside": [beside.value if beside.ok else beside.to_wire(), len(beside.calls)],
        "after": after.value if after.ok else after.to_wire(),
    }


async def main(corpus: str, group: str) -> None:
    programs = json.loads(Path(corpus).read_text(encoding="utf-8"))[group]
    async with CodeMode(
        providers=[local("app", [twice])], tool_policy=allow_all_tool_calls(), limits=LIMITS
    ) as code_mode:
        await code_mode.settled(5)
        for _ in range(4):  # threads, caches and the compiled module are there before anything is measured
            await asyncio.gather(*(code_mode.run(BESIDE) for _ in range(4)))
        for name, program in programs.items():
            print(json.dumps({"name": name, **await one(code_mode, program)}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
