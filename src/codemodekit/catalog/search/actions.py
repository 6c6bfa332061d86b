"""Words for what is done: which verbs mean the same to someone who looks for a tool, and which of them only read.

Plain English as tools and their users write it; nothing here comes from a catalogue. The words of one action are listed
together; a verb that belongs to several actions (`open`, `show`) is in each of their lines.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALL", "PHRASES", "READING", "TELLING", "actions_of", "asks_only", "is_mostly_noun", "is_verb", "synonyms_of",
    "verb_of",
]  # fmt: skip

_TEXT: Final = """
get: get fetch retrieve read show view display describe load open inspect see detail obtain
list: list show enumerate browse index get view display
search: search find query lookup locate filter match discover seek
create: create add new make insert register build generate compose write open
update: update edit modify change patch alter adjust set rename amend revise
delete: delete remove erase destroy drop purge discard trash clear
send: send post publish deliver submit push forward
run: run execute start launch trigger invoke begin perform
stop: stop cancel halt abort terminate kill end
copy: copy duplicate clone replicate fork
move: move transfer relocate migrate
upload: upload import attach load ingest
download: download export dump save extract
enable: enable activate
disable: disable deactivate suspend
approve: approve accept confirm authorize
reject: reject decline deny refuse
assign: assign allocate delegate
share: share grant publish invite
archive: archive retire deactivate
restore: restore recover undo revert undelete
merge: merge combine join unite
split: split divide separate
convert: convert transform translate
check: check validate verify test lint
schedule: schedule plan book reserve
reply: reply answer respond
count: count number total
compare: compare diff difference
summarize: summarize summary summarise
calculate: calculate compute sum add subtract multiply divide
close: close resolve finish complete
lock: lock protect
unlock: unlock unprotect
subscribe: subscribe follow watch
unsubscribe: unsubscribe unfollow unwatch
refresh: refresh reload sync synchronize
analyze: analyze analyse inspect examine
"""

_OF: Final[dict[str, tuple[str, ...]]] = {}
_VERBS: Final[dict[str, tuple[str, ...]]] = {}
for _line in _TEXT.strip().splitlines():
    _action, _, _listed = _line.partition(": ")
    _VERBS[_action] = tuple(_listed.split())
    for _verb in _VERBS[_action]:
        _OF[_verb] = (*_OF.get(_verb, ()), _action)

_READING_TEXT: Final = "get list search count compare check download summarize analyze calculate"
READING: Final = frozenset(_READING_TEXT.split())
"""Actions that leave things as they are."""

ALL: Final = frozenset(("all", "every", "each", "overview", "existing", "available"))
"""Words that ask for many."""

_ASKING_TEXT: Final = """
which what who whose when where recent recently latest last newest current currently status overview existing available
information info details about history
"""
_ASKING: Final = frozenset(_ASKING_TEXT.split())
"""Words that ask about something rather than for something to be done."""

_NOUNS_TEXT: Final = """
list log post query search order schedule record plan book lock match index view display detail number total
test answer copy fork push filter watch move set change share load import export dump save start end drop patch merge
split sum diff summary difference check new see build
"""
_MOSTLY_NOUNS: Final = frozenset(_NOUNS_TEXT.split())
"""Verbs that are at least as often something else: they say what is done only at the beginning, or where nothing else
does."""

TELLING: Final = frozenset(("log", "history", "status", "info", "information", "stats", "details"))
"""Last words of names of tools that tell something and have no verb."""

PHRASES: Final[dict[tuple[str, ...], str]] = {
    ("get", "rid", "of"): "delete",
    ("throw", "away"): "delete",
    ("take", "away"): "delete",
    ("look", "up"): "lookup",
    ("look", "for"): "search",
    ("look", "at"): "view",
    ("set", "up"): "create",
    ("turn", "on"): "enable",
    ("switch", "on"): "enable",
    ("turn", "off"): "disable",
    ("switch", "off"): "disable",
    ("how", "many"): "count",
    ("how", "much"): "count",
    ("number", "of"): "count",
    ("pull", "up"): "view",
    ("bring", "up"): "view",
    ("bring", "back"): "restore",
    ("call", "off"): "cancel",
    ("fill", "in"): "submit",
    ("give", "access"): "grant",
    ("give", "me"): "show",
    ("show", "me"): "show",
    ("tell", "me"): "show",
}  # fmt: skip
"""Several words that say one verb."""


def actions_of(verb: str) -> tuple[str, ...]:
    """The actions a verb may mean, however it is inflected; none for a word that is no verb of these."""
    return _OF.get(verb_of(verb) or "", ())


def verb_of(word: str) -> str | None:
    """The plain form of a verb: `deletes`, `deleted` and `deleting` are `delete`."""
    if word in _OF:
        return word
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            for plain in (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem, _with_y(stem)):
                if plain in _OF:
                    return plain
    return None


def _with_y(stem: str) -> str:
    return stem[:-1] + "y" if stem.endswith("i") else stem


def is_verb(word: str) -> bool:
    """Whether it is a verb of these in its plain form."""
    return word in _OF


def is_mostly_noun(word: str) -> bool:
    """Whether a verb is more often something else."""
    return verb_of(word) in _MOSTLY_NOUNS


def synonyms_of(verb: str) -> tuple[str, ...]:
    """Other verbs of its actions, in a fixed order."""
    plain = verb_of(verb)
    found = dict.fromkeys(other for action in actions_of(verb) for other in _VERBS[action])
    return tuple(other for other in found if other != plain)


def asks_only(words: frozenset[str]) -> bool:
    """Whether the words ask about something."""
    return not _ASKING.isdisjoint(words)
