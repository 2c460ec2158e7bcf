"""Loads the contracts that ship with strictwire from its schema folder; `folder` describes the layout."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, NotStrict, parse_object
from strictwire.contract.document import read_contract
from strictwire.contract.registry import ContractRefused
from strictwire.contract.tool import ToolContract

_PACKAGE: Final = Path(__file__).parents[1]

SHIPPED_SCHEMAS: Final = next(
    (folder for folder in (_PACKAGE / "_schemas", _PACKAGE.parents[1] / "schemas") if folder.is_dir()), _PACKAGE / "_schemas"
)
"""The schema folder that ships with strictwire: inside an installed package, or at the root of a checkout."""


def load_contract(root: Path, name: str) -> ToolContract:
    """The contract of one tool. Raises ContractRefused if a file is missing, not strict JSON, or invalid."""
    return read_contract(
        name,
        input_schema=_read(root / "tools" / f"{name}.json"),
        output_schema=_maybe_read(root / "tools" / f"{name}.output.json"),
        document=_maybe_read(root / "tools" / f"{name}.contract.json") or {},
    )


def _maybe_read(path: Path) -> JsonObject | None:
    return _read(path) if path.is_file() else None


def _read(path: Path) -> JsonObject:
    try:
        return parse_object(path.read_bytes())
    except OSError as exc:
        raise ContractRefused(f"{path}: cannot read the file ({exc.strerror})") from exc
    except NotStrict as exc:
        raise ContractRefused(f"{path}: {exc}") from exc
