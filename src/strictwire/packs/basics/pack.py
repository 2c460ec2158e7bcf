"""The pack object: name, tools, and the lifetime of the worker pool."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strictwire.contract.handler import Handler
from strictwire.packs.basics.tools import Validate, canonicalize, measure_text
from strictwire.packs.basics.worker_pool import WorkerPool
from strictwire.packs.pack import Environment, PackRefused


class BasicsPack:
    """See packs.pack.Pack."""

    name: Final = "basics"
    tools: Final = ("json_validate", "json_canonicalize", "text_measure")
    schemas: Path | None = None

    def __init__(self) -> None:
        self._workers: WorkerPool | None = None

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack.open. Raises PackRefused if there are settings, because this pack has none."""
        if environment.settings:
            unknown = ", ".join(sorted(environment.settings))
            raise PackRefused(self.name, f"expected no settings, got {unknown}; remove [packs.basics]")
        self._workers = WorkerPool()
        return {
            "json_validate": Validate(self._workers),
            "json_canonicalize": canonicalize,
            "text_measure": measure_text,
        }

    async def close(self) -> None:
        """See Pack.close."""
        if self._workers is not None:
            await self._workers.close()


def pack() -> BasicsPack:
    """Entry point of the pack."""
    return BasicsPack()
