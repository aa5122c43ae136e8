# SPDX-License-Identifier: Apache-2.0
"""Whether a run showed what `expect` of its system file asks for: ready, throttled, slowdown, release_delay,
report, line.

Called by `result` with the data of each domain; `result` itself judges the state in which a domain may end.
Not every run can show everything: budgets may be off, or times not comparable. These expectations are
reported as not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from bulkhead.config.quantity import U64_MAX
from bulkhead.config.system import Expectation
from bulkhead.results.run import ExpectedResult
from bulkhead.run.target import QEMU, DomainTarget, RunOptions


def expectations(
    targets: Sequence[DomainTarget], domains: Sequence[Mapping[str, object]], options: RunOptions
) -> list[ExpectedResult]:
    """One object for each expectation: `domain`, `what`, `expected`, `seen`, and `met`, which is None if this
    run cannot show it."""
    found: list[ExpectedResult] = []
    for target, domain in zip(targets, domains, strict=True):
        if target.expects is not None:
            found += [
                {"domain": target.name, "what": s.what, "expected": s.expected, "seen": s.seen, "met": s.met}
                for s in _of_domain(target.expects, domain, target, options)
            ]
    return found


def expectation_reasons(found: Sequence[ExpectedResult]) -> list[str]:
    """Expectations that were not met, as reasons."""
    return [
        f"domain {one['domain']}: expected {one['expected']}, but {one['seen']}"
        for one in found
        if one["met"] is False
    ]


class _Seen(NamedTuple):
    """One expectation of a domain, and what was seen."""

    what: str
    expected: str
    seen: str
    met: bool | None  # None: this run cannot show it


def _of_domain(
    wanted: Expectation, domain: Mapping[str, object], target: DomainTarget, options: RunOptions
) -> Iterator[_Seen]:
    if wanted.ready is not None:
        yield _ready(wanted.ready, domain)
    if wanted.throttled is not None:
        yield _throttled(wanted.throttled, domain, target, options)
    if wanted.slowdown is not None:
        yield _slowdown(float(wanted.slowdown), domain, options)
    if wanted.release_delay is not None:
        yield _release_delay(wanted.release_delay, domain, options)
    for key, value in wanted.report.items():
        yield _report(key, value, domain, options)
    if wanted.line is not None:
        yield _line(wanted.line, wanted.within, domain)
    if wanted.no_line is not None:
        yield _no_line(wanted.no_line, domain)


def _ready(by_ns: int, domain: Mapping[str, object]) -> _Seen:
    ready_ns = domain.get("ready_ns")
    expected = "ready by the end of the run" if by_ns == U64_MAX else f"ready within {_time(by_ns)}"
    if not isinstance(ready_ns, int):
        return _Seen("ready", expected, "it was not ready when the run ended", False)
    return _Seen("ready", expected, f"it was ready after {_time(ready_ns)}", ready_ns <= by_ns)


def _throttled(
    wanted: bool, domain: Mapping[str, object], target: DomainTarget, options: RunOptions
) -> _Seen:
    expected = (
        "to be stopped by its budget in at least one period"
        if wanted
        else "never to be stopped by its budget"
    )
    events = domain.get("events")
    if target.budget is None or not isinstance(events, Mapping):
        limited = (
            "MPAM limits it, not a budget" if target.limited_by_mpam else "nothing limits it in this run"
        )
        off = "budgets are off" if options.unprotected else limited
        return _Seen("throttled", expected, off, None)
    stopped, periods = int(events["throttled_periods"]), int(events["periods"])
    seen = f"it was stopped in {stopped} of {periods} periods"
    if periods == 0:
        return _Seen("throttled", expected, "no period of its budget has ended", False if wanted else None)
    return _Seen("throttled", expected, seen, (stopped > 0) is wanted)


def _slowdown(most: float, domain: Mapping[str, object], options: RunOptions) -> _Seen:
    expected, slowdown = f"a slowdown of at most {most:g}", domain.get("slowdown")
    if not isinstance(slowdown, float):
        return _Seen("slowdown", expected, "it was not also run alone (`--on machine --solo`)", None)
    met = None if options.unprotected else slowdown <= most
    return _Seen("slowdown", expected, f"its slowdown was {slowdown:.2f}", met)


def _release_delay(most_ns: int, domain: Mapping[str, object], options: RunOptions) -> _Seen:
    """Release delay of a program that reports `jitter_ns`: measured from the time for which it set its
    timer."""
    expected = f"release delays of at most {_time(most_ns)}"
    if options.on == QEMU and not options.icount:
        return _Seen("release_delay", expected, "time in the emulator is the host's time (`--icount`)", None)
    report = domain.get("report")
    jitter = report.get("jitter_ns") if isinstance(report, Mapping) else None
    longest = jitter.get("max") if isinstance(jitter, Mapping) else None
    if type(longest) is not int:
        return _Seen("release_delay", expected, "it has reported no release", False)
    met = None if options.unprotected else longest <= most_ns
    return _Seen("release_delay", expected, f"its longest release delay was {_time(longest)}", met)


def _report(key: str, value: int, domain: Mapping[str, object], options: RunOptions) -> _Seen:
    expected, report = f"`{key}: {value}` in its report", domain.get("report")
    if not isinstance(report, Mapping) or key not in report:
        seen = "it has not reported that" if isinstance(report, Mapping) else "it has reported nothing"
        return _Seen("report", expected, seen, None if options.unprotected else False)
    said = report[key]
    met = None if options.unprotected else type(said) is int and said == value
    return _Seen("report", expected, f"it reported `{key}: {str(said)[:40]}`", met)


def _line(text: str, by_ns: int | None, domain: Mapping[str, object]) -> _Seen:
    expected = f"the line '{text}'" + ("" if by_ns is None else f" within {_time(by_ns)}")
    seen = domain.get("seen")
    if not isinstance(seen, Mapping) or text not in seen:
        return _Seen("line", expected, "no line of its console had that", False)
    at_ns = seen[text]
    if not isinstance(at_ns, int):
        known = True if by_ns is None else None
        return _Seen("line", expected, "it came at an unknown time", known)
    return _Seen("line", expected, f"it came after {_time(at_ns)}", by_ns is None or at_ns <= by_ns)


def _no_line(text: str, domain: Mapping[str, object]) -> _Seen:
    expected, seen = f"no line '{text}'", domain.get("seen")
    if not isinstance(seen, Mapping) or text not in seen:
        return _Seen("no_line", expected, "no line of its console had that", True)
    at_ns = seen[text]
    when = f" after {_time(at_ns)}" if isinstance(at_ns, int) else ""
    return _Seen("no_line", expected, f"it came{when}", False)


def _time(ns: int) -> str:
    if ns >= 10**9:
        return f"{ns / 1e9:.3f} s"
    return f"{ns / 1e6:.3f} ms" if ns >= 10**5 else f"{ns / 1e3:.1f} us"
