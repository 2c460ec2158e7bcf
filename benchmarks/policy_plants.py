"""Plants violations into real code and checks whether the policy finds them.

The violations are in `policy_corpus`, one file per language: `%% KIND PLACE`, then the text. They are typical of coding
agents and were collected before the rules were tuned. A place is

    item       between two top-level items of a file       body       replaces the body of an existing function
    member     between two members of a class              statement  first statement of an existing function
    head       at the top of the file                      above      on a separate line above existing code
    after      at the end of an existing line              swap       `%% to` separates the old item from the new one

Host files are sampled with a fixed seed from files without findings. Placeholders such as `<word:36>` are replaced by
random text, so that this repository contains no token. A violation counts as found if the change adds a finding of the
right kind.
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
"""The rules that may find each kind of violation."""

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
    """A change that plants one violation."""

    plant: Plant
    path: str
    old: bytes
    new: bytes


class NoRoom(Exception):
    """The host file has no suitable place."""


def read_corpus(folder: Path = CORPUS) -> list[Plant]:
    """Every violation, in the order of the files."""
    found = []
    for path in sorted(folder.glob("*.txt")):
        for number, record in enumerate(re.split(r"(?m)^%% (?!to$)", path.read_text())[1:]):
            head, _, text = record.partition("\n")
            kind, place = head.split()
            found.append(Plant(language=path.stem, kind=kind, place=place, text=text.rstrip("\n"), number=number))
    return found


def _drawn(text: str, rng: random.Random) -> str:
    def draw(found: re.Match[str]) -> str:
        if found[1] == "password":
            parts = rng.choice(_WORDS), str(rng.randrange(10, 100)), rng.choice("!#&%"), rng.choice(_WORDS)
            return "".join(parts) + str(rng.randrange(10))
        return "".join(rng.choices(_ALPHABETS[found[2]], k=int(found[3])))

    return re.sub(r"<(password|(\w+):(\d+))>", draw, text)


def plant_all(plants: Sequence[Plant], hosts: Mapping[str, Sequence[Path]], seed: int) -> Iterator[Planted]:
    """Plant each violation into its own host file. Raises NoRoom if none of 200 sampled files has a suitable place."""
    clean = Policy()
    for plant in plants:
        rng = random.Random(f"{seed} {plant.language} {plant.number}")  # noqa: S311 - a reproducible seed, not a secret
        text = _drawn(plant.text, rng)
        yield _planted(plant, text, rng, hosts[plant.language], clean)


def _planted(plant: Plant, text: str, rng: random.Random, hosts: Sequence[Path], clean: Policy) -> Planted:
    for _ in range(200):
        path = rng.choice(hosts)
        data = path.read_bytes()
        if not 500 < len(data) < 100_000 or clean.findings(path.name, data):
            continue
        try:
            old, new = _PLACES[plant.place](Source(path.name, data), text, rng)
        except NoRoom:
            continue
        return Planted(plant=plant, path=path.name, old=old.encode(), new=new.encode())
    raise NoRoom(plant)


def _item(source: Source, text: str, rng: random.Random) -> tuple[str, str]:
    apart = ("import", "comment", "attribute")
    items = [each for each in source.root.named_children if not any(kind in each.type for kind in apart)]
    if len(items) < 2 or source.root.has_error:
        raise NoRoom
    at = rng.choice(items[:-1]).end_point[0] + 1
    return source.text, _with_lines(source, at, f"\n{text}\n")


def _member(source: Source, text: str, rng: random.Random) -> tuple[str, str]:
    bodies = source.hits({"java": "(class_body) @hit"})
    if not bodies:
        raise NoRoom
    members = [each for each in bodies[0].named_children if "comment" not in each.type]
    if not members:
        raise NoRoom
    at = rng.choice(members).end_point[0] + 1
    return source.text, _with_lines(source, at, "\n" + textwrap.indent(text, "    ") + "\n")


def _function(source: Source, rng: random.Random) -> Any:
    """A random function with at least three statements over several lines."""
    found = [
        each
        for each in source.functions
        if len(each.statements) >= 3 and each.name and each.body.end_point[0] - each.body.start_point[0] >= 3
    ]
    if source.language == "python":
        found = [each for each in found if not each.docstring]
    if not found or source.root.has_error:
        raise NoRoom
    return rng.choice(found)


def _indent_of(source: Source, function: Any) -> str:
    line = source.lines[function.statements[0].start_point[0]]
    return line[: len(line) - len(line.lstrip())]


def _body(source: Source, text: str, rng: random.Random) -> tuple[str, str]:
    function = _function(source, rng)
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


def _statement(source: Source, text: str, rng: random.Random) -> tuple[str, str]:
    function = _function(source, rng)
    row = function.statements[0].start_point[0]
    if row == function.node.start_point[0]:
        raise NoRoom
    return source.text, _with_lines(source, row, textwrap.indent(text, _indent_of(source, function)))


def _head(source: Source, text: str, _chance: random.Random) -> tuple[str, str]:
    return source.text, f"{text}\n{source.text}"


def _line(source: Source, rng: random.Random) -> int:
    """The row of a random one-line statement without a comment."""
    rows = [
        each.start_point[0]
        for function in source.functions
        for each in function.statements
        if each.start_point[0] == each.end_point[0] and each.start_point[0] not in source.comment_rows
    ]
    if not rows:
        raise NoRoom
    return rng.choice(rows)


def _above(source: Source, text: str, rng: random.Random) -> tuple[str, str]:
    row = _line(source, rng)
    line = source.lines[row]
    return source.text, _with_lines(source, row, line[: len(line) - len(line.lstrip())] + text)


def _after(source: Source, text: str, rng: random.Random) -> tuple[str, str]:
    row = _line(source, rng)
    lines = list(source.lines)
    lines[row] = lines[row].rstrip("\r") + text
    return source.text, "\n".join(lines)


def _swap(source: Source, text: str, rng: random.Random) -> tuple[str, str]:
    before, _, after = text.partition("\n%% to\n")
    state = rng.getstate()
    _, old = _item(source, before, rng)
    rng.setstate(state)
    _, new = _item(source, after, rng)
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
    """Whether the policy reports the violation with a rule of its kind."""
    rules = RULES_OF[planted.plant.kind]
    return any(each.rule in rules for each in policy.added(planted.path, old=planted.old, new=planted.new))
