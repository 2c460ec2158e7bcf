"""Line plots with logarithmic axes as SVG, without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

from benchmarks.results import Plot

WIDTH: Final = 720
HEIGHT: Final = 360
LEFT: Final = 80
RIGHT: Final = 220
TOP: Final = 40
BOTTOM: Final = 50
COLOURS: Final = ("#1f5fa8", "#c2572b", "#4c8c3f", "#7a4fa0", "#8a6d1f", "#444444")


class Axis:
    """A logarithmic axis from the smallest to the largest value."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low = math.log10(max(min(values), 1e-9))
        high = math.log10(max(max(values), 1e-9))
        self._span = (high - self._low) or 1.0
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        """The coordinate of a value."""
        return self._start + (math.log10(max(value, 1e-9)) - self._low) / self._span * (self._end - self._start)


def nice(value: float) -> str:
    """A number in few characters."""
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def ticks(low: float, high: float) -> list[float]:
    """Tick values between two values: 1, 2 and 5 times the powers of ten."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    return [each for each in every if low * 0.999 <= each <= high * 1.001]


def draw(plot: Plot) -> str:
    """The SVG of a plot with at least one line."""
    points = [point for line in plot.lines.values() for point in line]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    across, up = Axis(xs, LEFT, WIDTH - RIGHT), Axis([min(ys) / 1.3, max(ys) * 1.3], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, 20, plot.title, weight="bold"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, plot.across, anchor="middle"),
        _text(8, TOP - 6, plot.up),
        *(part for value in ticks(min(ys) / 1.3, max(ys) * 1.3) for part in _level(up.at(value), nice(value))),
        *(_text(across.at(x), HEIGHT - BOTTOM + 16, nice(x), anchor="middle") for x in sorted(set(xs))),
    ]
    for index, (name, line) in enumerate(plot.lines.items()):
        parts += _line(name, [(across.at(x), up.at(y)) for x, y in line], COLOURS[index % len(COLOURS)], index)
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>'


def _level(y: float, text: str) -> list[str]:
    rule = f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>'
    return [rule, _text(LEFT - 6, y + 4, text, anchor="end")]


def _line(name: str, points: Sequence[tuple[float, float]], colour: str, index: int) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    y = TOP + 16 + index * 20
    x = WIDTH - RIGHT + 16
    key = f'<line x1="{x}" y1="{y - 4}" x2="{x + 20}" y2="{y - 4}" stroke="{colour}" stroke-width="2"/>'
    label = _text(x + 26, y, name)
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots, key, label]
