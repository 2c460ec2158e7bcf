"""The tools as annotated functions, for frameworks that derive contracts from type hints."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

Text = Annotated[str, Field(min_length=1, max_length=4000)]
Count = Annotated[int, Field(ge=0, le=1000000)]
Ratio = Annotated[float, Field(ge=0, le=1000)]


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: Count
    name: Text
    score: Ratio
    tags: Annotated[list[Text], Field(max_length=10)]


class Sum(BaseModel):
    sum: int


HINTS: dict[str, Any] = {
    "text": Text,
    "count": Count,
    "ratio": Ratio,
    "flag": bool,
    "words": Annotated[list[Text], Field(max_length=100)],
    "rows": Annotated[list[Row], Field(max_length=5000)],
}
FIXTURE = json.loads(Path(os.environ["BENCH_TOOLS"]).read_text())
FIELDS: dict[str, Any] = {name: (HINTS[kind], ...) for name, kind in FIXTURE["properties"]}
Document: Any = create_model("Document", __config__=ConfigDict(extra="forbid"), **FIELDS)
NAMES = [tool["name"] for tool in FIXTURE["tools"]]


async def _add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(sum=a + b)


async def _add_and_wait(a: int, b: int) -> Sum:
    """Adds two numbers."""
    await asyncio.sleep(0)
    return Sum(sum=a + b)


def _add_plainly(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(sum=a + b)


add: Any = {"returns": _add, "waits": _add_and_wait, "plain": _add_plainly}[os.environ.get("BENCH_HANDLER", "returns")]


async def echo(document: Document) -> Document:
    """Returns the document."""
    return document


# With `from __future__ import annotations` the hints are strings; the frameworks need the objects.
add.__annotations__ = {"a": int, "b": int, "return": Sum}
echo.__annotations__ = {"document": Document, "return": Document}
