"""What a check asks for: severities, waivers, limits, a baseline. Read from the table `[unity.check]` of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final

from strictwire.check.finding import Finding, Level
from strictwire.check.policy import PolicyRefused
from strictwire.packs.unity.check.rule import ANY_TYPE, Limits
from strictwire.packs.unity.check.rules import RULES
from strictwire.packs.unity.project.kinds import ASSET_TYPES

OFF: Final = "off"
_KEYS: Final = frozenset({"severity", "waivers", "baseline", "max_bytes", "fail_on"})
_WAIVER_KEYS: Final = frozenset({"rule", "path", "reason"})


@dataclass(frozen=True, slots=True, kw_only=True)
class UnityWaiver:
    """Findings of one rule that are accepted. `path` is a shell pattern; a reason is required."""

    rule: str
    reason: str
    path: str = "*"

    def covers(self, finding: Finding) -> bool:
        """Whether a finding is waived."""
        return self.rule == finding.rule and fnmatchcase(finding.file, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPolicy:
    """See the module."""

    severity: Mapping[str, Level | None] = field(default_factory=lambda: MappingProxyType({}))
    """Severities that differ from those of the rules; None is off."""
    waivers: tuple[UnityWaiver, ...] = ()
    limits: Limits = field(default_factory=Limits)
    fail_on: Level = Level.ERROR
    """The least severe level that makes the check fail."""
    baseline: str | None = None
    """Path of the baseline file."""

    def severity_of(self, rule: str) -> Level | None:
        """The severity of a rule; None if it is off."""
        return self.severity.get(rule, RULES[rule].severity)


def parse_unity_settings(table: Mapping[str, Any]) -> CheckPolicy:
    """Read the table `[unity]`. Raises PolicyRefused."""
    _refuse_unknown(table, frozenset({"check"}), "[unity]")
    check = table.get("check", {})
    if not isinstance(check, Mapping):
        raise PolicyRefused("[unity.check] is a table")
    return parse_check_policy(check)


def parse_check_policy(table: Mapping[str, Any]) -> CheckPolicy:
    """Read the table `[unity.check]`. Raises PolicyRefused."""
    _refuse_unknown(table, _KEYS, "[unity.check]")
    severity = _table(table, "severity")
    return CheckPolicy(
        severity=MappingProxyType({_rule(name): _severity(value) for name, value in severity.items()}),
        waivers=tuple(_waiver(each) for each in _list(table, "waivers")),
        limits=_limits(_table(table, "max_bytes")),
        fail_on=_level(table.get("fail_on", Level.ERROR.value)),
        baseline=_optional_text(table, "baseline"),
    )


def _severity(value: Any) -> Level | None:
    return None if value == OFF else _level(value)


def _level(value: Any) -> Level:
    try:
        return Level(value)
    except ValueError:
        known = ", ".join([*(each.value for each in Level), OFF])
        raise PolicyRefused(f"unknown severity {value!r}; known: {known}") from None


def _rule(name: str) -> str:
    if name not in RULES:
        raise PolicyRefused(f"there is no rule {name!r}; rules: {', '.join(RULES)}")
    return name


def _waiver(value: Any) -> UnityWaiver:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) and each.strip() for each in value.values()):
        raise PolicyRefused("a waiver is a table with `rule`, `reason` and optionally `path`")
    _refuse_unknown(value, _WAIVER_KEYS, "a waiver")
    if "rule" not in value or "reason" not in value:
        raise PolicyRefused("a waiver needs a `rule` and a `reason`")
    return UnityWaiver(rule=_rule(value["rule"]), reason=value["reason"], path=value.get("path", "*"))


def _limits(table: Mapping[str, Any]) -> Limits:
    if not all(type(value) is int and value > 0 for value in table.values()):
        raise PolicyRefused("`max_bytes` maps an asset type, or `*`, to a whole number above 0")
    _refuse_unknown(table, frozenset({ANY_TYPE, *ASSET_TYPES}), "`max_bytes`")
    return Limits(max_bytes=MappingProxyType({**Limits().max_bytes, **table}))


def _refuse_unknown(table: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise PolicyRefused(f"unknown key {unknown[0]!r} in {where}; known: {', '.join(sorted(known))}")


def _table(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = table.get(name, {})
    if not isinstance(value, Mapping):
        raise PolicyRefused(f"`{name}` is a table")
    return value


def _list(table: Mapping[str, Any], name: str) -> list[Any]:
    value = table.get(name, [])
    if not isinstance(value, list):
        raise PolicyRefused(f"`{name}` is a list")
    return value


def _optional_text(table: Mapping[str, Any], name: str) -> str | None:
    value = table.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise PolicyRefused(f"`{name}` is a path")
    return value
