"""An access token for a running server, with the OAuth 2.1 client credentials grant.

The token endpoint is found from the URL of the server: protected resource metadata (RFC 9728), then the metadata of the
authorization server (RFC 8414). Both are read, and the secret is sent, only over https:// or to this machine. A server that
names an authorization server on another host could ask for a secret that belongs elsewhere, so the user must then name the
token endpoint. There is no interactive flow: for an account that needs a browser, pass a token that was obtained elsewhere.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Final
from urllib.parse import quote_plus, urlencode, urlsplit, urlunsplit

from strictwire.canon.json import JsonObject, NotStrict, parse_object
from strictwire.client.errors import ClientError
from strictwire.client.http import HttpClient
from strictwire.sources.credentials import ClientCredentials
from strictwire.sources.label import url_label
from strictwire.sources.refused import SourceRefused

MAX_BODY: Final = 256 * 1024
"""Largest metadata document or token response, in bytes."""

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def fetch_token(resource: str, credentials: ClientCredentials, *, seconds: float) -> str:
    """An access token for the server at the URL `resource`. Raises SourceRefused."""
    try:
        return asyncio.run(_fetch(resource, credentials, seconds))
    except ClientError as exc:
        raise SourceRefused(url_label(resource), f"cannot get an access token: {exc}") from exc


async def _fetch(resource: str, credentials: ClientCredentials, seconds: float) -> str:
    http = HttpClient(seconds=seconds, max_body=MAX_BODY)
    try:
        url = credentials.token_url or await _find_endpoint(http, resource)
        _host_of(url)
        return await _request(http, url, resource, credentials)
    finally:
        await http.close()


async def _find_endpoint(http: HttpClient, resource: str) -> str:
    described = await _get(http, _well_known(resource, "oauth-protected-resource"))
    issuers = described.get("authorization_servers")
    if not isinstance(issuers, list) or not issuers or not isinstance(issuers[0], str):
        raise SourceRefused(url_label(resource), "the server names no authorization server; give --oauth-token-url")
    _check_same(described, "resource", resource)
    authorization_server = await _get(http, _well_known(issuers[0], "oauth-authorization-server"))
    _check_same(authorization_server, "issuer", issuers[0])
    endpoint = authorization_server.get("token_endpoint")
    if not isinstance(endpoint, str):
        raise SourceRefused(url_label(issuers[0]), "the authorization server has no token endpoint")
    if _host_of(endpoint) != _host_of(resource):
        remedy = "if the client secret belongs there, give it as --oauth-token-url"
        raise SourceRefused(url_label(resource), f"its token endpoint is on another host, {url_label(endpoint)}; {remedy}")
    return endpoint


def _check_same(metadata: JsonObject, member: str, url: str) -> None:
    """RFC 9728, 3.3 and RFC 8414, 3.3: metadata that names another resource or issuer must not be used."""
    if metadata.get(member) != url:
        raise SourceRefused(url_label(url), f"its OAuth metadata has another {member!r}; give --oauth-token-url")


def _well_known(url: str, name: str) -> str:
    """The address of a metadata document: the path of the URL comes after the well-known part."""
    _host_of(url)
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, f"/.well-known/{name}{parts.path.rstrip('/')}", "", ""))


async def _get(http: HttpClient, url: str) -> JsonObject:
    _host_of(url)
    response = await http.send("GET", url, headers={"Accept": "application/json"})
    if response.status != 200:
        raise SourceRefused(url_label(url), f"no OAuth metadata (HTTP {response.status}); give --oauth-token-url")
    return _object(response.body, url)


def _object(body: bytes, url: str) -> JsonObject:
    try:
        return parse_object(body)
    except NotStrict as exc:
        raise SourceRefused(url_label(url), "the response is not a JSON object") from exc


def _host_of(url: str) -> str:
    """The host of a URL that OAuth may use. Raises SourceRefused."""
    try:
        parts = urlsplit(url)
        scheme, host = parts.scheme, parts.hostname or ""
    except ValueError:
        scheme = host = ""
    if scheme != "https" and not (scheme == "http" and host in LOOPBACK):
        raise SourceRefused(url_label(url), "OAuth uses only https:// URLs, for metadata and the client secret")
    return host


async def _request(http: HttpClient, url: str, resource: str, credentials: ClientCredentials) -> str:
    form = {"grant_type": "client_credentials", "resource": resource}
    form |= {"scope": credentials.scope} if credentials.scope else {}
    # RFC 6749, 2.3.1: both are form-encoded before they are joined.
    pair = f"{quote_plus(credentials.client_id)}:{quote_plus(credentials.secret)}"
    headers = {
        "Authorization": f"Basic {b64encode(pair.encode()).decode()}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    response = await http.send("POST", url, headers=headers, body=urlencode(form).encode())
    answer = _object(response.body, url)
    token = answer.get("access_token")
    if response.status != 200 or not isinstance(token, str):
        error = answer.get("error")
        reason = f" ({error})" if isinstance(error, str) else ""
        raise SourceRefused(url_label(url), f"the authorization server refuses the client: HTTP {response.status}{reason}")
    return token
