"""Renders a report as one self-contained HTML file: no script, no request, readable on paper. Pure.

Every text of the server is escaped twice: control and bidirectional characters become visible, then markup is quoted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Final

from strictwire.fault.escape import for_terminal
from strictwire.probe.compare import Comparison
from strictwire.probe.findings import Finding, rank_findings
from strictwire.probe.harm import MEANINGS, Harm
from strictwire.probe.quote import quote_bytes
from strictwire.probe.record import Fatal, ProbeReport, Status
from strictwire.probe.render import describe_framework, merge_places, summarize

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --bad: #b3261e; --new: #8250df; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --new: #c297ff; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1rem 0 .2rem; }
p { margin: .2rem 0 .6rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); }
code, pre { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
pre { background: var(--soft); padding: .5rem; margin: .3rem 0; }
.id { white-space: nowrap; overflow-wrap: normal; }
.finding { break-inside: avoid; border-left: 3px solid var(--line); padding-left: .8rem; margin: .8rem 0; }
.crash, .wrong, .exposure { border-color: var(--bad); }
.tag { border: 1px solid var(--line); border-radius: 3px; padding: 0 .3rem; font-size: .8rem; }
.new { color: var(--new); border-color: var(--new); }
.FINDING { color: var(--bad); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .2rem 0; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
@media print { body { font-size: 10pt; max-width: none; margin: 0; } }
@media print { h2, h3 { break-after: avoid; } tr { break-inside: avoid; } }
"""

_WORDS: Final[Mapping[Status, str]] = MappingProxyType(
    {Status.PASS: "pass", Status.FINDING: "FINDING", Status.NOT_APPLICABLE: "-", Status.NOT_RUN: "not run"}
)


def render_html(report: ProbeReport, comparison: Comparison | None = None, version: str = "") -> str:
    """The whole report as a page."""
    findings = rank_findings(report)
    own = [each for each in findings if not each.is_shared]
    shared = [each for each in findings if each.is_shared]
    title = "strictwire probe: " + " and ".join(str(each) for each in report.target.values() if each)
    body = [
        f"<h1>{_text(title)}</h1>",
        f"<p>{_text(summarize(report, comparison))}.<br>Framework: {_text(describe_framework(report))}.</p>",
        *_tiers(findings),
        *_own(own, comparison),
        *_shared(shared, report, comparison),
        *_changes(comparison),
        *_untested(report),
        *_matrix(report),
        f"<p><small>strictwire {_text(version)}</small></p>",
    ]
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # No script, no request: markup that slipped through the escaping could do nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    )
    return head + "\n".join(body) + "\n</body>\n</html>\n"


def _text(text: str) -> str:
    return escape(for_terminal(text))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    lines = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table>"


def _tiers(findings: Sequence[Finding]) -> Iterator[str]:
    own = Counter(each.harm for each in findings if not each.is_shared)
    shared = Counter(each.harm for each in findings if each.is_shared)
    rows = [[harm.value, MEANINGS[harm], str(own[harm]), str(shared[harm])] for harm in Harm]
    yield _table(["tier", "meaning", "server", "framework"], rows)


def _own(findings: Sequence[Finding], comparison: Comparison | None) -> Iterator[str]:
    tier: Harm | None = None
    for each in findings:
        if each.harm is not tier:
            tier = each.harm
            yield f"<h2>{tier.value.capitalize()}</h2>\n<p>{MEANINGS[tier]}</p>"
        yield f'<section class="finding {each.harm.value}">'
        yield f'<h3><code class="id">{each.probe.id}</code>{_tag(each, comparison)}</h3>'
        yield f"<p>{_text(each.probe.purpose)}</p>\n<dl>"
        yield f"<dt>expected</dt><dd>{_text(each.probe.expected)}</dd>"
        yield f"<dt>why</dt><dd>{_text(each.probe.why)}</dd>"
        for text, where, fatal in merge_places(each.places):
            yield f"<dt>{_text(', '.join(where))}</dt><dd><code>{_text(text)}</code>{_fatal(fatal)}</dd>"
        yield "</dl>\n</section>"
    if not findings:
        yield "<h2>Findings of the server</h2>\n<p>None.</p>"


def _tag(finding: Finding, comparison: Comparison | None) -> str:
    is_new = comparison is not None and finding.ids & comparison.new
    return ' <span class="tag new">new</span>' if is_new else ""


def _fatal(fatal: Fatal | None) -> str:
    if fatal is None:
        return ""
    stderr = "\n".join(map(_text, fatal.stderr.splitlines()))
    shown = f"<br>stderr of the server:<pre>{stderr}</pre>" if stderr else ""
    return f"<br>sent before:<pre>{_text(quote_bytes(fatal.sent))}</pre>{shown}"


def _shared(findings: Sequence[Finding], report: ProbeReport, comparison: Comparison | None) -> Iterator[str]:
    if not findings or report.framework is None:
        return
    yield f"<h2>From the framework: {_text(report.framework.name)}</h2>"
    yield "<p>A bare server on this framework has these findings too. An update of the framework changes them.</p>"
    rows = []
    for each in findings:
        text, where, _ = merge_places(each.places)[0]
        got = f"<code>{_text(text)}</code> {_text(', '.join(where))}"
        rows.append([each.harm.value, f'<code class="id">{each.probe.id}</code>{_tag(each, comparison)}', got])
    yield _table(["tier", "probe", "response"], rows)


def _changes(comparison: Comparison | None) -> Iterator[str]:
    if comparison is None:
        return
    counts = f"{len(comparison.new)} new, {len(comparison.unchanged)} unchanged, {len(comparison.gone)} gone"
    yield f"<h2>Since the saved run</h2>\n<p>{counts}, {len(comparison.unchecked)} not checked again.</p>"
    rows = [[f"<code>{_text(id_)}</code>", "gone"] for id_ in comparison.gone]
    rows += [[f"<code>{_text(id_)}</code>", "not checked again"] for id_ in comparison.unchecked]
    if rows:
        yield _table(["finding", "state"], rows)


def _untested(report: ProbeReport) -> Iterator[str]:
    rows = [[_text(str(variant)), "all probes", _text(reason)] for variant, reason in report.closed.items()]
    rows += [[str(each.variant), f'<code class="id">{each.probe}</code>', _text(each.got)] for each in report.not_run]
    rows += [["tool", f"<code>{_text(name)}</code>", _text(reason)] for name, reason in report.uncalled.items()]
    if rows:
        yield "<h2>Not tested</h2>\n<p>A skip is not a pass.</p>"
        yield _table(["where", "what", "reason"], rows)


def _matrix(report: ProbeReport) -> Iterator[str]:
    status = {(result.probe, result.variant): _WORDS[result.status] for result in report.results}
    rows = []
    for probe in report.probes:
        words = [status[probe.id, variant] for variant in report.variants]
        cells = [f'<span class="{word}">{word}</span>' if word == "FINDING" else word for word in words]
        rows.append([f'<code class="id">{probe.id}</code>', *cells])
    yield "<h2>All probes</h2>"
    yield _table(["probe", *(str(variant) for variant in report.variants)], rows)
