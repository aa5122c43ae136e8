# SPDX-License-Identifier: Apache-2.0
"""Cost of each part of a packet's path (F5), by time stamps of the hypervisor and of a guest.

Called by `bulkhead bench flows`, which runs the two systems named here: one with flows, one with calls alone.
On the simulated machine the counter ticks once a nanosecond, on the emulator once an instruction.
docs/design/flows.md defines the parts and their figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from bulkhead.admission.load import Loaded, load_system
from bulkhead.config.flow_costs import LOCKED, CostPart, FlowCosts, part_names
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.env.paths import build_dir, examples_dir
from bulkhead.env.progress import progress
from bulkhead.errors import BulkheadError
from bulkhead.planning.broker import engine_on
from bulkhead.results.bench import FlowCostsKeys, Unit
from bulkhead.results.run import PathPartResult as Part
from bulkhead.run.target import MACHINE, QEMU, RunOptions

SYSTEM = "flow-paths.yaml"
CALLS = "flow-calls.yaml"
CALLER = "calls"
SLEEPER_CORE = 2  # of `quiet`: other notified guests may have interrupts masked
PUBLISHED = "zcu102-published"
BY_INTERRUPT = "-by-interrupt"  # of a broker that is not woken by events
RUN_NS = 200_000_000
WRITTEN_ROUNDS = 8  # for a platform's file
_ROUND = Fraction(13, 1000)  # increase of periods from round to round, so that packets coincide in other ways
MACHINE_HZ = 10**9
EMULATOR_HZ = 500_000_000  # a tick is 2 ns of virtual time, which is one instruction under -icount shift=1
LEAST_MARGIN_NS = 100
STATISTICS = ("min", "avg", "max", "median")

Json = dict[str, Any]
_OF_A_PACKET = {"hypervisor_call": 2} | dict.fromkeys(
    ("transport", "parse", "find_earliest", "program_dma", "finalize"), 1
)
RunSystem = Callable[[Loaded, RunOptions, Path], Mapping[str, Any]]  # the result of `run --json`


class FlowsNotMeasured(BulkheadError):
    """A system cannot be run, or a part did not occur; the message names each reason on a line."""


@dataclass(frozen=True)
class MeasuredFlows:
    """All parts: ns on the simulated machine, instructions on the emulator."""

    parts: dict[str, Part]
    unit: Unit

    def json(self, published: FlowCosts | None) -> FlowCostsKeys:
        return {
            "unit": self.unit,
            "flow_costs": self.parts,
            "published": {
                name: {"min": part.min, "avg": part.avg, "max": part.max, "median": part.median}
                for name, part in (published.parts() if published is not None else {}).items()
            },
        }

    def yaml(self) -> list[str]:
        """In the format of a platform file: with a margin, because a run does not show the largest possible
        values."""
        width = max(len(name) for name in self.parts) + 1
        return [
            f"  {name + ':':{width}} {{ "
            + ", ".join(f"{key}: {value} ns" for key, value in statistics_of(with_margin(part)).items())
            + " }"
            for name, part in self.parts.items()
        ]


def statistics_of(part: Part) -> dict[str, int]:
    """Its values by name, without the count."""
    return {"min": part["min"], "avg": part["avg"], "max": part["max"], "median": part["median"]}


def with_margin(part: Part) -> Part:
    return {**part, "min": least_with_margin(part["min"]), "max": most_with_margin(part["max"])}


def least_with_margin(least: int) -> int:
    """An eighth less, or 100 ns if that is more."""
    return max(0, least - max(least // 8, LEAST_MARGIN_NS))


def most_with_margin(most: int) -> int:
    """An eighth more, or 100 ns if that is more."""
    return most + max(-(-most // 8), LEAST_MARGIN_NS)


def write_costs(platform: str, measured: MeasuredFlows) -> None:
    """Put the parts into a platform file in place of its own; everything else stays. Raises
    FlowsNotMeasured."""
    path = platform_path(platform)
    assert path is not None, "it was measured"
    before, found, rest = path.read_text(encoding="utf-8").partition("\nflow_costs:")
    if not found or measured.unit != "ns":
        raise FlowsNotMeasured(f"{path}: has no `flow_costs` in ns")
    for name, line in zip(measured.parts, measured.yaml(), strict=True):
        rest, count = re.subn(rf"(?m)^  {name}:.*$", line, rest, count=1)
        if count != 1:
            raise FlowsNotMeasured(f"{path}: has no `flow_costs.{name}`")
    path.write_text(before + found + rest, encoding="utf-8")


def published_costs() -> FlowCosts | None:
    """The costs with which a board was measured, for comparison."""
    path = platform_path(PUBLISHED)
    published = load_platform(path)[0] if path is not None else None
    return published.flow_costs if published is not None else None


def load(given: Sequence[str], on: str) -> tuple[Loaded, Loaded]:
    """The two systems, on the platform that the settings name first."""
    flows = load_system(str(examples_dir() / SYSTEM), given, emulated=on == QEMU)
    return flows, load_system(str(examples_dir() / CALLS), given[:1])


def measure(
    systems: tuple[Loaded, Loaded], on: str, seed: int, run: RunSystem, rounds: int = 1
) -> MeasuredFlows:
    """Run the calls once, and the flows with each broker in each round.

    Raises FlowsNotMeasured, with a line for each reason.
    """
    for loaded in systems:
        if not loaded.ok or loaded.platform is None:
            raise FlowsNotMeasured("\n".join(problem.text() for problem in loaded.problems))
        if on == QEMU and loaded.platform.emulator is None:
            raise FlowsNotMeasured(f"platform '{loaded.platform.name}' is not a board of the emulator")
    flows, calls = systems
    costs = published_costs()
    options = RunOptions(for_ns=RUN_NS, seed=seed, icount=on == QEMU, on=on)
    brokers = _brokers(flows, on)
    steps = ((name, number) for number in range(rounds) for name in brokers)
    runs = [("calls", calls)]
    runs += [(name, _with_broker(_in_round(flows, number), brokers[name])) for name, number in steps]
    results: list[tuple[str, Mapping[str, Any]]] = []
    with progress("measure the parts of a packet's path") as update:
        for number, (name, loaded) in enumerate(runs):
            update(number / len(runs), name)
            place = build_dir() / "run" / f"bench-flow-{name}"
            result = run(prepared(loaded, on, costs), options, place)
            if result["verdict"] != "ok":
                raise FlowsNotMeasured("\n".join(f"{name}: {reason}" for reason in result["reasons"]))
            results.append((name, result))
    called = results[0][1]
    return combined([(name, measured(result, called, on)) for name, result in results[1:]])


def _in_round(flows: Loaded, number: int) -> Loaded:
    """The system with longer periods; the first round has those of the file."""
    assert flows.system is not None
    longer = 1 + number * _ROUND
    changed = [flow.model_copy(update={"period": int(flow.period * longer)}) for flow in flows.system.flows]
    return replace(flows, system=flows.system.model_copy(update={"flows": tuple(changed)}))


def _brokers(flows: Loaded, on: str) -> dict[str, dict[str, str]]:
    """The brokers to measure, by name, each with its differences from the file. On the machine, if the user
    selects none: those with each engine of the platform, each woken by events and by interrupts."""
    assert flows.platform is not None and flows.system is not None and flows.system.broker is not None
    broker = flows.system.broker
    if on != MACHINE or broker.wait != "auto" or broker.engine != "cpu-copy":
        return {broker.engine: {}}
    engines = ["cpu-copy", *(["zdma"] if engine_on(flows.platform) is not None else [])]
    return {engine: {"engine": engine} for engine in engines} | {
        engine + BY_INTERRUPT: {"engine": engine, "wait": "interrupt"} for engine in engines
    }


def _with_broker(flows: Loaded, keys: Mapping[str, str]) -> Loaded:
    assert flows.system is not None and flows.system.broker is not None
    broker = flows.system.broker.model_copy(update=dict(keys))
    return replace(flows, system=flows.system.model_copy(update={"broker": broker}))


def combined(brokers: Sequence[tuple[str, MeasuredFlows]]) -> MeasuredFlows:
    """One table for all brokers and rounds: smallest and largest of all, averages and medians of the first.
    Waking by an interrupt is a separate part, and so is the time of a core that copies between transfers, if
    there are engines, too."""
    engines = any(name.startswith("zdma") for name, _ in brokers)
    tables = [_apart(one, name, engines) for name, one in brokers]
    parts: dict[str, Part] = {}
    for table in tables:
        for name, part in table.parts.items():
            first = parts.setdefault(name, part)
            parts[name] = {
                **first,
                "min": min(first["min"], part["min"]),
                "max": max(first["max"], part["max"]),
            }
    return MeasuredFlows(parts, tables[0].unit)


def packet_of(measured: MeasuredFlows) -> int:
    """EL2's work for a packet of one transfer that nothing else delays: two calls, of the sender and of the
    broker, and the parts between them. Medians."""
    return sum(times * measured.parts[name]["median"] for name, times in _OF_A_PACKET.items())


def _apart(table: MeasuredFlows, broker: str, engines: bool) -> MeasuredFlows:
    """Renames the parts that only such a broker has."""
    names = {"wake": "wake_by_interrupt"} if broker.endswith(BY_INTERRUPT) else {}
    if engines and broker.startswith("cpu-copy"):
        names["dma_interrupt"] = "between_copies"
    return replace(table, parts={names.get(name, name): part for name, part in table.parts.items()})


def prepared(loaded: Loaded, on: str, costs: FlowCosts | None) -> Loaded:
    """The system with a counter of the finest resolution. `costs` admit the flows, whatever is measured
    then."""
    assert loaded.platform is not None and loaded.system is not None
    platform, system = loaded.platform, loaded.system
    if on == MACHINE:
        timers = platform.timers.model_copy(update={"frequency": MACHINE_HZ})
        platform = platform.model_copy(update={"timers": timers})
    else:
        assert platform.emulator is not None
        cpu = f"{platform.emulator.cpu or platform.cores.type},cntfrq={EMULATOR_HZ}"
        emulator = platform.emulator.model_copy(update={"cpu": cpu})
        platform = platform.model_copy(update={"emulator": emulator})
        if system.name == Path(CALLS).stem:
            # One clock counts the instructions of all cores.
            system = system.model_copy(update={"domains": system.domains[:1]})
    platform = platform.model_copy(update={"flow_costs": costs})
    return replace(loaded, platform=platform, system=system)


def measured(flows: Mapping[str, Any], calls: Mapping[str, Any], on: str) -> MeasuredFlows:
    """One broker's parts, from its run and that of the calls. Raises FlowsNotMeasured."""
    per_ns = 1.0 if on == MACHINE else EMULATOR_HZ / 10**9
    stamped = flows.get("path_costs")
    report = next((one["report"] for one in calls["domains"] if one["name"] == CALLER), None)
    if stamped is None or not report:
        raise FlowsNotMeasured("neither the hypervisor nor the program that calls it has measured anything")
    seen: dict[str, Part] = {name: _in_unit(part, per_ns) for name, part in stamped["parts"].items()}
    sleeper: Mapping[str, Part] = next(
        (one["parts"] for one in stamped["cores"] if one["core"] == SLEEPER_CORE), {}
    )
    call = TypeAdapter(Part).validate_python(report)  # in ticks
    found: dict[str, Part] = {"hypervisor_call": call}
    for name in part_names():
        if name == "dma_interrupt":
            found[name] = _engine(_of(seen, "engine"), call)
        elif name == "notify":
            found[name] = _in_unit(_of(sleeper, name), per_ns)
        elif name not in (*LOCKED, "hypervisor_call"):
            found[name] = _of(seen, name)
    return MeasuredFlows(found, "ns" if on == MACHINE else "instructions")


def beyond(fresh: Mapping[str, Part], kept: FlowCosts) -> list[str]:
    """Parts of a measurement that exceed the platform file's values by more than its margin (each change of
    EL2's code moves the largest values a little), each as a sentence."""
    found = []
    for name, part in kept.parts().items():
        if name in LOCKED:
            continue
        one = fresh[name]
        if one["max"] > most_with_margin(part.max) or one["min"] < least_with_margin(part.min or 0):
            found.append(f"{name}: {one['min']} to {one['max']} ns, but the file says {_range(part)}")
    return found


def _range(part: CostPart) -> str:
    return f"{part.min} to {part.max} ns"


def _of(parts: Mapping[str, Part], name: str) -> Part:
    if name not in parts:
        raise FlowsNotMeasured(f"no packet passed the part '{name}' of the path")
    return parts[name]


def _in_unit(part: Part, per_ns: float) -> Part:
    return {
        "count": part["count"],
        "min": round(part["min"] * per_ns),
        "avg": round(part["avg"] * per_ns),
        "max": round(part["max"] * per_ns),
        "median": round(part["median"] * per_ns),
    }


def _engine(engine: Part, call: Part) -> Part:
    """What the engine takes beyond its rate, without the call that the analysis counts beside it."""
    return {
        "count": engine["count"],
        "min": max(0, engine["min"] - call["min"]),
        "avg": max(0, engine["avg"] - call["avg"]),
        "max": max(0, engine["max"] - call["min"]),
        "median": max(0, engine["median"] - call["median"]),
    }
