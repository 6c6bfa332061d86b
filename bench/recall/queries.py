"""Tools in, queries for them out, each with what counts as found. Made by rule, so nobody picks the easy ones.

A query counts as answered when the first five results hold a tool of its set of equals:

- exact name: tools of exactly this name, in whatever namespace;
- words, slips and other spellings of a name: tools whose names have the same words, whatever the order and case and
  whether their server puts its own name before them;
- paraphrase: tools that do the same to the same thing. Where the thing is called by a name that several trades have,
  the thing of each of them counts. A tool that does something else to the thing does not, nor does the right action on
  a thing alike;
- paraphrase that names the source: the same, and of that source only.

A paraphrase takes an action's words from the ways of asking and not from any description. The thing is called by a name
that may be another than the tool's, or by what people say who do not know the name, as long as one word of it stands
somewhere in the tool that is probed: where there is none, no search by words can find it, and the tool's own word is
taken.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from bench.recall.actions import ACTIONS
from bench.recall.domains import PARTS, TRADES, Thing
from bench.recall.world import MadeTool, many

__all__ = ["KINDS", "Query", "queries"]

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_THINGS: Final = {thing.key: thing for trade in TRADES for thing in trade.things}
_PARTS: Final = {part.key: part for part in PARTS}
_ACTIONS: Final = {action.key: action for action in ACTIONS}


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and what would answer it."""

    kind: str
    text: str
    counts: Callable[[MadeTool], bool]
    in_view: bool


KINDS: Final = {
    "name": "exact name",
    "words": "words of the name",
    "typo": "name with a slip",
    "split": "name in another spelling",
    "paraphrase": "paraphrase",
    "sourced": "paraphrase and source",
}


def queries(tools: Iterable[MadeTool], seed: int = 1) -> list[Query]:
    """One query of each kind for each of these tools."""
    found: list[Query] = []
    for tool in tools:
        chance = random.Random(f"query {tool.source} {tool.name} {seed}")
        found += [_name(tool), _words(tool), _typo(tool, chance), _split(tool, chance), *_paraphrases(tool, chance)]
    return found


# --- names ------------------------------------------------------------------------------------------------------------


def _name(tool: MadeTool) -> Query:
    return Query("name", tool.name, lambda other: other.name == tool.name, tool.in_view)


def _same_words(tool: MadeTool) -> Callable[[MadeTool], bool]:
    wanted = sorted(tool.words)
    return lambda other: sorted(other.words) == wanted


def _words(tool: MadeTool) -> Query:
    return Query("words", " ".join(tool.words), _same_words(tool), tool.in_view)


def _typo(tool: MadeTool, chance: random.Random) -> Query:
    words = list(tool.words)
    place = chance.choice([place for place, word in enumerate(words) if len(word) >= 4])
    words[place] = _slipped(words[place], chance)
    return Query("typo", chance.choice((" ", "_")).join(words), _same_words(tool), tool.in_view)


def _slipped(word: str, chance: random.Random) -> str:
    place = chance.randrange(len(word))
    letter = chance.choice(_LETTERS)
    match chance.choice(("insert", "drop", "swap", "replace")):
        case "insert":
            return word[:place] + letter + word[place:]
        case "drop":
            return word[:place] + word[place + 1 :]
        case "swap":
            place = min(place, len(word) - 2)
            return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        case _:
            return word[:place] + letter + word[place + 1 :]


def _split(tool: MadeTool, chance: random.Random) -> Query:
    words = tool.words
    place = chance.randrange(1, len(words)) if len(words) > 1 else 0
    spelled = (
        words[0] + "".join(map(str.capitalize, words[1:])),
        "".join(map(str.capitalize, words)),
        "_".join(words),
        "-".join(words),
        "".join(words),
        " ".join((*words[: place - 1], *("".join(words[place - 1 : place + 1]),), *words[place + 1 :])),
        "_".join(words).upper(),
    )
    return Query("split", chance.choice(spelled), _same_words(tool), tool.in_view)


# --- paraphrases ------------------------------------------------------------------------------------------------------


def _paraphrases(tool: MadeTool, chance: random.Random) -> list[Query]:
    thing, action = _THINGS[tool.intent.thing], _ACTIONS[tool.intent.action]
    said, things = _called(tool, thing, chance)
    one, several = said, said if said in thing.said else many(said)
    if tool.intent.part is not None:
        one, several = _with_part(one, _PARTS[tool.intent.part], chance)
    text = chance.choice(action.seen if tool.in_view else action.unseen).format(it=one, them=several)

    def counts(other: MadeTool) -> bool:
        intent = other.intent
        return (intent.action, intent.part) == (tool.intent.action, tool.intent.part) and intent.thing in things

    return [
        Query("paraphrase", text, counts, tool.in_view),
        Query("sourced", f"{text} in {tool.source}", lambda it: it.source == tool.source and counts(it), tool.in_view),
    ]


def _called(tool: MadeTool, thing: Thing, chance: random.Random) -> tuple[str, frozenset[str]]:
    """What the thing is called, and all things that are called so."""
    text = set(re.findall("[a-z]+", " ".join((*tool.words, tool.description, *tool.input["properties"])).lower()))
    own = next(name for name in thing.names if " ".join(tool.words).find(name[:-1]) >= 0)
    said = chance.choice(thing.said) if chance.random() < 0.2 else chance.choice(thing.names)
    if not any(len(word) > 3 and word in text for word in said.split()):
        said = own
    if said in thing.said:
        return said, frozenset({thing.key})
    return said, frozenset(other.key for other in _THINGS.values() if said in other.names)


def _with_part(said: str, part: Thing, chance: random.Random) -> tuple[str, str]:
    """One part of a thing, and several."""
    shape = chance.choice(("{part} of the {said}", "{said} {part}", "{part} on a {said}"))
    return tuple(shape.format(said=said, part=name) for name in (part.key, many(part.key)))  # type: ignore[return-value]
