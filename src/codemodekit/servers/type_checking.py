"""From a config to the type checker that it asks for; most do not, and then nothing of it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemodekit.errors import ConfigurationError
from codemodekit.servers.config import Config, ConfigError

if TYPE_CHECKING:
    from codemodekit.compilers.checker import TypeChecker

__all__ = ["build_type_checker"]


def build_type_checker(config: Config) -> TypeChecker | None:
    """The type checker of a config, not started yet; None if it asks for none.

    Raises:
        ConfigError: it asks for one, and the extra is not installed.
    """
    if not config.typecheck:
        return None
    from codemodekit.compilers.typecheck import TypeScriptChecker  # parser, catalogue and declarations

    try:
        return TypeScriptChecker()
    except ConfigurationError as error:
        where = f"{config.files[0]}: typecheck: " if config.files else ""
        raise ConfigError(f"{where}{error}") from error
