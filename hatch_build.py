"""Puts the guest into the wheel; the work is done by the guest's own build script."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GuestHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        script = Path(self.root, "src/codemodekit/sandboxes/quickjs/guest/build.py")
        spec = importlib.util.spec_from_file_location("codemodekit_guest_build", script)
        assert spec is not None and spec.loader is not None
        build = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build)
        build.ensure()
