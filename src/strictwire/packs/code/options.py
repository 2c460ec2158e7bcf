"""The engines' part of `[packs.code]`, read and checked. Pure, except that roots are resolved on disk.

roots = ["."]                          # folders to serve
warm = true                            # start the engines with the server
memory_mb = 4096                       # of one engine with its children
request_seconds = 120                  # after which an engine hangs

[packs.code.languages]
python = "basedpyright"                # instead of the built-in choice; "" for none

[packs.code.engines.gopls]             # an engine that is not built in
command = ["gopls", "serve"]
languages = ["go"]
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from strictwire.canon.json import JsonValue
from strictwire.packs.code.engines.registry import EngineChoice
from strictwire.packs.code.engines.spec import EngineSpec, Hint, Rereads, Sign
from strictwire.packs.code.engines.supervised import EngineLimits
from strictwire.packs.code.engines.table import BUILT_IN, DEFAULTS
from strictwire.packs.code.languages import LANGUAGES

_KNOWN: Final = ("roots", "warm", "memory_mb", "start_seconds", "request_seconds", "languages", "engines")
_BOUNDS: Final = {"memory_mb": (64, 1 << 20), "start_seconds": (1, 600), "request_seconds": (1, 3600)}
_TEXTS: Final = frozenset({"install", "warm_up"})
_LISTS: Final = frozenset({"command", "languages", "natives", "version", "index_needs", "projects"})
_FLAGS: Final = frozenset({"opens", "known_ready", "relists", "symbols_complete"})
_NUMBERS: Final = frozenset({"min_major", "symbol_limit"})
_TABLES: Final = frozenset({"initialization", "settings", "variables"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions:
    """What to serve, and with which engines."""

    roots: tuple[Path, ...]
    """Absolute and resolved."""
    choice: EngineChoice = field(default_factory=EngineChoice)
    warm: bool = True
    """Whether engines start with the server, in the background, or when they are first needed."""


def read_options(settings: Mapping[str, JsonValue], variables: Mapping[str, str] | None = None) -> CodeOptions:
    """The options in a table of settings. `variables` are the server's environment variables.

    Raises ValueError: a setting that cannot be used, with a sentence that says what is expected.
    """
    unknown = [name for name in settings if name not in _KNOWN]
    if unknown:
        near = difflib.get_close_matches(unknown[0], _KNOWN, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(_KNOWN)}"
        raise ValueError(f"{unknown[0]}: no such setting; {hint}")
    engines = _read_engines(settings.get("engines", {}))
    choice = EngineChoice(
        engines=engines,
        languages=_read_languages(settings.get("languages", {}), engines),
        limits=_read_limits(settings),
        variables=dict(variables or {}),
    )
    warm = settings.get("warm", True)
    if not isinstance(warm, bool):
        raise ValueError("warm: expected true or false")  # noqa: TRY004 - settings, not a bug
    roots = _read_roots(settings["roots"]) if "roots" in settings else (_default_root(),)
    return CodeOptions(roots=roots, choice=choice, warm=warm)


def _default_root() -> Path:
    here = Path.cwd()
    if here in (Path("/"), Path.home()):
        raise ValueError(f'roots: not given, and {here} is too much to serve; expected a list such as ["~/project"]')
    return here


def _read_roots(value: JsonValue) -> tuple[Path, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) and each for each in value):
        raise ValueError('roots: expected a list of folders, such as ["."]')
    roots: dict[Path, None] = {}
    for each in value:
        root = Path(each).expanduser().resolve()
        if not root.is_dir():
            raise ValueError(f"roots: {each!r} is not a folder")
        roots[root] = None
    return tuple(sorted(roots))


def _read_limits(settings: Mapping[str, JsonValue]) -> EngineLimits:
    limits = EngineLimits()
    for name, (least, most) in _BOUNDS.items():
        value = settings.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"{name}: expected a number from {least} to {most}")
        changed: dict[str, Any] = {"memory_bytes": int(value) << 20} if name == "memory_mb" else {name: float(value)}
        limits = replace(limits, **changed)
    return limits


def _read_languages(value: JsonValue, engines: Mapping[str, EngineSpec]) -> dict[str, str]:
    """The default choice, then engines of the settings for languages without one, then what is chosen by name."""
    if not isinstance(value, dict):
        raise ValueError("languages: expected a table of language to engine")  # noqa: TRY004
    chosen = dict(DEFAULTS)
    for spec in engines.values():
        if spec.name not in BUILT_IN:
            chosen.update({language: spec.name for language in spec.languages if language not in value})
    for language, name in value.items():
        if language not in LANGUAGES:
            raise ValueError(f"languages.{language}: no such language; known are {', '.join(LANGUAGES)}")
        if name and (name not in engines or language not in engines[name].languages):
            raise ValueError(f"languages.{language}: no engine {name!r} that serves it; known are {', '.join(engines)}")
        chosen[language] = name
    return chosen


def _read_engines(value: JsonValue) -> dict[str, EngineSpec]:
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        raise ValueError("engines: expected a table of engines")
    engines = dict(BUILT_IN)
    for name, table in value.items():
        base = engines.get(name)
        if base is None and not {"command", "languages"} <= table.keys():
            raise ValueError(f"engines.{name}: expected at least command and languages")
        # Nothing is known about when a new engine is ready, so its answers are not called complete unless the table says so.
        base = base or EngineSpec(name=name, languages=(), command=(), known_ready=bool(table.get("ready")))
        engines[name] = replace(base, **{key: _read_field(name, key, each) for key, each in table.items()})
        _check_engine(engines[name])
    return engines


def _check_engine(spec: EngineSpec) -> None:
    if not spec.command or not spec.languages:
        raise ValueError(f"engines.{spec.name}: command and languages must not be empty")
    for language in spec.languages:
        if language not in LANGUAGES:
            raise ValueError(
                f"engines.{spec.name}.languages: no such language {language!r}; known are {', '.join(LANGUAGES)}"
            )


def _read_field(engine: str, key: str, value: JsonValue) -> Any:
    where = f"engines.{engine}.{key}"
    if key in _LISTS and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    if key in _TEXTS and isinstance(value, str):
        return value
    if key in _FLAGS and isinstance(value, bool):
        return value
    if key in _NUMBERS and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if key in _TABLES and isinstance(value, dict):
        return value
    if key == "rereads":
        return _read_member(where, Rereads, value)
    if key == "ready" and isinstance(value, list):
        return tuple(_read_sign(where, each) for each in value)
    known = sorted(each.name for each in fields(EngineSpec) if each.name != "name")
    raise ValueError(f"{where}: not a setting of an engine, or of the wrong type; known are {', '.join(known)}")


def _read_sign(where: str, value: JsonValue) -> Sign:
    if (
        not isinstance(value, dict)
        or not value.keys() <= {"hint", "pattern"}
        or not isinstance(value.get("pattern", ""), str)
    ):
        raise ValueError(f'{where}: expected tables such as {{hint = "log", pattern = "Found [0-9]+ source files"}}')
    return Sign(hint=_read_member(where, Hint, value.get("hint")), pattern=value.get("pattern", ""))


def _read_member(where: str, kind: type[StrEnum], value: JsonValue) -> Any:
    try:
        return kind(str(value))
    except ValueError:
        raise ValueError(f"{where}: expected one of {', '.join(kind)}, got {value!r}") from None
