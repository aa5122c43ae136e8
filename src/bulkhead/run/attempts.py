# SPDX-License-Identifier: Apache-2.0
"""Attempts that a hostile guest reports: lines `attempt {...}`, and `attempts {...}` at its start and end.

Fed by the console parser, read by the result. The lines come from the misbehaving domain itself: a line that
is not exactly as expected is counted as damaged and not used.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from bulkhead.results.run import AttemptResult

_LINE_LIMIT = 400  # in characters; the guest's own limit is smaller
_RECORD_LIMIT = 2000
_WORD = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")
_HEX = re.compile(r"[0-9a-f]{1,16}\Z")
_COUNT_LIMIT = 1 << 63
_RECORD = "attempt "
_PLAN = "attempts "


@dataclass(frozen=True)
class Attempt:
    """One kind of attempt with one outcome."""

    kind: str
    what: str
    count: int
    outcome: str
    through: bool
    evidence: str | None = None

    def as_json(self, domain: str) -> AttemptResult:
        result: AttemptResult = {
            "domain": domain,
            "class": self.kind,
            "what": self.what,
            "count": self.count,
            "outcome": self.outcome,
            "through": self.through,
        }
        if self.evidence is not None:
            result["evidence"] = self.evidence
        return result


@dataclass
class AttemptLog:
    """All that one domain has reported about its attempts."""

    attempts: list[Attempt] = field(default_factory=list)
    planned: int | None = None
    final: dict[str, int] | None = None  # totals that it reports at its end
    damaged: int = 0

    def take(self, line: str) -> None:
        """Processes a complete line of the domain; lines that are not about attempts are ignored."""
        if not line.startswith((_RECORD, _PLAN)):
            return
        if len(line) > _LINE_LIMIT or len(self.attempts) >= _RECORD_LIMIT:
            self.damaged += 1
            return
        word, _, text = line.partition(" ")
        found = _object(text)
        if found is None or not (self._record(found) if word == _RECORD.strip() else self._plan(found)):
            self.damaged += 1

    def _record(self, found: dict[str, object]) -> bool:
        kind, what, outcome = (found.get(key) for key in ("class", "what", "outcome"))
        count, through, evidence = (found.get(key) for key in ("count", "through", "evidence"))
        if not set(found) <= {"class", "what", "count", "outcome", "through", "evidence"}:
            return False
        if not (_is_word(kind) and _is_word(what) and _is_word(outcome) and isinstance(through, bool)):
            return False
        if not _is_count(count) or count == 0 or not (evidence is None or _is_hex(evidence)):
            return False
        if (outcome == "through") is not through:
            return False
        self.attempts.append(
            Attempt(
                str(kind),
                str(what),
                int(str(count)),
                str(outcome),
                through,
                str(evidence) if evidence else None,
            )
        )
        return True

    def _plan(self, found: dict[str, object]) -> bool:
        numbers = {key: int(str(value)) for key, value in found.items() if _is_count(value)}
        if len(numbers) != len(found) or self.final is not None:
            return False
        if set(numbers) == {"planned"} and self.planned is None:
            self.planned = numbers["planned"]
            return True
        if set(numbers) == {"planned", "tried", "records", "tries", "through", "lives"}:
            self.final = numbers
            return True
        return False

    def reasons(self, domain: str) -> list[str]:
        """Why these attempts do not show that the domain is contained; empty if it reported none."""
        if self.planned is None and self.final is None and not self.attempts and not self.damaged:
            return []
        reasons = [
            f"domain {domain}: {attempt.kind}/{attempt.what} got through, {attempt.count} times"
            + (f" (evidence {attempt.evidence})" if attempt.evidence else "")
            for attempt in self.attempts
            if attempt.through
        ]
        if self.damaged:
            reasons.append(f"domain {domain}: {self.damaged} lines about its attempts are damaged")
        if self.final is None:
            done = len({(attempt.kind, attempt.what) for attempt in self.attempts})
            reasons.append(f"domain {domain} did not finish: it reported {done} of {self.planned} attempts")
        elif self._contradicts_itself():
            reasons.append(
                f"domain {domain}: its reported attempts differ from the summary at its end: {self.final}"
            )
        return reasons

    def _contradicts_itself(self) -> bool:
        assert self.final is not None
        said = {
            "planned": self.planned,
            "tried": self.planned,
            "records": len(self.attempts),
            "tries": sum(attempt.count for attempt in self.attempts),
            "through": sum(attempt.count for attempt in self.attempts if attempt.through),
        }
        return any(self.final[key] != value for key, value in said.items())


def _object(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_word(value: object) -> bool:
    return isinstance(value, str) and _WORD.match(value) is not None


def _is_hex(value: object) -> bool:
    return isinstance(value, str) and _HEX.match(value) is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _COUNT_LIMIT
