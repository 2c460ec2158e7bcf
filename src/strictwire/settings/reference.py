"""docs/SETTINGS.md, made from the settings themselves, so that it cannot differ from them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import typing
from typing import Any, Final

from strictwire.settings import guard_model, model

_SECTIONS: Final = (
    ("server", model.ServerSettings),
    ("[server.tokens]", model.TokenSettings),
    ("audit", model.AuditSettings),
    ("log", model.LogSettings),
    ("guard", guard_model.GuardSettings),
    ("guard.upstreams.NAME", guard_model.UpstreamSettings),
    ("guard.upstreams.NAME.tools.TOOL", guard_model.GuardedToolSettings),
    ("[guard.rules]", guard_model.RuleSettings),
    ("[guard.limits]", guard_model.LimitSettings),
)

_MODE: Final = "Literal['observe', 'warn', 'enforce']"

_INTRO: Final = """# Settings

Made by `./scripts/settings-page`; a test fails when it is stale.

`strictwire.toml` in the working folder, or the file given with `--config`. An unknown key is refused with the nearest
known one. Later wins: the defaults, the file, variables such as `STRICTWIRE_SERVER_PORT=9000` (lists separated by commas),
the command line.

```toml
[server]
port = 8808
packs = ["basics"]

[[server.tokens]]
sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
principal = "ci"

[audit]
mode = "sync"
```

`[packs.NAME]` holds the settings of a pack, `[lint]` those of the linter, `[unity.check]` those of `strictwire unity check`;
their own pages say what they know.
`DEBUG_STACK=true` in the environment adds a stack trace to `system/1.0` failures.
"""


def render_reference() -> str:
    """The page."""
    parts = [_INTRO]
    for name, section in _SECTIONS:
        rows = [_row(field, _docs(section)) for field in dataclasses.fields(section)]
        head = [
            f"## `[{name}]`",
            "",
            (inspect.getdoc(section) or ""),
            "",
            "| key | type | default | meaning |",
            "|---|---|---|---|",
        ]
        parts.append("\n".join([*head, *rows]) + "\n")
    return "\n".join(parts)


def _row(field: dataclasses.Field[Any], docs: dict[str, str]) -> str:
    kind = str(field.type).replace("Mode", _MODE).replace("|", "or").replace("typing.", "")
    return f"| `{field.name}` | {kind} | {_default(field)} | {docs[field.name].replace('|', chr(92) + '|')} |"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{_shown(field.default)}`"
    return "required" if field.default_factory is dataclasses.MISSING else "`{}`"


def _shown(default: object) -> str:
    words = {None: "none", True: "true", False: "false"}
    if isinstance(default, bool) or default is None:
        return words[default]
    return str(list(default) if isinstance(default, tuple) else default)


def _docs(section: type) -> dict[str, str]:
    """The docstring below each field."""
    body = typing.cast("ast.ClassDef", ast.parse(inspect.getsource(section)).body[0]).body
    pairs = itertools.pairwise(body)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairs
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
