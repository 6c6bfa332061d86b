"""Trades, things and actions in, a catalogue out: up to 47,000 tools of 300 servers, each with habits of its own.

A server keeps to one way of writing names, one verb for an action and one word for a thing, and describes its tools
tersely, plainly, at length, or not at all. What two servers offer is often the same under other names. The same seed
gives the same tools; a smaller catalogue is the beginning of a larger one, with another order of servers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from bench.recall.actions import ACTIONS, PART_ACTIONS, Action
from bench.recall.domains import PARTS, TRADES, Thing, Trade

__all__ = ["SERVERS", "Intent", "MadeTool", "is_in_view", "many", "world"]

SERVERS: Final = 300
_TOOLS_A_SERVER: Final = 160
_EMPTY: Final = 0.08
_HOUSES: Final = (
    "acorn", "basalt", "cobalt", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "juniper", "kestrel",
    "lumen", "maple", "nimbus", "onyx", "pylon",
)  # fmt: skip
_COMMON: Final = (
    ("workspace_id", "string", "Workspace to work in; the default one if left out."),
    ("limit", "integer", "How many to return at most."),
    ("cursor", "string", "Where the page before ended."),
    ("dry_run", "boolean", "Only say what would happen."),
    ("fields", "string", "Names of the fields wanted, parted by commas."),
    ("locale", "string", "Language of the answer."),
)  # fmt: skip
_REMARKS: Final = (
    "Needs the scope {scope}.",
    "Large answers come in pages; pass the cursor of the last one.",
    "Use this only when you know the id; otherwise search first.",
    "Times are in UTC.",
    "Answers with an error if it does not exist or you may not see it.",
    "Does nothing when called twice with the same arguments.",
    "Prefer the batch endpoint for more than a hundred.",
)


@dataclass(frozen=True, slots=True)
class Intent:
    """What a tool is for, whatever its server calls it."""

    action: str
    thing: str
    part: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeTool:
    """A tool, and what is known of it besides."""

    source: str
    name: str
    description: str
    input: dict[str, Any]
    read_only: bool | None
    intent: Intent
    words: tuple[str, ...]
    """The words of its name, without the server's own."""
    in_view: bool
    """Whether the ranking was worked on with this trade in view."""


@dataclass(frozen=True, slots=True)
class _Habits:
    """How one server does things."""

    source: str
    write: Callable[[Sequence[str]], str]
    style: str
    verb_last: bool
    prefix: tuple[str, ...]
    annotates: bool
    chance: random.Random


def world(count: int, seed: int = 1, servers: int = SERVERS) -> list[MadeTool]:
    """The first so many tools of these servers, in no particular order.

    Raises:
        ValueError: they have not so many.
    """
    tools = [tool for number in range(servers) for tool in islice(_tools_of(number, seed), _TOOLS_A_SERVER)]
    random.Random(f"order {seed}").shuffle(tools)
    if count > len(tools):
        raise ValueError(f"there are {len(tools)} tools, not {count}")
    return tools[:count]


def is_in_view(trade: Trade) -> bool:
    """Every other trade."""
    return TRADES.index(trade) % 2 == 0


def many(noun: str) -> str:
    """The plural."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


# --- servers ----------------------------------------------------------------------------------------------------------


def _tools_of(number: int, seed: int) -> Iterator[MadeTool]:
    trade = TRADES[number % len(TRADES)]
    chance = random.Random(f"server {number} {seed}")
    habits = _habits(number // len(TRADES), trade, chance)
    verbs = {action.key: chance.choice(action.verbs) for action in ACTIONS}
    nouns = {thing.key: chance.choices(thing.names, [3] + [1] * (len(thing.names) - 1))[0] for thing in trade.things}
    wanted: list[tuple[Action, Thing, Thing | None]] = [(a, thing, None) for a in ACTIONS for thing in trade.things]
    wanted += [(a, thing, part) for a in PART_ACTIONS for thing in trade.things for part in PARTS]
    chance.shuffle(wanted)
    wanted.sort(key=lambda each: each[2] is not None and chance.random() < 0.7)
    taken: set[str] = set()
    for action, thing, part in wanted:
        tool = _tool(habits, trade, action, verbs[action.key], thing, nouns[thing.key], part)
        if tool.name not in taken:
            taken.add(tool.name)
            yield tool


def _habits(number: int, trade: Trade, chance: random.Random) -> _Habits:
    source = _HOUSES[number % len(_HOUSES)] + chance.choice(("-", "_", "")) + trade.servers[number % len(trade.servers)]
    return _Habits(
        source=source,
        write=chance.choice((_snake, _snake, _snake, _camel, _camel, _kebab, _pascal)),
        style=chance.choice(("terse", "plain", "plain", "long", "long", "odd")),
        verb_last=chance.random() < 0.15,
        prefix=(source.replace("-", "_").split("_")[0],) if chance.random() < 0.15 else (),
        annotates=chance.random() < 0.6,
        chance=chance,
    )


def _snake(words: Sequence[str]) -> str:
    return "_".join(words)


def _kebab(words: Sequence[str]) -> str:
    return "-".join(words)


def _camel(words: Sequence[str]) -> str:
    return words[0] + "".join(map(str.capitalize, words[1:]))


def _pascal(words: Sequence[str]) -> str:
    return "".join(map(str.capitalize, words))


# --- tools ------------------------------------------------------------------------------------------------------------


def _tool(
    habits: _Habits, trade: Trade, action: Action, verb: str, thing: Thing, noun: str, part: Thing | None
) -> MadeTool:
    whole = noun if part is None else f"{noun} {part.key}"
    object_ = (many(whole) if action.plural else whole).split()
    words = (*object_, *verb.split("_")) if habits.verb_last else (*verb.split("_"), *object_)
    return MadeTool(
        source=habits.source,
        name=habits.write((*habits.prefix, *words)),
        description=_description(habits, action, thing, whole, part),
        input=_input(habits, action, thing, noun, part),
        read_only=action.reads if habits.annotates else None,
        intent=Intent(action.key, thing.key, part.key if part else None),
        words=words,
        in_view=is_in_view(trade),
    )


def _description(habits: _Habits, action: Action, thing: Thing, whole: str, part: Thing | None) -> str:
    chance = habits.chance
    if chance.random() < _EMPTY:
        return ""
    told = chance.choice(action.told).format(it=f"a {whole}", them=many(whole)) + "."
    if habits.style == "terse":
        return told
    if habits.style == "odd":
        return f"[{habits.source}] {whole.upper()} API, v{chance.randint(1, 3)}: {action.key} operation."
    about = f" A {thing.key} is here: {chance.choice(thing.said)}."
    if part is not None and chance.random() < 0.5:
        about += f" The {part.key} means: {part.said[0]}."
    remarks = " ".join(chance.sample(_REMARKS, 1 if habits.style == "plain" else 3)).format(
        scope=f"{whole.replace(' ', '.')}:{'read' if action.reads else 'write'}"
    )
    given = f" Takes {', '.join((part or thing).fields).replace('_', ' ')}." if chance.random() < 0.4 else ""
    return f"{told}{about if chance.random() < 0.7 else ''}{given} {remarks}"


def _input(habits: _Habits, action: Action, thing: Thing, noun: str, part: Thing | None) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    if not action.plural and action.key != "create":
        properties[f"{noun.replace(' ', '_')}_id"] = {"type": "string", "description": f"Which {noun}."}
    if action.key in ("create", "update", "search"):
        for field in (part or thing).fields:
            properties[field] = {"type": "string", "description": f"The {field.replace('_', ' ')}."}
    for name, kind, text in habits.chance.sample(_COMMON, 2):
        properties[name] = {"type": kind, "description": text}
    return {"type": "object", "properties": properties}
