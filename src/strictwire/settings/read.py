"""Reads settings from the defaults, the file, the environment and the command line; later sources override earlier ones.

An unknown key is an error with the closest known key as a hint: silently ignoring a misspelled setting is dangerous.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from strictwire.settings.model import Settings

FILE: Final = "strictwire.toml"
PREFIX: Final = "STRICTWIRE_"
"""`STRICTWIRE_SERVER_PORT=9000` sets `server.port`."""

DEBUG_STACK: Final = "DEBUG_STACK"
"""Without the prefix, because the published SystemError document fixes this name (S2)."""


class SettingsRefused(ValueError):
    """The settings are invalid. The message says where, and what is expected."""


def read_settings(
    *,
    file: Path | None,
    default: Path | None = Path(FILE),
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Mapping[str, Any]] | None = None,
) -> Settings:
    """Read the settings. Without `file`, uses `default` if it exists: strictwire.toml in the working folder.

    Raises SettingsRefused for an unreadable file, an unknown key, or a wrong type or value.
    """
    environment = os.environ if environment is None else environment
    raw: dict[str, Any] = _read_file(file, default)
    _check_known(raw, Settings, "")
    for section, values in (*_from_environment(environment), *((flags or {}).items())):
        table = raw.get(section, {})
        if not isinstance(table, dict):
            raise SettingsRefused(f"{section!r} must be a table: write [{section}] and its keys below it")
        raw[section] = {**table, **values}
    try:
        found = msgspec.convert(raw, Settings, strict=True)
    except msgspec.ValidationError as exc:
        raise SettingsRefused(f"settings: {exc}") from exc
    return dataclasses.replace(found, debug_stack=environment.get(DEBUG_STACK) == "true")


def _read_file(file: Path | None, default: Path | None) -> dict[str, Any]:
    path = file or default
    if path is None or (file is None and not path.is_file()):
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsRefused(f"{path}: cannot read the file as UTF-8 text ({type(exc).__name__})") from exc
    except tomllib.TOMLDecodeError as exc:
        raise SettingsRefused(f"{path}: {exc}") from exc


def _check_known(values: Mapping[str, Any], model: Any, path: str) -> None:
    hints = typing.get_type_hints(model)
    known = [name for name in hints if name != "debug_stack"]
    for name, value in values.items():
        if name not in known:
            raise SettingsRefused(_unknown(path + name, difflib.get_close_matches(name, known, n=1), path, known))
        _check_member(value, hints[name], f"{path}{name}.")


def _check_member(value: Any, hint: Any, path: str) -> None:
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        _check_known(value, hint, path)
    elif typing.get_origin(hint) is tuple and isinstance(value, list):
        for each in value:
            _check_member(each, typing.get_args(hint)[0], path)
    elif typing.get_origin(hint) is Mapping and isinstance(value, dict):
        for name, each in value.items():
            _check_member(each, typing.get_args(hint)[1], f"{path}{name}.")


def _unknown(name: str, near: list[str], path: str, known: list[str]) -> str:
    hint = f"did you mean {path + near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"unknown setting {name!r}; {hint}"


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Settings from environment variables, by section. Raises SettingsRefused for an unknown name or invalid value."""
    fields = {
        f"{PREFIX}{section}_{name}".upper(): (section, name, hint)
        for section, model in typing.get_type_hints(Settings).items()
        if dataclasses.is_dataclass(model)
        for name, hint in typing.get_type_hints(model).items()
        if not _holds_tables(hint)
    }
    for variable in sorted(name for name in environment if name.startswith(PREFIX)):
        if variable not in fields:
            raise SettingsRefused(_unknown(variable, difflib.get_close_matches(variable, fields, n=1), "", sorted(fields)))
        section, name, hint = fields[variable]
        yield section, {name: _parse(variable, environment[variable], hint)}


def _holds_tables(hint: Any) -> bool:
    """Whether a setting is a list or a mapping of tables, which one environment variable cannot hold."""
    return any(dataclasses.is_dataclass(each) for each in typing.get_args(hint))


_BOOLEANS: Final = {"true": True, "false": False}


def _parse(variable: str, text: str, hint: Any) -> Any:
    if hint is int:
        if not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise SettingsRefused(f"{variable}: expected an integer")
        return int(text)
    if hint is bool:
        if text not in _BOOLEANS:
            raise SettingsRefused(f"{variable}: expected true or false")
        return _BOOLEANS[text]
    if typing.get_origin(hint) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(hint, types.UnionType) and not text:
        return None
    return text
