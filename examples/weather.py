"""Weather from Open-Meteo: `strictwire dev weather:server`, or `python weather.py --http 127.0.0.1:8808`."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import httpx2
from msgspec import Meta

from strictwire import Context, NotFound, Server, Unavailable

PLACES = os.environ.get("PLACES_URL", "https://geocoding-api.open-meteo.com/v1/search")
FORECAST = os.environ.get("FORECAST_URL", "https://api.open-meteo.com/v1/forecast")
DAILY = "temperature_2m_min,temperature_2m_max,precipitation_sum"

City = Annotated[str, Meta(min_length=2, max_length=80, description="A city, such as Bern")]
Days = Annotated[int, Meta(ge=1, le=16, title="Days", description="How many days, from today")]


async def open_client(_server: Server) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(timeout=10) as client:
        yield client


server = Server("weather", version="1.0.0", lifespan=open_client)


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


async def fetch(client: httpx2.AsyncClient, url: str, **query: Any) -> Any:
    try:
        response = await client.get(url, params=query)
        return response.raise_for_status().json()
    except httpx2.HTTPError:
        raise Unavailable("Open-Meteo", action="Try again in a minute.") from None


async def look_up(client: httpx2.AsyncClient, city: str, days: int) -> list[Day]:
    places = (await fetch(client, PLACES, name=city, count=1)).get("results")
    if not places:
        raise NotFound(f"city {city}", action="Check the spelling, or name a larger city nearby.")
    latitude, longitude = places[0]["latitude"], places[0]["longitude"]
    found = await fetch(client, FORECAST, latitude=latitude, longitude=longitude, daily=DAILY, forecast_days=days)
    columns = (found["daily"][name] for name in ("time", *DAILY.split(",")))
    return [Day(date.fromisoformat(day), *numbers) for day, *numbers in zip(*columns, strict=True)]


def suits(day: Day, activity: str) -> bool:
    return activity == "museum" or (day.rain < 1 and day.high >= (25 if activity == "beach" else 12))


@server.tool(safety="read-only", raises=[NotFound, Unavailable])
async def forecast(city: City, ctx: Context[httpx2.AsyncClient], days: Days = 3) -> list[Day]:
    """Forecasts the weather of a city."""
    return await look_up(ctx.lifespan, city, days)


@server.tool(safety="read-only", needs=["elicitation"], raises=[NotFound, Unavailable])
async def plan_trip(city: City, ctx: Context[httpx2.AsyncClient]) -> Plan:
    """Finds good days for a trip, after asking what for."""
    trip = (await ctx.elicit(f"What will you do in {city}, and for how long?", Trip)).content
    ctx.progress(1, 2, "looking at the sky")
    days = await look_up(ctx.lifespan, city, trip.days)
    return Plan(city, trip.activity, [day.date for day in days if suits(day, trip.activity)])


@server.resource("weather://{city}", mime_type="text/plain")
async def today(city: str, ctx: Context[httpx2.AsyncClient]) -> str:
    """The weather of today."""
    [day] = await look_up(ctx.lifespan, city, 1)
    return f"{city}: {day.low:g} to {day.high:g} °C, {day.rain:g} mm of rain\n"


@server.prompt
def pack(city: City, days: Days = 3) -> str:
    """Asks for a packing list."""
    return f"Look up the weather of {city} for {days} days and list what to pack."


if __name__ == "__main__":
    server.run()
