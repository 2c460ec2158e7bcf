"""Rewrites the configuration of an MCP client so that the guard starts each of its servers, and back again. Pure.

Configurations are JSON with one object of servers, or TOML with one table for each server. Everything else in the file is
kept. A server that cannot be changed safely is left unchanged, and the result names the reason.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from strictwire.canon.json import JsonObject, indent, render
from strictwire.sources.client_config import ClientFile, ConfigRefused, read_config


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """The configuration after the change, and what happened to each server."""

    text: bytes
    changed: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    """Servers that were not changed, each with the reason."""


def install(raw: bytes, client: ClientFile, guard: Sequence[str], *, toml: bool, options: Sequence[str] = ()) -> Rewritten:
    """Put the guard in front of every server that is started by a command. `guard` are the words that start strictwire,
    `options` those of `strictwire guard`. Raises ConfigRefused.
    """
    return _rewrite(raw, client.member, toml, lambda name, entry: _guarded(name, entry, guard, options))


def uninstall(raw: bytes, client: ClientFile, *, toml: bool) -> Rewritten:
    """Remove the guard again. Raises ConfigRefused."""
    return _rewrite(raw, client.member, toml, lambda _name, entry: _unguarded(entry))


def _rewrite(raw: bytes, member: str, toml: bool, change: Any) -> Rewritten:
    read = read_config(raw, toml=toml)
    servers = read.get(member, {})
    if not isinstance(servers, dict):
        raise ConfigRefused(f"{member!r} is not a table of servers")
    outcomes = {name: change(name, entry) if isinstance(entry, dict) else "not a table" for name, entry in servers.items()}
    changed = {name: each for name, each in outcomes.items() if isinstance(each, dict)}
    left = {name: each for name, each in outcomes.items() if isinstance(each, str)}
    if not changed:
        return Rewritten(text=raw, left=left)
    wanted = {**read, member: {**servers, **changed}}
    text = _write_toml(raw, member, changed, wanted) if toml else indent(render(wanted)) + b"\n"
    return Rewritten(text=text, changed=tuple(changed), left=left)


def _guarded(name: str, entry: JsonObject, guard: Sequence[str], options: Sequence[str]) -> JsonObject | str:
    command, arguments = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str):
        return "it is not started by a command; run a guard with --upstream-http for it"
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        return "its args are not a list of strings"
    words = [command, *arguments]
    found = _find_guard(words)
    if found is None:
        guarded = [*guard, "guard", *options, "--name", name, "--", *words]
    elif words[: found.verb] == list(guard):
        return "it is behind the guard already"
    else:
        # Another installation of strictwire, or a program that only bears its name.
        guarded = [*guard, *words[found.verb :]]
    return {**entry, "command": guarded[0], "args": guarded[1:]}


def _unguarded(entry: JsonObject) -> JsonObject | str:
    words = [entry.get("command"), *(entry.get("args") or [])]
    found = _find_guard(words)
    if found is None:
        return "it is not behind the guard"
    command, *arguments = words[found.split + 1 :]
    plain = {**entry, "command": command, "args": arguments}
    return plain if arguments else {name: value for name, value in plain.items() if name != "args"}


class _GuardWords(NamedTuple):
    """Where the parts of `strictwire guard ... -- COMMAND` are."""

    verb: int
    """The position of `guard`."""
    split: int
    """The position of `--`."""


_PROGRAM: Final = re.compile(r"(?:.*[/\\])?strictwire(?:\.exe)?", re.IGNORECASE)
_PYTHON: Final = re.compile(r"(?:.*[/\\])?python[0-9.]*(?:\.exe)?", re.IGNORECASE)


def _find_guard(words: list[Any]) -> _GuardWords | None:
    """The parts of `strictwire guard ... -- COMMAND` or `python -m strictwire guard ...`; None for another command line."""
    if not all(isinstance(word, str) for word in words):
        return None
    if _PROGRAM.fullmatch(words[0]) and words[1:2] == ["guard"]:
        verb = 1
    elif _PYTHON.fullmatch(words[0]) and words[1:4] == ["-m", "strictwire", "guard"]:
        verb = 3
    else:
        return None
    split = words.index("--", verb) if "--" in words[verb:-1] else None
    return None if split is None else _GuardWords(verb, split)


def _write_toml(raw: bytes, member: str, changed: Mapping[str, JsonObject], wanted: JsonObject) -> bytes:
    """Replace `command` and `args` of each server as text, so that comments stay; then check the result by parsing it."""
    text = raw.decode()
    for name, entry in changed.items():
        text = _replace_lines(text, member, name, entry)
    if not _parses_to(text, wanted):
        raise ConfigRefused("`command` and `args` of a server must each be on one line of their own; edit the file by hand")
    return text.encode()


def _parses_to(text: str, wanted: JsonObject) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _replace_lines(text: str, member: str, name: str, entry: JsonObject) -> str:
    header = re.compile(rf"^\[{re.escape(member)}\.(?:{re.escape(name)}|\"{re.escape(name)}\")\][^\n]*\n", re.MULTILINE)
    found = header.search(text)
    if found is None:
        return text
    following = re.compile(r"^\[", re.MULTILINE).search(text, found.end())
    end = following.start() if following else len(text)
    kept = re.sub(r"^(?:command|args)\s*=[^\n]*\n?", "", text[found.end() : end], flags=re.MULTILINE)
    lines = f"command = {render(entry['command']).decode()}\n"
    if "args" in entry:
        lines += f"args = {render(entry['args']).decode()}\n"
    return text[: found.end()] + lines + kept + text[end:]
