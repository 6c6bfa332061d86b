"""What the made-up tools do: how servers call it, how they describe it, and how people ask for it.

Data only. `{it}` is one thing and `{them}` several. Each way of asking is in one of two halves, like the trades: one is
in view while the ranking is worked on, the other is only counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ACTIONS", "PART_ACTIONS", "Action"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that is done to a thing."""

    key: str
    verbs: tuple[str, ...]
    """In names of tools; a server keeps to one."""
    told: tuple[str, ...]
    """Beginnings of descriptions."""
    seen: tuple[str, ...]
    """Ways of asking, of the half in view."""
    unseen: tuple[str, ...]
    reads: bool = False
    plural: bool = False


ACTIONS: Final = (
    Action(
        key="get", verbs=("get", "fetch", "read", "retrieve", "describe"), reads=True,
        told=("Retrieves {it} by its id", "Get the details of {it}", "Returns one record: {it}", "Reads {it}"),
        seen=("show me the details of {it}", "open {it} and tell me what is in it", "view {it}"),
        unseen=("pull up {it}", "details about {it}", "look at {it} more closely"),
    ),
    Action(
        key="list", verbs=("list", "list_all", "get_all", "browse"), reads=True, plural=True,
        told=("Lists {them}", "List all {them}, page by page", "Returns every {it} that you can see", "All {them}"),
        seen=("which {them} are there", "show all {them}", "give me the {them}"),
        unseen=("enumerate our {them}", "overview of all existing {them}", "what {them} do we have"),
    ),
    Action(
        key="search", verbs=("search", "find", "query", "lookup"), reads=True, plural=True,
        told=("Searches {them} by text and filters", "Find {them} that match a query", "Full-text search over {them}"),
        seen=("look up {them} that match some words", "finding {them} by a keyword", "{them} search"),
        unseen=("locate {them} matching a phrase", "discover {them} with a filter", "searching through {them}"),
    ),
    Action(
        key="create", verbs=("create", "add", "new", "insert", "register"),
        told=("Creates {it}", "Add {it} to the workspace", "Makes a new record: {it}", "Registers {it}"),
        seen=("make a new {it}", "I need to add {it}", "set up {it}"),
        unseen=("creating one more {it}", "a new {it}, please add it", "insert another {it}"),
    ),
    Action(
        key="update", verbs=("update", "edit", "modify", "patch"),
        told=("Updates {it}; fields left out stay", "Changes the fields of {it}", "Edit {it}", "Modifies {it}"),
        seen=("change {it}", "edit a field of {it}", "modifying {it} that exists already"),
        unseen=("adjust {it}", "{it} needs to be updated", "alter {it}"),
    ),
    Action(
        key="delete", verbs=("delete", "remove", "destroy", "drop"),
        told=("Deletes {it} for good", "Removes {it}", "Permanently delete {it}; cannot be undone", "Drops {it}"),
        seen=("remove {it}", "get rid of {it}, delete it", "deleting {it}"),
        unseen=("erase {it}", "throw {it} away, remove it", "{it} should be deleted"),
    ),
    Action(
        key="archive", verbs=("archive", "deactivate", "retire"),
        told=("Archives {it}", "Takes {it} out of use without deleting it", "Retires {it}"),
        seen=("archive an old {it}", "put {it} into the archive"),
        unseen=("move {it} to the archive", "{it} is to be archived"),
    ),
    Action(
        key="export", verbs=("export", "download", "dump"), reads=True, plural=True,
        told=("Exports {them} as CSV or JSON", "Download {them} as a file", "Dumps {them} into a file"),
        seen=("export {them} to csv", "download a file with all {them}"),
        unseen=("save {them} as json, exported", "get {them} as a downloadable file"),
    ),
    Action(
        key="share", verbs=("share", "grant_access_to", "publish"),
        told=("Shares {it} with somebody", "Gives others access to {it}", "Publishes {it}"),
        seen=("share {it} with a colleague", "give somebody access to {it}"),
        unseen=("sharing {it} with other people", "let a partner access {it}"),
    ),
    Action(
        key="count", verbs=("count", "get_count_of", "count_all"), reads=True, plural=True,
        told=("Counts {them}", "How many {them} there are", "Number of {them}, grouped if wanted"),
        seen=("how many {them} are there", "count of {them}"),
        unseen=("the number of {them}", "counting {them}"),
    ),
    Action(
        key="assign", verbs=("assign", "set_owner_of", "allocate"),
        told=("Assigns {it} to somebody", "Sets who is responsible for {it}", "Allocates {it}"),
        seen=("assign {it} to me", "who should own {it}: assign it"),
        unseen=("assigning {it} to a person", "make somebody the owner of {it}"),
    ),
)  # fmt: skip
"""What is done to things of all trades."""

PART_ACTIONS: Final = tuple(
    action for action in ACTIONS if action.key in ("list", "create", "delete", "update", "get", "export")
)
"""What is done to their parts."""
