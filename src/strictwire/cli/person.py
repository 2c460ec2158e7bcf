"""Proves that a person is present: a code is shown on the terminal and must be typed back.

It proves that someone reads the screen, not who. A program that runs as the same user can read the screen too;
docs/WORKSPACE.md says what that means for one person and for a team.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from typing import IO, Final

ALPHABET: Final = "ACDEFGHJKLMNPQRTUVWXY34679"
"""Letters and digits that people do not confuse when they read and type them."""

LENGTH: Final = 6
SECONDS: Final = 300.0
"""Time to type the code: long enough to read a plan, short enough that nobody has left."""


def person_name() -> str:
    """Return the principal of the person at the terminal."""
    from strictwire.server.system_user import system_user

    # Not from the environment: the audit trail and the signature name this person.
    return f"terminal:{system_user()}"


def is_present(question: str, *, show: str = "", clock: Callable[[], float] = time.monotonic) -> bool:
    """Show a text and a code on the controlling terminal and return whether it was typed back in time. One attempt.

    Raises OSError if there is no terminal. Standard input and output are not used, so redirecting them changes nothing.
    """
    # Opened unbuffered for both directions: a buffered text file cannot be read and written at once.
    with os.fdopen(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY), "r+b", buffering=0) as terminal:
        return ask(terminal, question, show=show, clock=clock)


def ask(terminal: IO[bytes], question: str, *, show: str, clock: Callable[[], float]) -> bool:
    """Show a code on a terminal and compare it with the line that is typed."""
    code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
    asked = clock()
    terminal.write(f"{show}\n{question}\nCode: {code[:3]} {code[3:]}\nType the code: ".encode())
    typed = _read_line(terminal)
    return clock() - asked <= SECONDS and "".join(typed.split()).upper() == code


def _read_line(terminal: IO[bytes]) -> str:
    line = b""
    while not line.endswith(b"\n") and len(line) < 1000 and (part := terminal.read(1)):
        line += part
    return line.decode("utf-8", "replace")
