"""Questions of a tool to the client, and their typed answers. `Context` puts them; `forms` makes those with a form."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Ask
from strictwire.fault.failure import Refused, fail
from strictwire.server.content import Audio, Image, Text

Value = TypeVar("Value")


class Elicited(Generic[Value]):
    """The answer of the user to a form."""

    __slots__ = ("_value", "action")

    def __init__(self, *, action: str, value: Value | None = None) -> None:
        self.action = action
        """`accept`, `decline` or `cancel`."""
        self._value = value

    @property
    def accepted(self) -> bool:
        """Whether the user filled in the form."""
        return self.action == "accept"

    @property
    def content(self) -> Value:
        """What the user filled in. Raises Refused(ANSWER_DECLINED), which ends the call: the user did not accept."""
        if not self.accepted or self._value is None:
            raise Refused(fail("ANSWER_DECLINED", details={"action": self.action}))
        return self._value


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the model wants to use. Only a question that offers `tools` is answered with it."""

    id: str
    name: str
    input: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The answer of the client's model."""

    role: str
    """`assistant`, or `user`."""
    content: tuple[Text | Image | Audio | ToolUse, ...]
    model: str
    """The name of the model that answered."""
    stop_reason: str | None = None
    """Why it stopped, such as `endTurn`, `maxTokens` or `toolUse`."""

    @property
    def text(self) -> str:
        """The texts of the answer, one line each."""
        return "\n".join(each.text for each in self.content if isinstance(each, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The tools that the model wants to use."""
        return tuple(each for each in self.content if isinstance(each, ToolUse))


def sampling(messages: Sequence[JsonObject] | str, *, max_tokens: int = 1024, **options: JsonValue) -> Ask:
    """A request to the model of the client. A string becomes one message of the user."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
    return Ask(method="sampling/createMessage", params={"messages": list(messages), "maxTokens": max_tokens, **options})


def roots() -> Ask:
    """A request for the roots of the client: the folders that it works in."""
    return Ask(method="roots/list", params={})


def read_elicited(answer: JsonObject, ask: Ask) -> Elicited[Any]:
    """The typed answer to a form."""
    action = str(answer["action"])
    if action != "accept":
        return Elicited(action=action)
    return Elicited(action=action, value=answer["content"] if ask.read is None else ask.read(answer["content"]))


def read_sampled(answer: JsonObject) -> Sampled:
    """The typed answer of a model. Raises Refused(ANSWER_INVALID): an image or a recording is not base64."""
    content = answer["content"]
    items = content if isinstance(content, list) else [content]
    try:
        read = tuple(_READERS[item["type"]](item) for item in items)
    except (binascii.Error, ValueError) as exc:
        raise Refused(fail("ANSWER_INVALID", details={"reason": "base64"})) from exc
    return Sampled(role=answer["role"], content=read, model=answer["model"], stop_reason=answer.get("stopReason"))


_Item: TypeAlias = Text | Image | Audio | ToolUse
_READERS: Final[Mapping[str, Callable[[JsonObject], _Item]]] = MappingProxyType(
    {
        "text": lambda item: Text(item["text"]),
        "image": lambda item: Image(base64.b64decode(item["data"], validate=True), item["mimeType"]),
        "audio": lambda item: Audio(base64.b64decode(item["data"], validate=True), item["mimeType"]),
        "tool_use": lambda item: ToolUse(item["id"], item["name"], item["input"]),
    }
)
"""The kinds of content in an answer of a model."""
