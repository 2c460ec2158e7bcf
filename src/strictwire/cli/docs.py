"""`strictwire docs`: writes a reference page for tools from their contracts."""

from __future__ import annotations

import argparse
from typing import Final

from strictwire.cli import shared

EXAMPLES: Final = f"""examples:
  strictwire docs > TOOLS.md
  strictwire docs --http http://127.0.0.1:8808/mcp --format html --out tools.html

{shared.SOURCES}
exit codes: 0 success, 1 could not run, 2 wrong usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_source(parser)
    parser.add_argument("--format", choices=("markdown", "html"), default="markdown", help="default: %(default)s")
    parser.add_argument("--title", default="Tools", help="title of the page (default: %(default)s)")
    parser.add_argument("--out", metavar="FILE", help="write to this file instead of standard output")


def run(arguments: argparse.Namespace) -> int:
    """Write the page."""
    from strictwire.sources.verbs.files import DocsOptions, run_docs

    options = DocsOptions(
        source=shared.source_of("docs", arguments),
        output_format=arguments.format,
        title=arguments.title,
        out=arguments.out,
        live=shared.live_of("docs", arguments),
    )
    return shared.print_result("docs", run_docs(options))
