"""The pack itself: its name, its tools, and how long its judges live."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strictwire.contract.handler import Handler
from strictwire.packs.basics.judges import Judges
from strictwire.packs.basics.tools import Validate, canonicalize, measure_text
from strictwire.packs.pack import Environment, PackRefused


class BasicsPack:
    """See packs.pack.Pack."""

    name: Final = "basics"
    tools: Final = ("json_validate", "json_canonicalize", "text_measure")
    schemas: Path | None = None

    def __init__(self) -> None:
        self._judges: Judges | None = None

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack. Raises PackRefused: it was given a setting, and knows none."""
        if environment.settings:
            unknown = ", ".join(sorted(environment.settings))
            raise PackRefused(self.name, f"expected no settings, got {unknown}; remove [packs.basics]")
        self._judges = Judges()
        return {
            "json_validate": Validate(self._judges),
            "json_canonicalize": canonicalize,
            "text_measure": measure_text,
        }

    async def close(self) -> None:
        """See Pack."""
        if self._judges is not None:
            await self._judges.close()


def pack() -> BasicsPack:
    """The entry point."""
    return BasicsPack()
