"""The peer as a server on standard input and output: a FastMCP proxy of a config's upstreams, in code mode.

`python -m bench.peer_stdio CONFIG`, where the config is a file of `mcpServers`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fastmcp.experimental.transforms.code_mode import CodeMode
from fastmcp.server import create_proxy


def main() -> None:
    """Serve until standard input ends."""
    server = create_proxy(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), name="peer")
    server.add_transform(CodeMode())
    server.run(transport="stdio", show_banner=False)


if __name__ == "__main__":
    main()
