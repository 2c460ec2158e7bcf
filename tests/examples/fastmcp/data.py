"""Statistics over measurements, with a chart: every kind of type in one server."""

import struct
import zlib
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from statistics import fmean
from typing import Annotated, Generic, Literal, NewType, TypeVar
from uuid import UUID

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from fastmcp.utilities.types import Image
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field, computed_field, field_validator

mcp = FastMCP("data", version="1.0.0")
READ_ONLY = ToolAnnotations(readOnlyHint=True, destructiveHint=False)
Item = TypeVar("Item")
SensorId = NewType("SensorId", int)


class Unit(Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


class Measurement(BaseModel):
    sensor: SensorId
    value: Annotated[float, Field(ge=-300, le=300)]
    at: datetime | None = None

    @field_validator("value")
    @classmethod
    def is_finite_step(cls, value: float) -> float:
        if value * 2 != int(value * 2):
            raise ValueError("measurements have steps of 0.5")
        return value


class Summary(BaseModel):
    low: float = Field(serialization_alias="min")
    high: float = Field(serialization_alias="max")
    unit: Unit

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property
    @property
    def spread(self) -> float:
        return self.high - self.low


class Page(BaseModel, Generic[Item]):
    items: list[Item]
    more: bool = False


@dataclass
class Circle:
    radius: float


@dataclass
class Box:
    width: float
    height: float


@dataclass
class Report:
    run: UUID
    summary: Summary
    by_sensor: dict[SensorId, float]
    path: PurePosixPath
    due: date


def draw(values: list[float]) -> bytes:
    """A grey bar for each value, as PNG."""
    top = max(map(abs, values)) or 1
    row = b"\0" + bytes(int(abs(value) / top * 255) for value in values)
    head = struct.pack(">IIBBBBB", len(values), 1, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(row)), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@mcp.tool(annotations=READ_ONLY, output_schema=Summary.model_json_schema(mode="serialization"))
def summarise(
    measurements: Annotated[list[Measurement], Field(min_length=1, description="At least one")],
    unit: Unit = Unit.CELSIUS,
) -> ToolResult:
    """Gives the extremes, and a chart."""
    values = [each.value for each in measurements]
    summary = Summary(low=min(values), high=max(values), unit=unit).model_dump(mode="json", by_alias=True)
    return ToolResult(content=[Image(data=draw(values), format="png").to_image_content()], structured_content=summary)


@mcp.tool(annotations=READ_ONLY)
def report(
    run: UUID, measurements: list[Measurement], folder: PurePosixPath, start: date, term: timedelta = timedelta(days=1)
) -> Report:
    """Makes a report of a run."""
    values = [each.value for each in measurements]
    if not values:
        raise ToolError(f"Not found: measurements of {run}")
    sensors = {each.sensor for each in measurements}
    means = {sensor: fmean(each.value for each in measurements if each.sensor == sensor) for sensor in sensors}
    summary = Summary(low=min(values), high=max(values), unit=Unit.CELSIUS)
    return Report(run, summary, means, folder / f"{run}.json", start + term)


@mcp.tool(annotations=READ_ONLY)
def area(shape: Circle | Box, scale: Decimal = Decimal(1), digits: Literal[0, 2] = 2) -> float:
    """Computes the area of a shape."""
    plain = 3.141592653589793 * shape.radius**2 if isinstance(shape, Circle) else shape.width * shape.height
    return round(plain * float(scale), digits)


@mcp.tool(annotations=READ_ONLY)
def page(weights: dict[int, float], start: int = 0) -> Page[tuple[int, float]]:
    """Sorts weights by their number, ten at a time."""
    items = sorted(weights.items())[start : start + 10]
    return Page(items=items, more=len(weights) > start + 10)


if __name__ == "__main__":
    mcp.run()
