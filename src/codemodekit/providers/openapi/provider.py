"""The provider for one API, made from a configuration.

Importing this costs next to nothing: the HTTP client is loaded when a first connection is opened.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import anyio.to_thread

from codemodekit.contracts import ToolSession
from codemodekit.errors import ConfigurationError
from codemodekit.providers.mcp.secrets import redactor_for
from codemodekit.providers.mcp.settings import HttpServer
from codemodekit.providers.openapi.credentials import Auth, secrets_of
from codemodekit.providers.openapi.settings import ApiSettings, is_address

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OpenApiToolProvider", "openapi"]


class OpenApiToolProvider:
    """The operations of one API, under a configured name.

    `spec` is a file, an address that is asked once a connection, or a document that has been parsed. `base_url` takes
    the place of the servers in the document. `auth` is one credential, or one for each security scheme of the document.
    `headers` go along with every request to the API. `include` and `exclude` are globs on tool names.

    Raises:
        ConfigurationError: a setting that cannot work.
    """

    def __init__(
        self,
        name: str,
        spec: str | Path | Mapping[str, Any],
        *,
        base_url: str | None = None,
        variables: Mapping[str, str] | None = None,
        auth: Auth | Mapping[str, Auth] | None = None,
        headers: Mapping[str, str] | None = None,
        include: Sequence[str] = ("*",),
        exclude: Sequence[str] = (),
        output_mismatch: Literal["error", "warn"] = "error",
        secrets: Sequence[str] = (),
        private: Sequence[str] = (),
    ) -> None:
        if not name:
            raise ConfigurationError(f"a source needs a name, not {name!r}")
        if base_url is not None and (
            urlsplit(base_url).scheme not in ("http", "https") or not urlsplit(base_url).hostname
        ):
            raise ConfigurationError("'base_url' must start with http:// or https:// and name a host")
        credentials = [] if auth is None else list(auth.values()) if isinstance(auth, Mapping) else [auth]
        self._name = name
        self._settings = ApiSettings(
            spec=spec,
            base_url=base_url,
            variables=dict(variables or {}),
            auth=auth,
            headers=dict(headers or {}),
            include=tuple(include),
            exclude=tuple(exclude),
            output_mismatch=output_mismatch,
            redactor=redactor_for(
                HttpServer(url=spec if isinstance(spec, str) and is_address(spec) else "", headers=dict(headers or {})),
                secrets=[*secrets, *secrets_of(credentials)],
                private=private,
            ),
        )

    @property
    def name(self) -> str:
        """The configured name, kept exactly."""
        return self._name

    def redact(self, text: str) -> str:
        """The text without this source's secrets and without authorization material, bounded."""
        return self._settings.redactor.clean(text)

    def connect(self) -> AbstractAsyncContextManager[ToolSession]:
        """Read the document and be ready for calls; enter and leave it in the same task.

        Raises:
            SourceLost: (on entering) the document cannot be had or understood.
        """
        return self._connect()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[ToolSession]:
        open_api = await anyio.to_thread.run_sync(_load_client)
        async with open_api(self._settings) as session:
            yield session


openapi = OpenApiToolProvider
"""The way to say "an API" in a configuration: `openapi("pets", "petstore.yaml")`."""


def _load_client() -> Callable[[ApiSettings], AbstractAsyncContextManager[ToolSession]]:
    # In a thread and not at the top: the HTTP client and the YAML parser take a tenth of a second to import.
    from codemodekit.providers.openapi.connection import open_api

    return open_api
