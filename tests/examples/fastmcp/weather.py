"""Weather from Open-Meteo: `fastmcp run weather.py`, or `python weather.py` for stdio."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import httpx2
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ResourceError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

PLACES = os.environ.get("PLACES_URL", "https://geocoding-api.open-meteo.com/v1/search")
FORECAST = os.environ.get("FORECAST_URL", "https://api.open-meteo.com/v1/forecast")
DAILY = "temperature_2m_min,temperature_2m_max,precipitation_sum"

City = Annotated[str, Field(min_length=2, max_length=80, description="A city, such as Bern")]
Days = Annotated[int, Field(ge=1, le=16, title="Days", description="How many days, from today")]


@asynccontextmanager
async def open_client(_server: FastMCP) -> AsyncIterator[dict[str, Any]]:
    async with httpx2.AsyncClient(timeout=10) as client:
        yield {"client": client}


mcp = FastMCP("weather", version="1.0.0", lifespan=open_client, strict_input_validation=True)


@dataclass
class Day:
    date: date
    low: float
    high: float
    rain: float


@dataclass
class Trip:
    days: Days
    activity: Literal["beach", "hiking", "museum"] = "hiking"


@dataclass
class Plan:
    city: str
    activity: str
    good_days: list[date]


class LookupFailed(Exception):
    """There is no weather for this city now."""


def failure(code: str, message: str, action: str) -> str:
    """A failure that a program can read."""
    return json.dumps({"code": code, "message": message, "action": action})


async def fetch(client: httpx2.AsyncClient, url: str, **query: Any) -> Any:
    try:
        response = await client.get(url, params=query)
        return response.raise_for_status().json()
    except httpx2.HTTPError:
        raise LookupFailed(failure("UNAVAILABLE", "Open-Meteo", "Try again in a minute.")) from None


async def look_up(client: httpx2.AsyncClient, city: str, days: int) -> list[Day]:
    places = (await fetch(client, PLACES, name=city, count=1)).get("results")
    if not places:
        action = "Check the spelling, or name a larger city nearby."
        raise LookupFailed(failure("NOT_FOUND", f"city {city}", action))
    latitude, longitude = places[0]["latitude"], places[0]["longitude"]
    found = await fetch(client, FORECAST, latitude=latitude, longitude=longitude, daily=DAILY, forecast_days=days)
    columns = (found["daily"][name] for name in ("time", *DAILY.split(",")))
    return [Day(date.fromisoformat(day), *numbers) for day, *numbers in zip(*columns, strict=True)]


def suits(day: Day, activity: str) -> bool:
    return activity == "museum" or (day.rain < 1 and day.high >= (25 if activity == "beach" else 12))


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
async def forecast(city: City, ctx: Context, days: Days = 3) -> list[Day]:
    """Forecasts the weather of a city."""
    try:
        return await look_up(ctx.lifespan_context["client"], city, days)
    except LookupFailed as exc:
        raise ToolError(str(exc)) from None


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
async def plan_trip(city: City, ctx: Context) -> Plan:
    """Finds good days for a trip, after asking what for."""
    answer = await ctx.elicit(f"What will you do in {city}, and for how long?", Trip)
    if answer.action != "accept":
        raise ToolError(failure("ANSWER_DECLINED", "The question was declined", "Call again."))
    await ctx.report_progress(1, 2, "looking at the sky")
    try:
        days = await look_up(ctx.lifespan_context["client"], city, answer.data.days)
    except LookupFailed as exc:
        raise ToolError(str(exc)) from None
    return Plan(city, answer.data.activity, [day.date for day in days if suits(day, answer.data.activity)])


@mcp.resource("weather://{city}", mime_type="text/plain")
async def today(city: str, ctx: Context) -> str:
    """The weather of today."""
    try:
        [day] = await look_up(ctx.lifespan_context["client"], city, 1)
    except LookupFailed as exc:
        raise ResourceError(str(exc)) from None
    return f"{city}: {day.low:g} to {day.high:g} °C, {day.rain:g} mm of rain\n"


@mcp.prompt
def pack(city: City, days: Days = 3) -> str:
    """Asks for a packing list."""
    return f"Look up the weather of {city} for {days} days and list what to pack."


if __name__ == "__main__":
    mcp.run()
