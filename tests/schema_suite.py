"""The official test suite of JSON Schema, as the source distribution of `jsonschema` carries it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pypi_sources import unpacked

__all__ = ["DIALECTS", "SuiteCase", "suite_cases"]

DIALECTS: Final = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
"""By the names of the suite's folders."""


@dataclass(frozen=True)
class SuiteCase:
    """One schema with values, each with the verdict it deserves."""

    file: str
    """Below the folder of its draft."""
    description: str
    schema: Any
    values: tuple[tuple[Any, bool], ...]

    @property
    def name(self) -> str:
        return f"{self.file}: {self.description}"


def suite_cases(draft: str) -> Iterator[SuiteCase]:
    """All cases of a draft, the optional ones after the required; each schema says its dialect, as far as it can."""
    suite = unpacked(
        "jsonschema",
        "4.26.0",
        "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326",
        "json/tests",
        backend="hatchling.build",
    )
    home = suite / draft
    for file in [*sorted(home.glob("*.json")), *sorted(home.glob("optional/**/*.json"))]:
        for case in json.loads(file.read_text(encoding="utf-8")):
            schema = case["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": DIALECTS[draft], **schema}
            values = tuple((test["data"], test["valid"]) for test in case["tests"])
            yield SuiteCase(file.relative_to(home).as_posix(), case["description"], schema, values)
