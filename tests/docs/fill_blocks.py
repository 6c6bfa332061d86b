"""Writes the files that pages include into them; run it after a change of docs_src or examples.

python tests/docs/fill_blocks.py
"""

from __future__ import annotations

import re

from docs_pages import ROOT, pages

_INCLUDED = re.compile(r"(<!-- file: (?P<file>\S+) -->\n```[\w-]*\n)(?P<text>.*?)(^```$)", re.MULTILINE | re.DOTALL)

for page in pages():
    text = page.read_text(encoding="utf-8")
    filled = _INCLUDED.sub(lambda found: found[1] + (ROOT / found["file"]).read_text(encoding="utf-8") + found[4], text)
    if filled != text:
        page.write_text(filled, encoding="utf-8")
        print("filled", page.relative_to(ROOT))
