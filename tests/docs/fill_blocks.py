"""Writes what pages include into them: files, and the results of the examples of docs/diagnostics.md.

Run it after a change of docs_src, of examples or of what a diagnostic says: python tests/docs/fill_blocks.py
"""

from __future__ import annotations

import asyncio
import re

from diagnostic_examples import PAGE, filled
from docs_pages import ROOT, pages

_INCLUDED = re.compile(r"(<!-- file: (?P<file>\S+) -->\n```[\w-]*\n)(?P<text>.*?)(^```$)", re.MULTILINE | re.DOTALL)

for page in pages():
    text = page.read_text(encoding="utf-8")
    now = _INCLUDED.sub(lambda found: found[1] + (ROOT / found["file"]).read_text(encoding="utf-8") + found[4], text)
    if page == PAGE:
        now = asyncio.run(filled(now))
    if now != text:
        page.write_text(now, encoding="utf-8")
        print("filled", page.relative_to(ROOT))
