# SPDX-License-Identifier: Apache-2.0
"""Cost of each part of a packet's path (F5), by time stamps of the hypervisor and of a guest.

Called by `bulkhead bench flows`, which runs the systems named here: one with flows, one with calls alone, and
on the simulated machine one with EL2's own interrupts. Each runs without other load and beside writers: on
the simulated machine all cores write to memory whenever they have nothing else to do. Averages and medians
are those without writers.
On the simulated machine the counter ticks once a nanosecond, on the emulator once an instruction.
docs/design/flows.md defines the parts and their figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from bulkhead.admission.load import Loaded, load_system
from bulkhead.bench.flow_isolation import isolated_settings
from bulkhead.config.flow_costs import LOCKED, OF_EL2, CostPart, FlowCosts, part_names
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.system import BROKER
from bulkhead.env.paths import build_dir, examples_dir
from bulkhead.env.progress import progress
from bulkhead.errors import BulkheadError
from bulkhead.planning.broker import engine_on
from bulkhead.results.bench import FlowCostsKeys, Unit
from bulkhead.results.run import PathPartResult as Part
from bulkhead.run.target import MACHINE, QEMU, RunOptions

SYSTEM = "flow-paths.yaml"
CALLS = "flow-calls.yaml"
INTERRUPTS = "flow-interrupts.yaml"
PRINTER, PRINTS = "peer", "print"  # the domain in it that may print, and the parameter for it
CALLER = "calls"
CONSOLE_CORE = 0  # in the last of these systems
SLEEPER_CORE = 2  # of `quiet`: other notified guests may have interrupts masked
PUBLISHED = "zcu102-published"
BY_INTERRUPT = "-by-interrupt"  # of a broker that is not woken by events
RUN_NS = 200_000_000
BESIDE_WRITERS_NS = 100_000_000  # of each run with writers, which take long to simulate
INTERRUPTS_NS = 60_000_000  # of the runs for EL2's own interrupts, with and without writers
CALLS_BESIDE_WRITERS_NS = 75_000_000  # of that with calls alone, which ends after 63 ms
WRITTEN_ROUNDS = 5  # of the runs beside writers, for a platform's file
WRITES = "write_kib"  # parameter by which the domains of these systems write to memory
_ROUND = Fraction(13, 1000)  # increase of periods from round to round, so that packets coincide in other ways
_RARE = 7  # in the last round, periods are that much longer: writers displace more between two packets
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


def published_costs() -> FlowCosts | None:
    """The costs with which a board was measured, for comparison."""
    path = platform_path(PUBLISHED)
    published = load_platform(path)[0] if path is not None else None
    return published.flow_costs if published is not None else None


@dataclass(frozen=True)
class Systems:
    """What is run on a platform."""

    flows: Loaded
    calls: Loaded
    interrupts: Loaded

    @property
    def on(self) -> Loaded:
        """One of them, for what they have in common: the platform."""
        return self.flows


def load(given: Sequence[str], on: str, *, isolated: bool = False) -> Systems:
    """The systems, on the platform that the settings name first. `isolated`: with colors that keep the
    hypervisor and the broker apart. Raises GeometryError if that is asked for and there are no colors."""
    board = given[:1]
    flows, calls, interrupts = (str(examples_dir() / name) for name in (SYSTEM, CALLS, INTERRUPTS))
    colors = {
        file: _apart_from_domains(file, board) if isolated else [] for file in (flows, calls, interrupts)
    }
    return Systems(
        load_system(flows, [*board, *colors[flows], *given[1:]], emulated=on == QEMU),
        load_system(calls, [*board, *colors[calls]]),
        load_system(interrupts, [*board, *colors[interrupts]]),
    )


def _apart_from_domains(file: str, board: Sequence[str]) -> list[str]:
    found = load_system(file, board)
    if found.system is None or found.platform is None:
        return []  # the caller loads it again, and reports the problems
    names = [domain.name for domain in found.system.domains if domain.name != BROKER]
    return isolated_settings(found.platform, names)


def measure(systems: Systems, on: str, seed: int, run: RunSystem, rounds: int = 1) -> MeasuredFlows:
    """Run the calls and, with each broker, the flows: without writers, then on the simulated machine beside
    writers, in each round. There, too, EL2's own interrupts.

    Raises FlowsNotMeasured, with a line for each reason.
    """
    for loaded in (systems.flows, systems.calls, *([systems.interrupts] if on == MACHINE else [])):
        if not loaded.ok or loaded.platform is None:
            raise FlowsNotMeasured("\n".join(problem.text() for problem in loaded.problems))
        if on == QEMU and loaded.platform.emulator is None:
            raise FlowsNotMeasured(f"platform '{loaded.platform.name}' is not a board of the emulator")
    flows, calls = systems.flows, systems.calls
    costs = published_costs()
    options = RunOptions(for_ns=RUN_NS, seed=seed, icount=on == QEMU, on=on)
    short = replace(options, for_ns=BESIDE_WRITERS_NS)
    brokers = _brokers(flows, on)
    runs = [("calls", _without_writers(calls), options)]
    runs += [(name, _with_broker(_without_writers(flows), keys), options) for name, keys in brokers.items()]
    if on == MACHINE:
        runs.append(("calls", calls, replace(options, for_ns=CALLS_BESIDE_WRITERS_NS)))
        own = replace(options, for_ns=INTERRUPTS_NS)
        for name, loaded in _with_el2_s_work(systems.interrupts).items():
            runs += [(name, _without_writers(loaded), own), (name, loaded, own)]
        steps = ((name, number) for number in range(rounds) for name in brokers)
        runs += [
            (name, _with_broker(_in_round(flows, number), brokers[name]), short) for name, number in steps
        ]
    results: list[tuple[str, Mapping[str, Any]]] = []
    with progress("measure the parts of a packet's path") as update:
        for number, (name, loaded, chosen) in enumerate(runs):
            update(number / len(runs), name)
            place = build_dir() / "run" / f"bench-flow-{name}"
            result = run(prepared(loaded, on, costs), chosen, place)
            if result["verdict"] != "ok":
                raise FlowsNotMeasured("\n".join(f"{name}: {reason}" for reason in result["reasons"]))
            results.append((name, result))
    call = _call([result for name, result in results if name == "calls"])
    el2 = {part: [result for name, result in results if name == part] for part in OF_EL2}
    stamped = [(name, result) for name, result in results if name not in ("calls", *OF_EL2)]
    table = combined([(name, measured(result, call, on)) for name, result in stamped])
    if on == MACHINE:
        for part, seen in el2.items():
            table.parts[part] = _interrupt(part, seen, call)
    return table


def _with_el2_s_work(loaded: Loaded) -> dict[str, Loaded]:
    """The system with each kind of EL2's own interrupts alone, by part of the path."""
    assert loaded.system is not None
    domains = tuple(
        one.model_copy(update={"params": {**one.params, PRINTS: 1}}) if one.name == PRINTER else one
        for one in loaded.system.domains
    )
    regulation = loaded.system.regulation
    assert regulation is not None, "the file has a regulator"
    changed = {"domains": domains, "regulation": regulation.model_copy(update={"policy": "none"})}
    printing = replace(loaded, system=loaded.system.model_copy(update=changed))
    return {"budget_interrupt": loaded, "console_interrupt": printing}


def _interrupt(part: str, results: Sequence[Mapping[str, Any]], call: Part) -> Part:
    """One interrupt of EL2's own, in ticks: what was stamped, and entry and exit, which are those of a call.
    The console core has interrupts of both kinds, so for budgets only the other cores count."""
    seen: list[Part] = []
    for result in results:
        cores = [] if result.get("path_costs") is None else result["path_costs"]["cores"]
        of_cores = [
            one["parts"]["interrupt"]
            for one in cores
            if "interrupt" in one["parts"] and (one["core"] == CONSOLE_CORE) == (part == "console_interrupt")
        ]
        if not of_cores:
            raise FlowsNotMeasured(f"there was no '{part}'")
        seen.append(_together(of_cores))
    found = _widened(seen[0], seen[1:])
    return {
        "count": found["count"],
        "min": found["min"] + call["min"],
        "avg": found["avg"] + call["avg"],
        "max": found["max"] + call["max"],
        "median": found["median"] + call["median"],
    }


def _together(parts: Sequence[Part]) -> Part:
    """Of several cores: the median is that of the core with the most."""
    most = max(parts, key=lambda part: part["count"])
    count = sum(part["count"] for part in parts)
    mean = sum(part["avg"] * part["count"] for part in parts) // count
    return {**_widened(most, parts), "count": count, "avg": mean}


def _in_round(flows: Loaded, number: int) -> Loaded:
    """The system with longer periods; the first round has those of the file."""
    assert flows.system is not None
    longer = Fraction(_RARE) if number == WRITTEN_ROUNDS - 1 else 1 + number * _ROUND
    changed = [flow.model_copy(update={"period": int(flow.period * longer)}) for flow in flows.system.flows]
    return replace(flows, system=flows.system.model_copy(update={"flows": tuple(changed)}))


def _without_writers(loaded: Loaded) -> Loaded:
    """The system whose domains do not write to memory, and without domains that do nothing else."""
    assert loaded.system is not None
    quiet = tuple(
        domain.model_copy(update={"params": {**domain.params, WRITES: 0}})
        for domain in loaded.system.domains
        if WRITES in domain.params or domain.name == BROKER
    )
    return replace(loaded, system=loaded.system.model_copy(update={"domains": quiet}))


def _call(results: Sequence[Mapping[str, Any]]) -> Part:
    """Of a call of the hypervisor, in ticks: the extremes of all runs, averages and medians of the first."""
    reports = [
        next((one["report"] for one in result["domains"] if one["name"] == CALLER), None)
        for result in results
    ]
    if not all(reports):
        raise FlowsNotMeasured("the program that calls the hypervisor has measured nothing")
    parts = [TypeAdapter(Part).validate_python(report) for report in reports]
    return _widened(parts[0], parts[1:])


def _widened(first: Part, others: Sequence[Part]) -> Part:
    """The first part with the smallest and largest values of all."""
    return {
        **first,
        "min": min(part["min"] for part in (first, *others)),
        "max": max(part["max"] for part in (first, *others)),
    }


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
            parts[name] = _widened(parts.setdefault(name, part), [part])
    return MeasuredFlows(parts, tables[0].unit)


def packet_of(measured: MeasuredFlows) -> int:
    """EL2's work for a packet of one transfer that nothing else delays: two calls, of the sender and of the
    broker, and the parts between them. Medians."""
    return sum(times * measured.parts[name]["median"] for name, times in _OF_A_PACKET.items())


def named_by_broker(
    parts: Mapping[str, Part], *, copies: bool, by_interrupt: bool, engines: bool
) -> dict[str, Part]:
    """The parts under their names in a platform file: renames those that only such a broker has. `engines`:
    the platform has an engine beside the cores that copy."""
    names = {"wake": "wake_by_interrupt"} if by_interrupt else {}
    if engines and copies:
        names["dma_interrupt"] = "between_copies"
    return {names.get(name, name): part for name, part in parts.items()}


def _apart(table: MeasuredFlows, broker: str, engines: bool) -> MeasuredFlows:
    by_interrupt, copies = broker.endswith(BY_INTERRUPT), broker.startswith("cpu-copy")
    parts = named_by_broker(table.parts, copies=copies, by_interrupt=by_interrupt, engines=engines)
    return replace(table, parts=parts)


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
    platform = platform.model_copy(update={"flow_costs": costs, "flow_costs_isolated": None})
    return replace(loaded, platform=platform, system=system)


def measured(flows: Mapping[str, Any], call: Part, on: str) -> MeasuredFlows:
    """One broker's parts, from its run and the time of a call in ticks. Raises FlowsNotMeasured."""
    per_ns = 1.0 if on == MACHINE else EMULATOR_HZ / 10**9
    stamped = flows.get("path_costs")
    if stamped is None:
        raise FlowsNotMeasured("the hypervisor has measured nothing")
    seen: dict[str, Part] = {name: _in_unit(part, per_ns) for name, part in stamped["parts"].items()}
    sleeper: Mapping[str, Part] = next(
        (one["parts"] for one in stamped["cores"] if one["core"] == SLEEPER_CORE), {}
    )
    found: dict[str, Part] = {"hypervisor_call": call}
    for name in part_names():
        if name == "dma_interrupt":
            found[name] = beyond_call(_of(seen, "engine"), call)
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


def beyond_call(engine: Part, call: Part) -> Part:
    """What the engine takes beyond its rate, without the call that the analysis counts beside it."""
    return {
        "count": engine["count"],
        "min": max(0, engine["min"] - call["min"]),
        "avg": max(0, engine["avg"] - call["avg"]),
        "max": max(0, engine["max"] - call["min"]),
        "median": max(0, engine["median"] - call["median"]),
    }
