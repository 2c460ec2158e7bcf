"""Plants violations into real, clean code and looks whether the policy finds them.

The violations are in `policy_corpus`, one file a language: `%% KIND PLACE`, then the text. They are what coding agents leave
behind, written down before the rules were fitted to anything. A place is

    item       between two items at the top of a file      body       instead of the body of a function that is there
    member     between two members of a class              statement  first in the body of a function that is there
    head       at the top of the file                      above      on a line of its own above code that is there
    after      at the end of a line of code                swap       `%% to` parts the item before from the item after

Hosts are drawn with a fixed seed from files in which the policy finds nothing. `<word:36>` and the like are drawn too, so
that no token stands in this repository. A violation is found if the change adds a finding of the right kind.
"""

from __future__ import annotations

import random
import re
import string
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from strictwire.packs.workspace.policy.policy import Policy
from strictwire.packs.workspace.policy.source import Source

CORPUS: Final = Path(__file__).parent / "policy_corpus"
HELD_OUT: Final = Path(__file__).parent / "policy_held_out"

RULES_OF: Final[Mapping[str, frozenset[str]]] = {
    "stub": frozenset({"STUB_BODY", "BODY_EMPTIED", "PLACEHOLDER_COMMENT", "RUST_UNFINISHED"}),
    "placeholder": frozenset({"PLACEHOLDER_COMMENT", "STUB_BODY", "BODY_EMPTIED"}),
    "swallow": frozenset({"SWALLOWED_ERROR"}),
    "silence": frozenset({"CHECKS_SWITCHED_OFF", "CHECK_SILENCED", "WARNINGS_SUPPRESSED", "RUST_LINTS_OFF"}),
    "skip": frozenset({"TEST_SWITCHED_OFF"}),
    "debugger": frozenset({"DEBUGGER_LEFT"}),
    "secret": frozenset({"SECRET_IN_TEXT"}),
    "rust": frozenset({"RUST_UNFINISHED", "RUST_STATIC_MUT", "RUST_UNWRAP_INPUT"}),
}
"""Kind of a violation to the rules that may find it."""

_ALPHABETS: Final = {
    "word": string.ascii_letters + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
    "digits": string.digits,
    "base64": string.ascii_letters + string.digits + "+/",
}
_WORDS: Final = ("Falcon", "River", "Copper", "Winter", "Maple", "Harbor", "Violet", "Thunder")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """One violation."""

    language: str
    kind: str
    place: str
    text: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A change that plants one."""

    plant: Plant
    path: str
    old: bytes
    new: bytes


class NoRoom(Exception):
    """A host has no such place."""


def read_corpus(folder: Path = CORPUS) -> list[Plant]:
    """Every violation, in the order of the files."""
    found = []
    for path in sorted(folder.glob("*.txt")):
        for number, record in enumerate(re.split(r"(?m)^%% (?!to$)", path.read_text())[1:]):
            head, _, text = record.partition("\n")
            kind, place = head.split()
            found.append(Plant(language=path.stem, kind=kind, place=place, text=text.rstrip("\n"), number=number))
    return found


def _drawn(text: str, chance: random.Random) -> str:
    def draw(found: re.Match[str]) -> str:
        if found[1] == "password":
            parts = chance.choice(_WORDS), str(chance.randrange(10, 100)), chance.choice("!#&%"), chance.choice(_WORDS)
            return "".join(parts) + str(chance.randrange(10))
        return "".join(chance.choices(_ALPHABETS[found[2]], k=int(found[3])))

    return re.sub(r"<(password|(\w+):(\d+))>", draw, text)


def plant_all(plants: Sequence[Plant], hosts: Mapping[str, Sequence[Path]], seed: int) -> Iterator[Planted]:
    """Each violation in a host of its own. Raises NoRoom: none of 200 drawn hosts has the place it needs."""
    clean = Policy()
    for plant in plants:
        chance = random.Random(f"{seed} {plant.language} {plant.number}")  # noqa: S311 - a seed that can be repeated
        text = _drawn(plant.text, chance)
        yield _planted(plant, text, chance, hosts[plant.language], clean)


def _planted(plant: Plant, text: str, chance: random.Random, hosts: Sequence[Path], clean: Policy) -> Planted:
    for _ in range(200):
        path = chance.choice(hosts)
        data = path.read_bytes()
        if not 500 < len(data) < 100_000 or clean.findings(path.name, data):
            continue
        try:
            old, new = _PLACES[plant.place](Source(path.name, data), text, chance)
        except NoRoom:
            continue
        return Planted(plant=plant, path=path.name, old=old.encode(), new=new.encode())
    raise NoRoom(plant)


def _item(source: Source, text: str, chance: random.Random) -> tuple[str, str]:
    apart = ("import", "comment", "attribute")
    items = [each for each in source.root.named_children if not any(kind in each.type for kind in apart)]
    if len(items) < 2 or source.root.has_error:
        raise NoRoom
    at = chance.choice(items[:-1]).end_point[0] + 1
    return source.text, _with_lines(source, at, f"\n{text}\n")


def _member(source: Source, text: str, chance: random.Random) -> tuple[str, str]:
    bodies = source.hits({"java": "(class_body) @hit"})
    if not bodies:
        raise NoRoom
    members = [each for each in bodies[0].named_children if "comment" not in each.type]
    if not members:
        raise NoRoom
    at = chance.choice(members).end_point[0] + 1
    return source.text, _with_lines(source, at, "\n" + textwrap.indent(text, "    ") + "\n")


def _function(source: Source, chance: random.Random) -> Any:
    """A function that does something, over several lines, with a body on lines of its own."""
    found = [
        each
        for each in source.functions
        if len(each.statements) >= 3 and each.name and each.body.end_point[0] - each.body.start_point[0] >= 3
    ]
    if source.language == "python":
        found = [each for each in found if not each.docstring]
    if not found or source.root.has_error:
        raise NoRoom
    return chance.choice(found)


def _indent_of(source: Source, function: Any) -> str:
    line = source.lines[function.statements[0].start_point[0]]
    return line[: len(line) - len(line.lstrip())]


def _body(source: Source, text: str, chance: random.Random) -> tuple[str, str]:
    function = _function(source, chance)
    inside = textwrap.indent(text, _indent_of(source, function))
    start, end = function.body.start_byte, function.body.end_byte
    if source.language == "python":
        first = function.statements[0]
        start -= first.start_point[1] if function.body.start_point[0] == first.start_point[0] else 0
        new = source.data[:start].decode() + inside + source.data[end:].decode()
    else:
        line = source.lines[function.body.end_point[0]]
        last = line[: len(line) - len(line.lstrip())]
        new = source.data[: start + 1].decode() + f"\n{inside}\n{last}" + source.data[end - 1 :].decode()
    return source.text, new


def _statement(source: Source, text: str, chance: random.Random) -> tuple[str, str]:
    function = _function(source, chance)
    row = function.statements[0].start_point[0]
    if row == function.node.start_point[0]:
        raise NoRoom
    return source.text, _with_lines(source, row, textwrap.indent(text, _indent_of(source, function)))


def _head(source: Source, text: str, _chance: random.Random) -> tuple[str, str]:
    return source.text, f"{text}\n{source.text}"


def _line(source: Source, chance: random.Random) -> int:
    """The row of a statement that stands on one line, without a comment."""
    rows = [
        each.start_point[0]
        for function in source.functions
        for each in function.statements
        if each.start_point[0] == each.end_point[0] and each.start_point[0] not in source.comment_rows
    ]
    if not rows:
        raise NoRoom
    return chance.choice(rows)


def _above(source: Source, text: str, chance: random.Random) -> tuple[str, str]:
    row = _line(source, chance)
    line = source.lines[row]
    return source.text, _with_lines(source, row, line[: len(line) - len(line.lstrip())] + text)


def _after(source: Source, text: str, chance: random.Random) -> tuple[str, str]:
    row = _line(source, chance)
    lines = list(source.lines)
    lines[row] = lines[row].rstrip("\r") + text
    return source.text, "\n".join(lines)


def _swap(source: Source, text: str, chance: random.Random) -> tuple[str, str]:
    before, _, after = text.partition("\n%% to\n")
    state = chance.getstate()
    _, old = _item(source, before, chance)
    chance.setstate(state)
    _, new = _item(source, after, chance)
    return old, new


def _with_lines(source: Source, row: int, text: str) -> str:
    return "\n".join([*source.lines[:row], text, *source.lines[row:]])


_PLACES: Final[Mapping[str, Callable[[Source, str, random.Random], tuple[str, str]]]] = {
    "item": _item,
    "member": _member,
    "body": _body,
    "statement": _statement,
    "head": _head,
    "above": _above,
    "after": _after,
    "swap": _swap,
}


def is_found(planted: Planted, policy: Policy) -> bool:
    """Whether the change is told as what it is."""
    rules = RULES_OF[planted.plant.kind]
    return any(each.rule in rules for each in policy.added(planted.path, old=planted.old, new=planted.new))
