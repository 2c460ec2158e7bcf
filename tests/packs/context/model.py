"""A slow, literal model of v0 scoring and selection. It shares no code with the product."""

from __future__ import annotations

import json
import struct
from fractions import Fraction
from typing import Any

SPACES = {
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
}  # fmt: skip


def words(text: str) -> list[str]:
    found, word = [], ""
    for character in text.lower():
        if ord(character) in SPACES:
            found.append(word)
            word = ""
        else:
            word += character
    return [word for word in [*found, word] if word]


def binary32(value: Fraction) -> float:
    """Round to nearest, ties to even, by exact arithmetic."""
    if value == 0:
        return 0.0
    exponent = 0
    while value >= 2 ** (exponent + 1):
        exponent += 1
    while value < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - 23)
    return float(round(value / unit) * unit)


def neighbours(value: float) -> tuple[Fraction, Fraction]:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    below, above = (struct.unpack("<f", struct.pack("<I", bits + step))[0] for step in (-1, 1))
    return (Fraction(below) + Fraction(value)) / 2, (Fraction(value) + Fraction(above)) / 2


def shortest(value: float) -> tuple[int, int]:
    """Return (digits, exponent of the last digit): the fewest digits that read back, and of those the nearest.

    By exact arithmetic.
    """
    exact, (low, high) = Fraction(value), neighbours(value)
    is_even = struct.unpack("<I", struct.pack("<f", value))[0] % 2 == 0
    leading = int(f"{value:.17e}".partition("e")[2])
    for count in range(1, 10):
        fitting = [
            (abs(digits * unit - exact), digits % 2, digits, power)
            for power in (leading - count + 1, leading - count + 2)
            for unit in (Fraction(10) ** power,)
            for digits in (exact // unit, exact // unit + 1)
            if low < digits * unit < high or (is_even and low <= digits * unit <= high)
        ]
        if fitting:
            _, _, digits, power = min(fitting)
            return int(digits), power
    raise AssertionError("nine digits are always enough")


def score_text(value: float) -> str:
    if value == 0:
        return "0.0"
    digits, power = shortest(value)
    while digits % 10 == 0:
        digits, power = digits // 10, power + 1
    text = str(digits)
    exponent = power + len(text) - 1
    if not -6 <= exponent <= 12:
        return f"{text[0]}{'.' + text[1:] if text[1:] else ''}e{exponent}"
    if power >= 0:
        return text + "0" * power + ".0"
    if exponent >= 0:
        return text[: exponent + 1] + "." + text[exponent + 1 :]
    return "0." + "0" * (-exponent - 1) + text


def resolve(documents: dict[str, str], versions: dict[str, str], query: str, budget: int) -> str:
    """Return the whole answer as text."""
    terms = words(query)
    rows = []
    for name, content in documents.items():
        inside = words(content)
        matches = sum(1 for word in inside if word in terms)
        quotient = (
            Fraction(binary32(Fraction(matches))) / Fraction(binary32(Fraction(len(inside)))) if inside else Fraction(0)
        )
        rows.append((-binary32(quotient), name.encode(), name, matches, len(inside)))
    used, chosen = 0, []
    for negative, _, name, matches, total in sorted(rows):
        tokens = (len(documents[name].encode()) + 3) // 4
        if used + tokens <= budget:
            used += tokens
            chosen.append(
                _document(name, versions[name], documents[name], score_text(-negative), tokens, terms, matches, total)
            )
    summary = {
        "query": query, "budget": budget, "tokens_used": used, "documents_considered": len(rows),
        "documents_selected": len(chosen), "documents_excluded_by_budget": len(rows) - len(chosen),
    }  # fmt: skip
    return '{"documents":[' + ",".join(chosen) + '],"selection":' + dumps(summary) + "}"


def _document(
    name: str, version: str, content: str, score: str, tokens: int, terms: list[str], matches: int, total: int
) -> str:
    why = {"query_terms": terms, "term_matches": matches, "total_words": total}
    head = f'{{"id":{dumps(name)},"version":{dumps(version)},"content":{dumps(content)},"score":{score}'
    return f'{head},"tokens":{tokens},"why":{dumps(why)}}}'


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
