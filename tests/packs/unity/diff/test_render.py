"""A difference in every format; what stands in names can change neither the terminal nor the page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from strictwire.canon.json import parse_object
from strictwire.fault.escape import for_markdown_code
from strictwire.packs.unity.diff.model import Action, Change, FileDiff, Part, ProjectDiff, Status
from strictwire.packs.unity.diff.render import DIFF_FORMATS
from strictwire.packs.unity.diff.render.markdown import MAX_MARKDOWN

NASTY = "<script>alert(1)</script>`*_[x](javascript:y)\x1b[31m\u202e\u2066\x00\x9b|@all\nnew"
DIFF = ProjectDiff(
    before="main",
    after="feature",
    files=(
        FileDiff(
            path="Assets/A.unity",
            old_path="Assets/Old.unity",
            status=Status.RENAMED,
            changes=(
                Change(Action.CHANGED, Part.FIELD, "", 2, "RenderSettings", "m_Fog", "0", "1"),
                Change(Action.ADDED, Part.OBJECT, "Enemy", 5, source="Assets/Enemy.prefab"),
                Change(Action.MOVED, Part.OBJECT, "Level/Door", 6, before="", after="Level"),
                Change(Action.CHANGED, Part.FIELD, "Player", 7, "Transform", "m_LocalPosition.x", "0", "1.5"),
                Change(Action.ADDED, Part.COMPONENT, "Player", 7, "AudioSource"),
                Change(Action.ADDED, Part.OVERRIDE, "Player", 7, "Light", "m_Intensity", None, "2"),
                Change(Action.REMOVED, Part.OBJECT, "Wall", 8),
            ),
            omitted=3,
        ),
        FileDiff(path="Assets/B.prefab", status=Status.MODIFIED, problem="at main the file is empty"),
        FileDiff(path="Assets/C.prefab", status=Status.MODIFIED),
    ),
)


def nasty() -> ProjectDiff:
    change = Change(Action.CHANGED, Part.FIELD, NASTY, 1, NASTY, NASTY, NASTY, NASTY, NASTY)
    added = Change(Action.ADDED, Part.OBJECT, NASTY, 2, source=NASTY)
    file = FileDiff(path=NASTY, old_path=NASTY, status=Status.RENAMED, changes=(change, added), problem=NASTY)
    return ProjectDiff(before=NASTY, after=NASTY, files=(file,))


def test_text_is_grouped_by_object() -> None:
    assert DIFF_FORMATS["text"](DIFF) == (
        "Assets/A.unity (renamed, was Assets/Old.unity)\n"
        "  ! 3 more changes are not listed\n"
        "  (settings)\n"
        "      ~ RenderSettings.m_Fog: 0 → 1\n"
        "  + Enemy: added (instance of Assets/Enemy.prefab)\n"
        "  > Level/Door: moved from the root to Level\n"
        "  Player\n"
        "      ~ Transform.m_LocalPosition.x: 0 → 1.5\n"
        "      + component AudioSource added\n"
        "      + new override Light.m_Intensity: (unset) → 2\n"
        "  - Wall: removed\n"
        "\n"
        "Assets/B.prefab (modified)\n"
        "  ! Not fully compared: at main the file is empty\n"
        "\n"
        "Assets/C.prefab (modified)\n"
        "  ! Only the formatting changed\n"
        "\n"
        "main → feature: 3 files: 1 object added, 1 object removed, 1 object moved, 1 component added, 2 fields changed, "
        "1 override added, 3 more changes not listed, 1 file not fully compared\n"
    )


def test_json_has_every_member_that_is_set() -> None:
    value = parse_object(DIFF_FORMATS["json"](DIFF).encode())

    assert value["files"][0]["changes"][1] == {
        "action": "added",
        "part": "object",
        "object": "Enemy",
        "fileId": "5",
        "source": "Assets/Enemy.prefab",
    }
    assert {name: value["files"][0][name] for name in ("path", "oldPath", "status", "omitted")} == {
        "path": "Assets/A.unity",
        "oldPath": "Assets/Old.unity",
        "status": "renamed",
        "omitted": 3,
    }
    assert value["files"][1] == {
        "path": "Assets/B.prefab",
        "status": "modified",
        "problem": "at main the file is empty",
        "changes": [],
    }


def test_markdown_is_a_list_for_each_file() -> None:
    lines = DIFF_FORMATS["markdown"](DIFF).splitlines()

    assert lines[4:12] == [
        "### `Assets/A.unity` (renamed, was `Assets/Old.unity`)",
        "",
        "- **!** `3 more changes are not listed`",
        "- (settings)",
        "  - `~` `RenderSettings.m_Fog`: `0` → `1`",
        "- `+` `Enemy`: added (instance of `Assets/Enemy.prefab`)",
        "- `>` `Level/Door`: moved from the root to `Level`",
        "- `Player`",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "`plain`"),
        ("a`b", "``a`b``"),
        ("``", "``` `` ```"),
        ("", '`""`'),
        ("  ", '`"  "`'),
        (" a ", "`  a  `"),
        ("x\ny", "`x\\u000ay`"),
    ],
)
def test_a_code_span_holds_exactly_its_text(text: str, expected: str) -> None:
    assert for_markdown_code(text) == expected


def test_markdown_fits_into_a_comment() -> None:
    changes = tuple(Change(Action.ADDED, Part.OBJECT, f"Object {number}", number) for number in range(5_000))
    many = ProjectDiff(before="a", after="b", files=(FileDiff(path="A.unity", status=Status.MODIFIED, changes=changes),))
    text = DIFF_FORMATS["markdown"](many)

    assert len(text) < MAX_MARKDOWN + 200
    assert "more lines; run `strictwire unity diff` for all of them" in text


@pytest.mark.parametrize("style", ["text", "markdown", "html"])
def test_no_control_or_bidirectional_character_gets_through(style: str) -> None:
    shown = DIFF_FORMATS[style](nasty())

    assert [char for char in shown if not char.isprintable() and char != "\n"] == []


def test_colours_are_the_only_escapes_on_a_terminal() -> None:
    coloured = DIFF_FORMATS["colour"](nasty())
    for sequence in ("\x1b[32m", "\x1b[31m", "\x1b[36m", "\x1b[33m", "\x1b[1m", "\x1b[0m"):
        coloured = coloured.replace(sequence, "")

    assert coloured == DIFF_FORMATS["text"](nasty())


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_has_our_tags_alone() -> None:
    page = Tags()
    page.feed(DIFF_FORMATS["html"](nasty()))

    assert page.seen == {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "p",
        "section",
        "ul",
        "li",
        "span",
        "code",
    }
    assert page.attributes == {"lang", "charset", "http-equiv", "content", "class"}
    assert "<script>alert(1)</script>" in page.text
