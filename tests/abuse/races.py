"""Symlink races: a folder in the workspace is swapped with a link to the outside while the server writes and reads in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.abuse.arena import Arena, Attack
from tests.abuse.governed import Workspace, open_workspace

SECRET = "the secret of another user"
ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Calls that are made during the swaps, and which path is swapped."""

    swapped: str
    tools: tuple[str, ...]


def with_tools(*tools: str) -> Callable[[Random], Race]:
    return lambda random: Race(swapped=random.choice(["src/d", "src/d/e"]), tools=tuple(random.choices(tools, k=25)))


def check(case: Race, arena: Arena) -> None:
    """Nothing outside is created, changed or read. A path that leads outside locks the session, so there are several."""
    for _ in range(ROUNDS):
        race(case, open_workspace(arena))


def race(case: Race, workspace: Workspace) -> None:
    (workspace.root / "src/d/e").mkdir(parents=True)
    (workspace.root / "src/d/e/kept").write_text("mine")
    (workspace.outside / "e").mkdir()
    for place in (workspace.outside / "kept", workspace.outside / "e/kept"):
        place.write_text(SECRET)
    under = workspace.approve()
    ended = threading.Event()
    swapper = threading.Thread(target=_swap, args=(workspace.root / case.swapped, workspace.outside, ended))
    swapper.start()
    try:
        answers = list(_calls(case, workspace, under))
    finally:
        ended.set()
        swapper.join()
    files = (path for path in workspace.outside.rglob("*") if path.is_file())

    assert {str(path.relative_to(workspace.outside)): path.read_text() for path in files} == {
        "kept": SECRET,
        "e/kept": SECRET,
    }
    assert not any(SECRET in str(answer) for answer in answers)
    assert not any(answer.get("error_code") == "INTERNAL" for answer in answers), answers


def _calls(case: Race, workspace: Workspace, under: dict[str, str]) -> Iterator[dict[str, object]]:
    """The answers, up to the one that says that the session is locked."""
    for number, tool in enumerate(case.tools):
        answer = _call(workspace, tool, number, under)
        yield answer
        if answer.get("error_code") == "SESSION_LOCKED":
            return


def _call(workspace: Workspace, tool: str, number: int, under: dict[str, str]) -> dict[str, object]:
    arguments = {
        "write_file": {"path": f"src/d/e/new{number}", "content": "x", **under},
        "read_file": {"path": "src/d/e/kept", "session_id": under["session_id"]},
        "delete_file": {"path": "src/d/e/kept", "previousHash": "0" * 64, **under},
        "move_file": {"path": "src/d/e/kept", "new_path": f"src/moved{number}", "previousHash": "0" * 64, **under},
    }
    answer: dict[str, object] = workspace.call(tool, **arguments[tool])
    return answer


def _swap(place: Path, outside: Path, ended: threading.Event) -> None:
    """Exchange a folder and a link until the end. Each is at the place about half of the time."""
    aside, link = place.parent / "aside", place.parent / "link"
    link.symlink_to(outside)
    while not ended.is_set():
        with suppress(OSError):
            place.rename(aside)
            link.rename(place)
            place.rename(link)
            aside.rename(place)


ATTACK = Attack(
    name="races",
    kinds={
        "writing": with_tools("write_file"),
        "reading": with_tools("read_file"),
        "everything": with_tools("write_file", "read_file", "delete_file", "move_file"),
    },
    check=check,
)
