"""HTML pages of documentation generators: text without navigation, cells and headings kept apart."""

from __future__ import annotations

import pytest

from strictwire.packs.context.html import html_to_markdown

SPHINX = """<html><head><title>Sessions &#8212; Docs</title></head><body>
<div class="related" role="navigation"><h3>Navigation</h3><ul><li><a>index</a></li></ul></div>
<div class="document"><div class="body" role="main"><section><h1>Sessions<a class="headerlink" href="#x">¶</a></h1>
<p>Use <code>x</code>.</p><dl><dt>f(x)<a class="headerlink">¶</a></dt><dd>Does f.</dd></dl></section></div></div>
<div class="sphinxsidebar" role="navigation"><div><h3>Table of Contents</h3><ul><li>Sessions</li></ul></div></div>
<footer>Copyright</footer></body></html>"""


def test_a_page_of_sphinx_has_its_text_only() -> None:
    assert html_to_markdown(SPHINX) == "# Sessions\n\nUse x.\n\nf(x)\nDoes f.\n"


def test_cells_of_a_table_are_kept_apart() -> None:
    table = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><p>end"

    assert html_to_markdown(table) == "A | B\n1 | 2\n\nend\n"


@pytest.mark.parametrize("sign", ["¶", "#", "§", "\uf0c1", " ¶"])
def test_the_sign_of_a_link_to_the_heading_is_not_part_of_it(sign: str) -> None:
    assert html_to_markdown(f"<h2>Part{sign}</h2>text") == "## Part\n\ntext\n"


@pytest.mark.parametrize(
    "navigation",
    [
        "<nav>menu</nav>",
        "<aside>menu</aside>",
        '<div class="md-sidebar x"><div>menu</div></div>',
        '<ul role="navigation"><li>menu</ul>',
        "<div hidden>menu</div>",
        '<span aria-hidden="true">menu</span>',
    ],
)
def test_navigation_is_left_out_with_everything_inside(navigation: str) -> None:
    assert html_to_markdown(f"<p>one</p>{navigation}<p>two</p>") == "one\n\ntwo\n"


def test_void_elements_with_a_navigation_class_hide_nothing() -> None:
    assert html_to_markdown('<img class="toc"><p>text</p>') == "text\n"
