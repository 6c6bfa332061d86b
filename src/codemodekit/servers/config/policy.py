"""The `policy` of a config: a name, a list of rules, or a file of rules. What a rule may say is `policy`'s affair."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Literal, cast

from codemodekit.servers.config.model import POLICY_NAMES, ConfigError, PolicyChoice, PolicyRules
from codemodekit.servers.config.parse import parse_file
from codemodekit.servers.config.reading import Node

__all__ = ["read_policy", "read_policy_node"]


def read_policy(text: str, *, folder: Path, where: str) -> PolicyChoice:
    """One of the names, or the rules in a file named relative to `folder`.

    Raises:
        ConfigError: neither; `where` opens the message.
    """
    if text in POLICY_NAMES:
        return cast(Literal["allow-all", "read-only", "deny-all"], text)
    path = folder / Path(text).expanduser() if text and "\0" not in text else None
    if path is None or not path.is_file():
        near = get_close_matches(text, POLICY_NAMES, n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{where}: {text!r} is none of {', '.join(POLICY_NAMES)} and no file{hint}")
    return _rules_file(path)


def read_policy_node(node: Node, *, folder: Path) -> PolicyChoice:
    """The value of the key `policy`.

    Raises:
        ConfigError: it is neither a name, a file nor a list.
    """
    if isinstance(node.value, list):
        return PolicyRules(tuple(node.value), f"{node.file}: {node.path}")
    if not isinstance(node.value, str):
        raise node.expected(f"one of {', '.join(POLICY_NAMES)}, a list of rules or the name of a file")
    return read_policy(node.value, folder=folder, where=f"{node.file}: {node.path}")


def _rules_file(path: Path) -> PolicyRules:
    root = Node(str(path), "", parse_file(path))
    if isinstance(root.value, list):
        return PolicyRules(tuple(root.value), root.file)
    root.only(("$schema", "rules"))
    rules = root.get("rules")
    if rules is None:
        raise root.error("a policy file is a list of rules, or an object with the key 'rules'")
    rules.items()
    return PolicyRules(tuple(rules.value), f"{root.file}: rules")
