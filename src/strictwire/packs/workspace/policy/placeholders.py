"""Finds comments that take the place of missing code. A TODO about existing code is not such a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from strictwire.packs.workspace.policy.source import Source, text_of

_STANDS_IN: Final = re.compile(
    r"""(?xi)
    \b(?:todo|fixme)\b(?:\([^)\n]{0,40}\))?[\s:-]{0,4}(?:please\ )?(?:
        (?:implement|write|fill\ in)(?:\ (?:this|me|it|here))?
          (?:\ (?:function|method|class|properly|later|correctly|here))?(?=\W*(?:$|\n))
      | (?:implement|fill\ in)\b[^\n]{0,30}\b(?:here|logic|body|code|handling|checking|validation|verification)\b
      | (?:add|put|write)\ (?:the\ |your\ |some\ )?(?:actual\ |real\ |own\ )?(?:logic|code|implementation|body)
          \ ?(?:here)?(?=\W*(?:$|\n))
      | replace\b[^\n]{0,40}\b(?:real|actual|proper)\b )
  | \bimplement\ me\b
  | \b(?:your|add|insert|put)\ (?:your\ )?(?:code|implementation|logic)\ (?:goes\ )?here\b
  | \b(?:code|implementation|logic)\ goes\ here\b
  | (?:\.\.\.|…)\s*\(?(?:the\ )?(?:rest|remaining|existing|other|previous|unchanged)\ (?:of\ )?(?:the\ |your\ )?
      (?:code|file|implementation|function|method|class|import|logic)
  | \b(?:rest|remainder)\ of\ (?:the\ )?(?:code|file|implementation|function|class|method)s?\ (?:is\ |are\ )?
      (?:goes\ here|stays|remains|unchanged|here|omitted|as\ before)
  | \b(?:existing|previous|remaining|original)\ (?:code|implementation|logic|methods?|functions?|imports?)
      \ (?:is\ |are\ )?(?:unchanged|stays?|remains?|kept|goes\ here|here)\b
  | \b(?:code|implementation|body)\ omitted\b | \bomitted\ for\ brevity\b
  | \b(?:placeholder|stub|dummy|mock|fake)\ (?:implementation|logic|value|data|result|response|checksum)s?\b
      [^\n]{0,30}\b(?:for\ now|until|replace|later|to\ be)\b
  | \b(?:this\ is\ |just\ )(?:just\ )?(?:a\ )?(?:placeholder|stub|dummy)\b(?:\ (?:implementation|for\ now))
  | \bfor\ now,?\ (?:we\ )?(?:just\ )?(?:return|use)\ (?:a\ |some\ )?(?:dummy|fake|placeholder|mock|hard-?coded|fixed)
  | \bhard-?coded\ for\ now\b | \b(?:return|use)\ (?:a\ )?(?:dummy|fake|mock)\ (?:value|data)\ for\ now\b
  | \bin\ (?:a\ )?(?:real|production|actual)(?:-world)?(?:\ (?:implementation|application|app|system|code|world|scenario))?,?
      \ (?:this|we|you|it|one)\ (?:would|should)\b
  | \b(?:a\ )?(?:real|full|proper)\ implementation\ would\b | \bnormally\ this\ would\b
"""
)
"""Comments that stand for code, wherever they are."""

_IS_ONE: Final = re.compile(
    r"(?i)^[\W_]*(?:this is (?:just )?)?(?:a )?(?:placeholder|stub|dummy)\b(?: implementation)?"
    r"(?:[\s.,:;*/-]*$|[.,;]|\s*[-:–]\s|\s[^\n]*\bfor now\b)"
)
"""Comments that stand for code only on a line of their own; after code, they describe a value."""


def find_placeholders(source: Source) -> Iterator[int]:
    """Yield the rows of comments that stand for code."""
    for node in source.comments:
        text, (row, column) = text_of(node), node.start_point
        own_line = not source.lines[row].encode()[:column].strip()
        if _STANDS_IN.search(text) or (own_line and _IS_ONE.search(text)):
            yield row
