"""One small process that outlives a host which was killed, and ends what the host had started.

A host that is killed cannot end its children. Most leave by themselves when their input ends; one that does not read
it, or is the child of a launcher such as `npx`, would stay for good. The guardian is a shell that reads process groups
from a pipe which only the host holds open: when the pipe ends without a farewell, it ends the groups.

Not `PR_SET_PDEATHSIG`: only Linux has it, it reaches the child and not what that started, and setting it takes code
between fork and exec or an interpreter started before every server. On Windows the SDK's job objects do the same.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from typing import Final

__all__ = ["GUARDIAN", "Guardian"]

_log = logging.getLogger(__name__)

_SHELL: Final = "/bin/sh"
_SCRIPT: Final = """
trap '' HUP INT TERM
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) groups="${groups%% $group *} ${groups#* $group }" ;;
    farewell) exit 0 ;;
  esac
done
for signal in 0 TERM KILL; do
  left=' '
  for group in $groups; do kill -s $signal -- "-$group" 2>/dev/null && left="$left$group "; done
  groups=$left
  [ "$groups" = ' ' ] && exit 0
  [ $signal = KILL ] || sleep 1
done
"""
"""A second to notice the end of its input, a second to heed SIGTERM, and no more."""
_FAREWELL_S: Final = 1.0


class Guardian:
    """Watches over process groups for as long as there are any. Safe in every thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._shell: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """End the group if this process is killed. Without a shell on this machine nobody watches; a log says so."""
        if sys.platform == "win32":
            return
        with self._lock:
            self._groups.add(group)
            try:
                if not self._tell(f"+ {group}\n"):
                    self._start()
            except OSError as error:
                _log.info("no process watches over child processes: %s", error.strerror)

    def release(self, group: int) -> None:
        """The group has ended. Takes a moment for the last one: to be called in a thread."""
        with self._lock:
            if group not in self._groups:
                return
            self._groups.remove(group)
            if self._groups:
                self._tell(f"- {group}\n")
            else:
                self._tell("farewell\n")
                self._leave()

    def forget(self) -> None:
        """In a forked process: what the other started is not ours, and our copy of the pipe must not keep it open."""
        self._lock = threading.Lock()
        self._groups = set()
        if self._shell is not None and self._shell.stdin is not None:
            self._shell.stdin.close()
            self._shell.returncode = 0  # not our child
        self._shell = None

    def _start(self) -> None:
        self._leave()
        self._shell = subprocess.Popen(
            [_SHELL, "-c", _SCRIPT, "codemodekit-guardian"],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.defpath},
            start_new_session=True,  # what ends the host's whole group must not end it too
        )
        self._tell("".join(f"+ {group}\n" for group in sorted(self._groups)))

    def _tell(self, words: str) -> bool:
        if self._shell is None or self._shell.stdin is None:
            return False
        try:
            self._shell.stdin.write(words.encode("ascii"))
        except OSError:  # somebody ended it
            return False
        return True

    def _leave(self) -> None:
        shell, self._shell = self._shell, None
        if shell is None or shell.stdin is None:
            return
        shell.stdin.close()
        try:
            shell.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            shell.kill()
            shell.wait()


GUARDIAN: Final = Guardian()
"""Of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=GUARDIAN.forget)
