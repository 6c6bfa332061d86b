"""The demo's own source: functions about a small team, offered as tools by nothing but their type hints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from codemodekit.errors import ToolError
from codemodekit.providers.local import define_tool

__all__ = ["MEMBERS", "Member", "tools"]


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in the team."""

    name: str
    email: str
    timezone: str


MEMBERS: Final = tuple(
    Member(name, f"{name.lower()}@example.org", timezone)
    for name, timezone in (
        ("Ada", "Europe/London"),
        ("Kofi", "Africa/Accra"),
        ("Lucia", "America/Bogota"),
        ("Mei", "Asia/Taipei"),
        ("Noor", "Asia/Dubai"),
        ("Ravi", "Asia/Kolkata"),
        ("Sora", "Asia/Tokyo"),
        ("Tala", "Pacific/Apia"),
    )
)


def members() -> list[Member]:
    """Everybody in the team, with the time zone each one works in."""
    return list(MEMBERS)


def notify(name: str, text: str) -> str:
    """Send a message to somebody in the team."""
    addresses = {member.name: member.email for member in MEMBERS}
    if name not in addresses:
        raise ToolError(f"nobody is called {name!r}; the team: {', '.join(addresses)}")
    return f"sent to {addresses[name]}: {text}"


tools: Final = (define_tool(members, read_only=True), define_tool(notify))
