"""From the sources of a config to tool providers. A source that cannot work as configured still becomes a provider: one
that never connects and says why, so that the others are served and `health` shows the reason."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn, cast

from codemodekit.contracts import ToolProvider, ToolSession
from codemodekit.errors import ConfigurationError, SourceLost
from codemodekit.providers.local import local
from codemodekit.providers.mcp.settings import Mode
from codemodekit.providers.mcp.sources import mcp
from codemodekit.providers.openapi import ApiKey, Auth, Basic, Bearer, ClientCredentials, openapi
from codemodekit.providers.threads import in_thread
from codemodekit.servers.config import (
    Config,
    ConfigError,
    OpenApiSource,
    PluginSource,
    PythonSource,
    RemoteSource,
    Source,
    StdioSource,
    UnavailableSource,
)
from codemodekit.servers.importing import imported

__all__ = ["PythonProvider", "UnavailableProvider", "providers_of"]


def providers_of(config: Config) -> list[ToolProvider]:
    """One provider a source, in the order of the config; nothing is started.

    Raises:
        ConfigError: a setting that its provider refuses.
    """
    return [_provider(source, config.import_folders) for source in config.sources]


def _provider(source: Source, import_folders: Sequence[Path]) -> ToolProvider:
    try:
        match source:
            case StdioSource():
                return _stdio(source)
            case RemoteSource():
                return _remote(source)
            case OpenApiSource():
                return _openapi(source)
            case PythonSource():
                return PythonProvider(source.name, source.module, source.attribute, import_folders=import_folders)
            case PluginSource():
                return source.provider
            case UnavailableSource():
                return UnavailableProvider(source.name, source.reason)
    except ConfigError:
        raise
    except ConfigurationError as error:
        raise ConfigError(f"source {source.name!r}: {error}") from error


def _stdio(source: StdioSource) -> ToolProvider:
    return mcp.stdio(
        source.name,
        source.command,
        source.args,
        env=source.env,
        cwd=source.cwd,
        mode=cast(Mode, source.mode),
        output_mismatch=source.output_mismatch,
        connect_timeout_s=source.connect_timeout_s,
        private=source.secrets,
    )


def _remote(source: RemoteSource) -> ToolProvider:
    make = mcp.sse if source.transport == "sse" else mcp.http
    return make(
        source.name,
        source.url,
        headers=source.headers,
        mode=cast(Mode, source.mode),
        output_mismatch=source.output_mismatch,
        connect_timeout_s=source.connect_timeout_s,
        private=source.secrets,
    )


def _openapi(source: OpenApiSource) -> ToolProvider:
    return openapi(
        source.name,
        source.spec,
        base_url=source.base_url,
        variables=source.variables,
        auth=_auth(source.auth),
        headers=source.headers,
        include=source.include,
        exclude=source.exclude,
        output_mismatch=source.output_mismatch,
        private=source.secrets,
    )


def _auth(said: Mapping[str, Any] | None) -> Auth | Mapping[str, Auth] | None:
    if said is None:
        return None
    if "schemes" in said:
        return {name: _credential(each) for name, each in said["schemes"].items()}
    return _credential(said)


def _credential(said: Mapping[str, Any]) -> Auth:
    match said["type"]:
        case "bearer":
            return Bearer(said["token"])
        case "basic":
            return Basic(said["username"], said["password"])
        case "apiKey":
            return ApiKey(said["value"], said.get("name"), said.get("in"))
        case _:
            return ClientCredentials(
                client_id=said["clientId"],
                client_secret=said["clientSecret"],
                token_url=said.get("tokenUrl"),
                scopes=said.get("scopes", ()),
                audience=said.get("audience"),
                in_body=said.get("clientIn") == "body",
            )


class UnavailableProvider:
    """A source that never connects, for a reason known beforehand."""

    def __init__(self, name: str, reason: str) -> None:
        self._name = name
        self._reason = reason

    @property
    def name(self) -> str:
        return self._name

    def connect(self) -> AbstractAsyncContextManager[ToolSession]:
        """Always fails.

        Raises:
            SourceLost: (on entering) always, with the reason.
        """
        return _Refusal(self._reason)


class _Refusal(AbstractAsyncContextManager[ToolSession, None]):
    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def __aenter__(self) -> NoReturn:
        raise SourceLost(self._reason)

    async def __aexit__(self, *_failure: object) -> None:
        return None


class PythonProvider:
    """Functions named as `module:attribute`, imported when the source connects: a slow import holds up nobody, and a
    failing one costs this source alone."""

    def __init__(self, name: str, module: str, attribute: str, *, import_folders: Sequence[Path] = ()) -> None:
        self._name = name
        self._module = module
        self._attribute = attribute
        self._import_folders = tuple(import_folders)

    @property
    def name(self) -> str:
        return self._name

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[ToolSession]:
        """Import the tools and offer them.

        Raises:
            SourceLost: they cannot be imported, or are no tools.
        """
        provider: ToolProvider = await in_thread(self._load)
        async with provider.connect() as session:
            yield session

    def _load(self) -> ToolProvider:
        found = imported(self._module, self._attribute, folders=self._import_folders)
        if isinstance(found, str) or not isinstance(found, Iterable):
            raise SourceLost(
                f"{self._module}:{self._attribute} is of type {type(found).__name__}, not a list or dict of functions"
            )
        try:
            return local(self._name, found)
        except ConfigurationError as error:
            raise SourceLost(f"{self._module}:{self._attribute}: {error}") from error
