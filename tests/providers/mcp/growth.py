"""Makes one call that is answered with 100 MB, and tells how much this process grew by it: `TRANSPORT TOOL ADDRESS`.

A process of its own, because the highest mark of memory never goes down.
"""

from __future__ import annotations

import json
import resource
import sys

import anyio

from codemodekit import CodeMode, allow_all_tool_calls, mcp


def highest_mb() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


async def main(transport: str, tool: str, address: str) -> None:
    if transport == "stdio":
        source = mcp.stdio("s", sys.executable, ["-S", address, sys.argv[4]], mode="2025-11-25")
    else:
        source = getattr(mcp, transport)("s", address, mode="2025-11-25")
    call = "return await tools.s.$tool({ bytes: context }).then(r => r.content[0].text.length, e => e.code)"
    async with CodeMode(providers=[source], tool_policy=allow_all_tool_calls()) as code_mode:
        program = call.replace("$tool", tool)
        small = await code_mode.run(program, context=65_536)
        before = highest_mb()
        large = await code_mode.run(program, context=100_000_000)
        grown = highest_mb() - before
        after = await code_mode.run(program, context=65_536)
    print(json.dumps({"small": small.value, "large": large.value, "after": after.value, "grownMb": round(grown, 1)}))


anyio.run(main, *sys.argv[1:4])
