"""`strictwire docs`: a reference of tools, made from their contracts."""

from __future__ import annotations

import argparse
from typing import Final

from strictwire.cli import sourcing

EXAMPLES: Final = f"""examples:
  strictwire docs > TOOLS.md
  strictwire docs --http http://127.0.0.1:8808/mcp --format html --out tools.html

{sourcing.SOURCES}
exit codes: 0 fine, 1 could not run, 2 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    sourcing.add_source(parser)
    parser.add_argument("--format", choices=("markdown", "html"), default="markdown")
    parser.add_argument("--title", default="Tools")
    parser.add_argument("--out", metavar="FILE", help="write there instead of standard output")


def run(arguments: argparse.Namespace) -> int:
    """Write the reference."""
    from strictwire.sources.verbs.files import DocsOptions, run_docs

    options = DocsOptions(
        source=sourcing.source_of(arguments), output_format=arguments.format, title=arguments.title, out=arguments.out
    )
    return sourcing.write_outcome("docs", run_docs(options))
