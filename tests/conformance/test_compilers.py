"""Every compiler that ships keeps the contract."""

from __future__ import annotations

import pytest

from codemodekit.compilers.typescript import TypeScriptCompiler
from codemodekit.testing import COMPILER_CHECKS, CompilerCheck

pytestmark = [pytest.mark.anyio, pytest.mark.proves("house.testing", "compile.erasing")]


@pytest.mark.parametrize("check", COMPILER_CHECKS, ids=lambda check: check.__name__)
async def test_the_typescript_compiler(check: CompilerCheck) -> None:
    await check(TypeScriptCompiler)
