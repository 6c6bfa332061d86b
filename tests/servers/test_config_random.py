"""Whatever a config file holds, reading it gives a config or one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemodekit.servers.config import Config, ConfigError, load_config
from codemodekit.servers.config.audit import AUDIT_KEYS
from codemodekit.servers.config.load import TOP_KEYS
from codemodekit.servers.config.sources import ENTRY_KEYS
from codemodekit.servers.sources import providers_of

STRINGS = ("${X}", "${X:-y}", "${", "m:t", "http://h/", "\0", "\ud800")
WORDS = (
    *TOP_KEYS,
    *ENTRY_KEYS,
    "a",
    "a.b",
    "",
    "stdio",
    "http",
    "auto",
    "${X}",
    "${X:-y}",
    "${",
    "m:t",
    "http://h/",
    "\0",
)

texts = st.sampled_from(WORDS) | st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)

pytestmark = pytest.mark.proves("config.checked")
entries = st.dictionaries(st.sampled_from(ENTRY_KEYS), values, max_size=5)
configs = values | st.fixed_dictionaries(
    {},
    optional={
        "mcpServers": st.dictionaries(texts, entries | values, max_size=3),
        "python": st.dictionaries(texts, texts, max_size=2),
        "policy": values,
        "limits": values,
        "search": values,
        "audit": values | st.dictionaries(st.sampled_from(AUDIT_KEYS), values, max_size=4),
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("config")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=configs, foreign=st.booleans())
def test_any_content_gives_a_config_or_one_line(folder: Path, data: Any, foreign: bool) -> None:
    path = folder / "random.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    chosen = {"mcp_config": path} if foreign else {"config": path}
    try:
        config = load_config(**chosen, folder=folder, environment={"X": "a secret value"})
        providers = providers_of(config)
    except ConfigError as error:
        assert len(str(error).splitlines()) == 1
        assert "a secret value" not in str(error)
    else:
        assert isinstance(config, Config)
        assert [provider.name for provider in providers] == [source.name for source in config.sources]
