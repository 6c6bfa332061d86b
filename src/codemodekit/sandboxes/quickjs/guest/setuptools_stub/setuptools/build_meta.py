"""Answers pip's question for metadata out of PKG-INFO."""

from __future__ import annotations

import email
from pathlib import Path


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: object = None) -> str:
    text = Path("PKG-INFO").read_text(encoding="utf-8")
    info = email.message_from_string(text)
    folder = Path(metadata_directory, f"{info['Name'].replace('-', '_')}-{info['Version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(text, encoding="utf-8")
    return folder.name
