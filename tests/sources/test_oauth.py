"""The client credentials grant against a real authorization server on loopback, and a resource that requires its token."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from strictwire.sources.credentials import ClientCredentials
from strictwire.sources.oauth import fetch_token
from strictwire.sources.refused import SourceRefused
from strictwire.sources.specifier import LiveOptions, read_source

BASIC = "Basic Y2xpZW50OnMlMjZjcmV0"  # client:s%26cret, form-encoded
TOOL = {"name": "a", "description": "Does something.", "inputSchema": {"type": "object"}}


class Handler(BaseHTTPRequestHandler):
    """Metadata, the token endpoint, and an MCP endpoint of the legacy era that requires the token."""

    def log_message(self, *_: object) -> None:
        """Keep the test output quiet."""

    def answer(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        host = f"http://{self.headers['Host']}"
        honest = {"issuer": f"{host}/issuer", "token_endpoint": f"{host}/token"}
        documents: dict[str, object] = {
            "/.well-known/oauth-authorization-server/issuer": honest,
            "/.well-known/oauth-authorization-server/posed": {"issuer": f"{host}/issuer", "token_endpoint": f"{host}/token"},
            "/.well-known/oauth-authorization-server/away": {
                "issuer": f"{host}/away",
                "token_endpoint": "https://issuer.test/token",
            },
        }
        servers = {"mcp": "issuer", "posed": "posed", "away": "away"}
        documents |= {
            f"/.well-known/oauth-protected-resource/{path}": {
                "resource": f"{host}/{path}",
                "authorization_servers": [f"{host}/{name}"],
            }
            for path, name in servers.items()
        }
        documents["/.well-known/oauth-protected-resource/open"] = {"authorization_servers": ["http://issuer.test"]}
        documents["/.well-known/oauth-protected-resource/other"] = {
            "resource": f"{host}/mcp",
            "authorization_servers": [f"{host}/issuer"],
        }
        documents["/.well-known/oauth-protected-resource/plain"] = {
            "resource": f"{host}/plain",
            "authorization_servers": ["http://issuer.test"],
        }
        documents["/.well-known/oauth-protected-resource/bad"] = {
            "resource": f"{host}/bad",
            "authorization_servers": ["http://[bad"],
        }
        found = documents.get(self.path)
        self.answer(404 if found is None else 200, found or {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/token":
            form = {name: value[0] for name, value in parse_qs(body.decode()).items()}
            expected = {
                "grant_type": "client_credentials",
                "scope": "tools",
                "resource": f"http://{self.headers['Host']}/mcp",
            }
            is_good = self.headers["Authorization"] == BASIC and form == expected
            return self.answer(200 if is_good else 401, {"access_token": "tok"} if is_good else {"error": "invalid_client"})
        if self.headers["Authorization"] != "Bearer tok":
            return self.answer(401, {})
        message = json.loads(body)
        if "id" not in message:
            return self.answer(202, {})
        results = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}},
            "tools/list": {"tools": [TOOL]},
        }
        result = results.get(message["method"])
        reply = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
        return self.answer(200, {"jsonrpc": "2.0", "id": message["id"], **reply})


@pytest.fixture
def host() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def credentials(secret: str = "s&cret", token_url: str = "") -> ClientCredentials:
    return ClientCredentials(client_id="client", secret=secret, scope="tools", token_url=token_url)


def test_the_token_endpoint_is_found_and_the_tools_are_read_with_the_token(host: str) -> None:
    tools = read_source(f"{host}/mcp", live=LiveOptions(credentials=credentials()))

    assert [each.contract.name for each in tools.subjects] == ["a"]


def test_without_a_token_the_error_says_what_to_do(host: str) -> None:
    with pytest.raises(SourceRefused, match="give a token with --token-env"):
        read_source(f"{host}/mcp")


def test_a_refused_client_gets_the_reason_and_not_its_secret(host: str) -> None:
    with pytest.raises(SourceRefused, match=r"HTTP 401 \(invalid_client\)") as refused:
        fetch_token(f"{host}/mcp", credentials("wrong-secret"), seconds=20)

    assert "wrong-secret" not in str(refused.value)
    assert "wrong-secret" not in repr(credentials("wrong-secret"))


@pytest.mark.parametrize(
    ("path", "token_url", "reason"),
    [
        ("/nowhere", "", "no OAuth metadata"),
        ("/open", "http://issuer.test/token", "OAuth uses only https:// URLs"),
        ("/open", "", "its OAuth metadata has another 'resource'"),
        ("/other", "", "its OAuth metadata has another 'resource'"),
        ("/posed", "", "its OAuth metadata has another 'issuer'"),
        ("/away", "", "its token endpoint is on another host"),
        ("/plain", "", "OAuth uses only https:// URLs"),
        ("/bad", "", "OAuth uses only https:// URLs"),
        ("/open", "http://[bad", "OAuth uses only https:// URLs"),
        ("/mcp", "http://127.0.0.1:9/token", "cannot get an access token"),
    ],
)
def test_a_secret_is_sent_nowhere_else(host: str, path: str, token_url: str, reason: str) -> None:
    with pytest.raises(SourceRefused, match=reason):
        fetch_token(host + path, credentials(token_url=token_url), seconds=20)
