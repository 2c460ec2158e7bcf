"""Names of live sources contain no secrets."""

from __future__ import annotations

import pytest

from strictwire.sources.label import command_label, url_label


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("https://user:pw@example.org/mcp", "https://example.org/mcp"),
        ("https://example.org/mcp?api_key=abc&page=2", "https://example.org/mcp?api_key=[redacted]&page=2"),
        ("http://127.0.0.1:8808/mcp", "http://127.0.0.1:8808/mcp"),
        ("https://example.org/mcp?key=abc&code=1", "https://example.org/mcp?key=[redacted]&code=[redacted]"),
    ],
)
def test_a_url_has_no_user_and_no_secret_parameters(url: str, label: str) -> None:
    assert url_label(url) == label


@pytest.mark.parametrize(
    ("command", "label"),
    [
        (["npx", "-y", "some-server"], "npx -y some-server"),
        (["server", "--password", "x"], "server --password [redacted]"),
        (["env", "API_TOKEN=x", "server"], "env API_TOKEN=[redacted] server"),
        (["server", "--port", "80"], "server --port 80"),
        (["proxy", "https://h/mcp?key=abc"], "proxy https://h/mcp?key=[redacted]"),
        (["proxy", "--url", "https://u:p@h/mcp"], "proxy --url https://h/mcp"),
        (["proxy", "--header", "X-Api-Key: a"], "proxy --header X-Api-Key: [redacted]"),
        (["proxy", "--header=Authorization: Bearer a"], "proxy --header=Authorization: [redacted]"),
    ],
)
def test_a_command_has_no_secret_values(command: list[str], label: str) -> None:
    assert command_label(command) == label
