"""One call and a policy in, what would become of the call out. For `policy explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from codemodekit._json import ABSENT, JsonValue
from codemodekit.catalog.health import SourceHealth, SourceState
from codemodekit.catalog.near import near_names
from codemodekit.catalog.snapshot import CatalogTool
from codemodekit.code_mode import CodeMode
from codemodekit.contracts import Allow, Ask, Deny, PolicyRequest, ToolAnnotations
from codemodekit.policy import Explanation, ImmediatePolicy
from codemodekit.servers.config import Config, ConfigError, PolicyChoice, PolicyRules
from codemodekit.servers.policies import build_policy

__all__ = ["Question", "candidates", "explained"]

_MOST_PASSED_OVER: Final = 50
"""Rules that are told one by one; there may be thousands that name a tool."""

_NO_APPROVER: Final = "a host that runs from a config has no approver, so that 'ask' denies"
_NO_INPUT: Final = "no --input was given; the call is looked at with the input {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of the policy."""

    policy: PolicyChoice
    calls: tuple[tuple[str, str], ...]
    """Source and tool, for each way to read the name."""
    input: JsonValue = ABSENT
    principal: JsonValue = None

    def narrowed(self, config: Config) -> Config:
        """The config with the sources that are asked about, and no other."""
        asked = {source for source, _ in self.calls}
        return replace(config, sources=tuple(each for each in config.sources if each.name in asked))


def candidates(name: str, source: str | None, configured: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Every way to read `source.tool`: names may hold dots.

    Raises:
        ConfigError: no configured source fits.
    """
    readings = [each for each in configured if name.startswith(f"{each}.") and source in (None, each)]
    if not readings:
        wanted = source or name.partition(".")[0]
        near = near_names(wanted, configured)
        if "." not in name or wanted in configured:
            raise ConfigError(f"{name!r} is not SOURCE.TOOL, as in '{(near or configured)[0]}.<tool>'")
        hint = f"did you mean {', '.join(map(repr, near))}?" if near else f"configured: {', '.join(configured)}"
        raise ConfigError(f"there is no source {wanted!r}; {hint}")
    return tuple((each, name[len(each) + 1 :]) for each in readings)


def explained(code_mode: CodeMode, question: Question) -> dict[str, Any]:
    """What becomes of the call, in wire form.

    Raises:
        ConfigError: no source has the tool, or several have; near names are said.
    """
    policy = build_policy(question.policy)
    health = {each.source: each for each in code_mode.health()}
    source, name, tool = _found(code_mode, question, health)
    notes = [*_obstacles(code_mode, question, source, name, tool, health[source])]
    return _wire(question, source, name, tool, policy, notes)


def _found(
    code_mode: CodeMode, question: Question, health: dict[str, SourceHealth]
) -> tuple[str, str, CatalogTool | None]:
    """The tool that is meant; None where its source cannot say, or has put it aside."""
    sources = code_mode.snapshot().sources
    exact = [(source, tool) for source, tool in question.calls if source in sources and tool in sources[source].tools]
    if len(exact) > 1:
        both = " and ".join(repr(source) for source, _ in exact)
        raise ConfigError(f"{both} have such a tool; say which with --source")
    if exact:
        source, tool = exact[0]
        return source, tool, sources[source].tools[tool]
    for source, tool in question.calls:
        if health[source].state is not SourceState.HEALTHY or tool in sources[source].quarantined:
            return source, tool, None
    source, tool = question.calls[0]
    near = code_mode.snapshot().near_tools(source, tool)
    hint = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
    raise ConfigError(f"source {source!r} has no tool {tool[:200]!r}{hint}")


def _obstacles(
    code_mode: CodeMode, question: Question, source: str, name: str, tool: CatalogTool | None, health: SourceHealth
) -> list[str]:
    """Why no such call gets to the policy."""
    if tool is None:
        put_aside = code_mode.snapshot().sources.get(source)
        if put_aside is not None and name in put_aside.quarantined:
            return [f"the tool cannot be called, its schema cannot be enforced: {put_aside.quarantined[name]}"]
        why = f": {health.last_error}" if health.last_error else ""
        return [
            f"source {source!r} is {health.state}{why}; what it says about the tool is not known, and taken as nothing"
        ]
    if question.input is ABSENT or tool.input.is_valid(question.input):
        return []
    wrong = "; ".join(
        f"{error.pointer or '/'}: expected {error.expected}, given {error.given}"
        for error in tool.input.errors(question.input)
    )
    return [f"a call with this input is rejected before the policy is asked: {wrong}"]


def _wire(
    question: Question,
    source: str,
    name: str,
    tool: CatalogTool | None,
    policy: ImmediatePolicy,
    obstacles: list[str],
) -> dict[str, Any]:
    hints = tool.definition.annotations if tool is not None else ToolAnnotations()
    found = policy.explain(_request(question, source, name, hints))
    wire: dict[str, Any] = {
        "source": source,
        "tool": name,
        "callable": not obstacles,
        "decision": _word(found),
        "policy": question.policy.origin if isinstance(question.policy, PolicyRules) else question.policy,
        "why": found.why,
        "annotations": _hints(hints),
        "passedOver": [{"rule": each.rule + 1, "why": each.why} for each in found.passed_over[:_MOST_PASSED_OVER]],
        "notes": [*obstacles, *_notes(question, found)],
    }
    if found.rule is not None:
        wire["rule"] = found.rule + 1
    if isinstance(found.decision, Deny | Ask) and found.decision.reason:
        wire["reason"] = found.decision.reason
    return wire


def _request(question: Question, source: str, name: str, hints: ToolAnnotations) -> PolicyRequest:
    return PolicyRequest(
        execution_id="explain",
        call_id="call_1",
        source=source,
        tool=name,
        input={} if question.input is ABSENT else question.input,
        annotations=hints,
        principal=question.principal,
    )


def _notes(question: Question, found: Explanation) -> list[str]:
    notes = [_NO_INPUT] if question.input is ABSENT and isinstance(question.policy, PolicyRules) else []
    if isinstance(found.decision, Ask):
        notes.append(_NO_APPROVER)
    left_out = len(found.passed_over) - _MOST_PASSED_OVER
    return [*notes, f"{left_out} more rules before it are not listed"] if left_out > 0 else notes


def _word(found: Explanation) -> str:
    if isinstance(found.decision, Allow):
        return "allow"
    return "ask" if isinstance(found.decision, Ask) else "deny"


def _hints(hints: ToolAnnotations) -> dict[str, bool]:
    """What the source says of the tool: hints, not facts."""
    said = {
        "readOnly": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent,
        "openWorld": hints.open_world,
    }
    return {name: value for name, value in said.items() if value is not None}
