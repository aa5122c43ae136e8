# SPDX-License-Identifier: Apache-2.0
"""Plans the parameters of flows that a system leaves open, and decides whether the flows are schedulable: the
broker's rate (F4), the regulator's register, and the memory's part (F3).

Each broker's flows are a set of their own, because no thread, engine or queue has flows of two. The memory
serves all brokers together. `check`, `plan` and the builder use this through plan_memory; `flows check` uses
it directly, also for platforms that boot nothing. The verdicts are those of core's test.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from bulkhead.config.flow_costs import SHARE_ONE, FlowCosts
from bulkhead.config.machine_figures import MACHINES_OWN
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, key_text
from bulkhead.config.system import CPU_COPY, HYPERVISORS_ENGINE, Broker, System
from bulkhead.config.timing import Regulator
from bulkhead.flows import analysis
from bulkhead.flows.model import FlowModel
from bulkhead.flows.native import analysis as library
from bulkhead.geometry import GeometryError
from bulkhead.planning.broker import (
    core_of,
    engine_kind,
    engine_of,
    own_engine_of,
    shares_core_with,
    sockets_of,
    waits_for_events,
)
from bulkhead.planning.broker_parts import BrokerPart, parts_of
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.chains import PlannedChain, plan_chains
from bulkhead.planning.console import console_core
from bulkhead.planning.device_rates import STATE_RATE
from bulkhead.planning.el2_interrupts import Endless, interrupt_costs, unknown
from bulkhead.planning.flow_costs import chosen_costs
from bulkhead.planning.flow_refusal import refusal
from bulkhead.planning.memory_budget import BrokerLoad, MemoryUse, memory_use
from bulkhead.planning.memory_changes import AskedMemory, smaller_budgets
from bulkhead.planning.model import Choice
from bulkhead.planning.qos400 import MOST_REGISTER, regulator_before, step_of
from bulkhead.planning.regulation import budget_in
from bulkhead.planning.space import space_for
from bulkhead.units import time_text

if TYPE_CHECKING:
    from bulkhead.flows.native import FlowSet

SHOWN_CHANGES = 3


@dataclass(frozen=True)
class EngineRegister:
    """Rate register of the QoS-400 regulator in front of the DMA engine."""

    value: int
    step: Fraction  # bytes/s of one unit

    @property
    def bytes_per_s(self) -> float:
        return float(self.value * self.step)

    @property
    def charged(self) -> int:
        """Bytes/s that the engine may use of the memory, rounded up."""
        return math.ceil(self.value * self.step)


@dataclass(frozen=True)
class FlowPlan:
    """All parameters of a broker and of its flows."""

    model: FlowModel
    broker: Broker
    cpu: int | None  # None: no core is free
    rate: int  # bytes/s
    checked: analysis.CheckedFlows
    register: EngineRegister | None
    memory: MemoryUse | None
    choices: tuple[Choice, ...]
    remarks: tuple[str, ...]  # assumptions of the verdict
    chains: tuple[PlannedChain, ...] = ()
    engine: str = CPU_COPY  # the kind of what copies


def flow_model(system: System, platform: Platform, console: int) -> tuple[FlowModel | None, list[Finding]]:
    """The model for the analysis of one broker's flows, independent of the rate, or findings about why there
    is none. Without flows: None and no findings. `system`: as the broker sees it; `console`: the console core
    of the whole system."""
    if not system.flows or system.broker is None:
        return None, []
    wrong = list(_check_copy_up_to(system.broker))
    if wrong:
        return None, wrong
    chosen = chosen_costs(system, platform)
    if chosen is None:
        cause = f"platform '{platform.name}' has no costs of a packet's path (`flow_costs`)"
        allowed = "a platform that has them, as zcu102-published, or measured figures in the platform file"
        return None, [Finding(("platform",), "no-flow-costs", cause, allowed)]
    by_event = waits_for_events(system, platform, emulated=False)
    costs = chosen.costs.of_broker(
        by_event=by_event,
        copies=system.broker.copies,
        copied_bytes=_copied_bytes(system.broker, chosen.costs),
        samples=system.broker.samples,
    )
    if costs.path == "single-thread":
        try:
            costs = costs.beside(interrupt_costs(system, platform, costs, console))
        except Endless as endless:
            return None, [_interrupted(system, str(endless))]
    model = FlowModel(
        system.flows, costs, system.broker.chunk, sockets_of(system), run_bytes_of(system, platform)
    )
    try:
        model.make()
    except ValueError as refused:
        return None, [refusal(refused, model, system.broker.rate)]
    return model, []


def _interrupted(system: System, name: str) -> Finding:
    """The finding about a core whose program may hardly run for EL2's own interrupts."""
    number = next(number for number, one in enumerate(system.domains) if one.name == name)
    cause = f"EL2's own interrupts may take all of the time of a core of '{name}', so no flow has a bound"
    allowed = "a longer period of the budget or interval of the regulator, or the console on another core"
    return Finding(("domains", number), "interrupts-endless", cause, allowed)


def _copied_bytes(broker: Broker, costs: FlowCosts) -> int:
    """The largest `size` in bytes of flows whose packets the broker's core copies although there is an
    engine. 0: there is no engine, or the engine copies all. A packet without payload (only a header) needs no
    engine: the single-threaded analysis uses this, the published one does not."""
    if broker.copies:
        return 0
    if broker.copy_up_to is not None:
        return broker.copy_up_to
    return min(library().CONTROL_BYTES, broker.chunk) if costs.path == "single-thread" else 0


def _check_copy_up_to(broker: Broker) -> Iterator[Finding]:
    if broker.copy_up_to is None:
        return
    if broker.copies:
        cause = "belongs to a DMA engine beside the broker's core, and the broker has none"
        yield Finding(("broker", "copy_up_to"), "no-engine", cause, "`engine: zdma`, or no `copy_up_to`")
    elif broker.copy_up_to > broker.chunk:
        cause = f"is {broker.copy_up_to} B, more than a chunk ({broker.chunk} B)"
        yield Finding(("broker", "copy_up_to"), "out-of-range", cause, f"up to {broker.chunk} B")


def run_bytes_of(system: System, platform: Platform) -> int:
    """Size of the pieces in which a domain's memory is contiguous for the engine: a colored granule. 0: a
    core copies, which sees guest addresses, or nothing is colored."""
    if system.broker is None or system.broker.copies:
        return 0
    try:
        space = space_for(system, platform)
    except GeometryError:
        return 0  # the planner reports the error
    return space.granule if space.bits else 0


def plan_flows(
    system: System, platform: Platform, console: int | None = None
) -> tuple[FlowPlan | None, list[Finding]]:
    """The plan of the only broker, or findings about why its flows cannot be kept. Without flows: None and no
    findings. `console`: the console core, if `system` is a part of a system."""
    plans, findings = plan_brokers(system, platform, console)
    return (plans[0] if plans else None), findings


def plan_brokers(
    system: System, platform: Platform, console: int | None = None
) -> tuple[tuple[FlowPlan, ...], list[Finding]]:
    """A plan for each broker, or findings about why flows cannot be kept. Without flows: neither. `console`:
    as for `plan_flows`."""
    planners: list[_FlowPlanner] = []
    plans: list[FlowPlan] = []
    findings: list[Finding] = []
    console = console_core(system, platform) if console is None else console
    for part in parts_of(system):
        planner, found = _planner(part, platform, console)
        plan = None
        if planner is not None:
            plan, found = planner.rated()
        findings += part.in_file(found)
        if planner is not None and plan is not None:
            planners.append(planner)
            plans.append(plan)
    if findings:
        return (), findings
    loads = [planner.load(plan) for planner, plan in zip(planners, plans, strict=True)]
    for number, planner in enumerate(planners):
        others = (*loads[:number], *loads[number + 1 :])
        plans[number], found = planner.admitted(plans[number], others)
        findings += planner.part.in_file(found)
    findings = list(dict.fromkeys(findings))  # all brokers find the same domain without a budget
    return ((), findings) if findings else (tuple(plans), [])


def _planner(part: BrokerPart, platform: Platform, console: int) -> tuple[_FlowPlanner | None, list[Finding]]:
    model, findings = flow_model(part.system, platform, console)
    if model is None or part.system.broker is None:
        return None, findings
    wrong = list(_broker(part.system, platform))
    return (None, wrong) if wrong else (_FlowPlanner(part, platform, model, model.make(), console), [])


class _FlowPlanner:
    """Plans one broker with its flows."""

    def __init__(
        self, part: BrokerPart, platform: Platform, model: FlowModel, made: FlowSet, console: int
    ) -> None:
        assert part.system.broker is not None
        self.part, self.system, self.platform, self.broker = part, part.system, platform, part.system.broker
        self.model, self.made, self.console = model, made, console
        self.key = key_text(part.key)
        self.regulator = _regulator(part.system, platform)
        self.choices: list[Choice] = []

    def rated(self) -> tuple[FlowPlan | None, list[Finding]]:
        """The plan without what depends on the memory, or findings about why there is none."""
        rate = self._rate()
        if rate is None:
            return None, [self._impossible()]
        too_fast = list(self._beyond_copies(rate))
        if too_fast:
            return None, too_fast
        checked = analysis.check(self.model, rate, self.made)
        if not checked.schedulable:
            return None, [self._late(checked)]
        register = self._register(rate)
        if self.regulator is not None and register is None:
            cause = f"{rate} B/s are more than the largest setting of the regulator of '{self.platform.name}'"
            return None, [Finding(("broker", "rate"), "out-of-range", cause)]
        kind = engine_kind(self.system, self.platform)
        core = core_of(self.system, self.platform)
        plan = FlowPlan(self.model, self.broker, core, rate, checked, register, None, (), (), engine=kind)
        return plan, []

    def load(self, plan: FlowPlan) -> BrokerLoad:
        """What the broker of a plan may ask of the memory."""
        given = plan.rate if plan.register is None else plan.register.charged
        both = self.broker.copy_up_to is not None
        return BrokerLoad(self.part.name, given, plan.engine, self.broker.chunk, both)

    def admitted(self, plan: FlowPlan, others: tuple[BrokerLoad, ...]) -> tuple[FlowPlan, list[Finding]]:
        """The whole plan beside other brokers, and findings about why it cannot be kept."""
        given = self.load(plan).rate
        memory = memory_use(self.system, self.platform, given, plan.engine, self.broker.chunk, others)
        findings = list(self._memory(memory, others)) if memory is not None else []
        if findings:
            return plan, findings
        chains, late = plan_chains(self.system, self.platform, self.model, plan.rate)
        self._note_cpu(plan.cpu)
        remarks = (
            *_remarks(self.model, self.platform, memory, self.system),
            *_about_interrupts(self.model, self.platform, self.system, self.console),
        )
        whole = replace(plan, memory=memory, chains=chains, choices=tuple(self.choices), remarks=remarks)
        return whole, late

    def _rate(self) -> int | None:
        if self.broker.rate is not None:
            return self.broker.rate
        found = analysis.smallest_bandwidth(self.model)
        if found is not None:
            why = "the smallest bandwidth with which every packet is notified in time"
            self.choices.append(Choice(f"{self.key}.rate", f"{found} B/s", why))
        return found

    def _beyond_copies(self, rate: int) -> Iterator[Finding]:
        """A finding if the core copies payload at a rate above that for which its costs are known."""
        most = self.model.costs.copied_rate
        copies = self.broker.copies or self.broker.copy_up_to is not None
        if not copies or most is None or rate <= most:
            return
        asked = "is" if self.broker.rate is not None else "must be"
        known = f"costs of copying by a core of '{self.platform.name}' are known up to {most} B/s"
        cause = f"{asked} {rate} B/s, and {known}"
        yield Finding(("broker", "rate"), "out-of-range", cause, f"up to {most} B/s, or `engine: zdma` alone")

    def _register(self, rate: int) -> EngineRegister | None:
        """The smallest register value with at least this rate; None: not possible, or no regulator."""
        if self.regulator is None:
            return None
        value = -int(-rate // step_of(self.regulator))
        if value > MOST_REGISTER:
            return None
        register = EngineRegister(value, step_of(self.regulator))
        why = f"the smallest value with at least {rate} B/s: {register.bytes_per_s / 1e6:.3f} MB/s"
        self.choices.append(Choice(f"{self.key}.rate register", str(value), why))
        return register

    def _note_cpu(self, core: int | None) -> None:
        if self.broker.cpu is None and core is not None:
            beside = shares_core_with(self.system, core)
            why = (
                f"shared with {', '.join(beside)}: no core is free" if beside else "a core that no domain has"
            )
            self.choices.append(Choice(f"{self.key}.cpu", str(core), why))

    def _memory(self, memory: MemoryUse, others: tuple[BrokerLoad, ...]) -> Iterator[Finding]:
        if not_held(self.system) is not None:
            return
        allowed = "a budget, or `regulation: { overcommit: true }`"
        for number, domain in enumerate(self.system.domains):
            if domain.name in memory.unbounded:
                cause = (
                    f"nothing limits the traffic of '{domain.name}', so the broker's bandwidth is not "
                    "guaranteed"
                )
                yield Finding(("domains", number, "bandwidth"), "memory-unbounded", cause, allowed)
        for one in memory.unbounded_devices:
            number = next(n for n, domain in enumerate(self.system.domains) if domain.name == one.domain)
            cause = (
                f"nothing limits the traffic of '{one.device}', and no file states a rate of it, so the "
                "broker's bandwidth is not guaranteed"
            )
            allowed = f"{STATE_RATE}, or `regulation: {{ overcommit: true }}`"
            yield Finding(("domains", number, "devices"), "memory-unbounded", cause, allowed)
        if memory.unbounded or memory.unbounded_devices or memory.fits:
            return
        parts = ", ".join(f"{one.name} {float(one.utilization):.1%}" for one in memory.parts)
        if memory.limited_by == "table":
            where = " on the simulated machine" if memory.table_from is not None else ""
            reason = f"measurements{where} show no effect on cores with such budgets up to"
        else:
            reason = f"with {parts} of the DRAM in use, the budgets leave"
        needs = f"the broker needs {float(memory.rate) / 1e6:.2f} MB/s"
        cause = f"{needs}: {reason} {memory.largest_rate / 1e6:.2f} MB/s"
        asked = AskedMemory(self.system, self.platform, self.broker, -int(-memory.rate // 1), others)
        found = [*self._smaller_rate(memory), *smaller_budgets(asked)]
        relief = "lower budgets, or longer periods or deadlines of flows"
        change = f"{', or '.join(found) or relief}, or `regulation: {{ overcommit: true }}`"
        yield Finding(("broker", "rate"), "memory-budget", cause, change)

    def _smaller_rate(self, memory: MemoryUse) -> Iterator[str]:
        """The largest rate that the memory allows, if it is enough for the flows."""
        most = memory.largest_rate
        if self.regulator is not None:
            most = int(most // step_of(self.regulator) * step_of(self.regulator))
        needed = analysis.smallest_bandwidth(self.model) if self.broker.rate is not None else None
        if needed is not None and needed <= most:
            yield f"rate: {most} B/s ({most / 1e6:.2f} MB/s)"

    def _beside(self) -> str:
        return " beside parsing" if self.model.costs.path == "single-thread" else ""

    def _late(self, checked: analysis.CheckedFlows) -> Finding:
        rate = checked.bytes_per_s
        if checked.violation is not None:
            cause = checked.violation.text()
        elif checked.verdict == "overloaded":
            used = analysis.load(self.model, rate)
            cause = f"the flows need {used:.1%} of the broker's time{self._beside()} at {rate} B/s"
        else:
            cause = f"the load at {rate} B/s is too close to 100 % for a decision"
        found = analysis.changes(self.model, rate)
        return Finding(("broker", "rate"), f"flows-{checked.verdict}", cause, _allowed(found))

    def _impossible(self) -> Finding:
        most = library().MAX_BYTES_PER_S
        checked = analysis.check(self.model, most, self.made)
        if checked.violation is not None:
            cause = checked.violation.text()
        else:
            used = analysis.load(self.model, most)
            cause = f"the fixed costs alone need {used:.1%} of the broker's time{self._beside()}"
        cause = f"the flows cannot be scheduled at any bandwidth: {cause}"
        found = analysis.changes(self.model, most)
        allowed = _allowed(found) + (analysis.AT_MOST_RATE if found else "")
        return Finding(("flows",), "flows-impossible", cause, allowed)


def _allowed(changes: list[analysis.FlowChange]) -> str:
    if not changes:
        far = f"no change of a single value by up to {analysis.FARTHEST} times is enough"
        return f"longer periods or deadlines, or fewer flows: {far}"
    return ", or ".join(one.text() for one in changes[:SHOWN_CHANGES])


def _regulator(system: System, platform: Platform) -> Regulator | None:
    """The regulator in front of the engine that copies; None: a core copies, or there is none."""
    engine = engine_of(system, platform) or own_engine_of(system, platform)
    return None if engine is None else regulator_before(platform, engine.name)


def _broker(system: System, platform: Platform) -> Iterator[Finding]:
    broker = system.broker
    assert broker is not None, "it has flows"
    most = library().MAX_BYTES_PER_S
    if broker.rate is not None and broker.rate > most:
        yield Finding(("broker", "rate"), "out-of-range", f"is {broker.rate} B/s", f"up to {most} B/s")
    if broker.engine == HYPERVISORS_ENGINE and _regulator(system, platform) is None:
        cause = f"platform '{platform.name}' describes no DMA engine of this kind with a regulator"
        yield Finding(("broker", "engine"), "not-on-platform", cause, "cpu-copy")


def _remarks(model: FlowModel, platform: Platform, memory: MemoryUse | None, system: System) -> Iterator[str]:
    costs: FlowCosts = model.costs
    if costs.assumed is not None:
        yield f"costs of the path are assumed, not measured on '{platform.name}': {costs.assumed}"
    if costs.wake_by_interrupt is None and not waits_for_events(system, platform, emulated=False):
        yield f"the costs of '{platform.name}' do not include the wake-up of the broker by an interrupt"
    chosen = chosen_costs(system, platform)
    if chosen is not None:
        yield f"costs of the path: {chosen.reason}"
    yield f"transfers of a packet: {model.transfers_from}"
    if system.broker is not None and system.broker.copy_up_to is not None:
        copied = [way.name for way in model.ways if costs.copies(way.size)]
        yield f"copied by the broker's core, beside the engine: {', '.join(copied) or 'no flow'}"
    yield f"analysis of the path: {model.costs.path} (`flow_model` of '{platform.name}')"
    if costs.from_machine:
        yield f"costs of the path on '{platform.name}' are {MACHINES_OWN}"
    if memory is None:
        yield f"the broker's demand on memory is not checked: '{platform.name}' has no `memory_budget`"
    elif (why := not_held(system)) is not None:
        yield f"the broker's limit in memory is not enforced: {why}"


def _about_interrupts(model: FlowModel, platform: Platform, system: System, console: int) -> Iterator[str]:
    """What EL2's own interrupts, budgets and shared cores add to the bounds, or would add."""
    costs, ends = model.costs, sockets_of(system)
    if costs.path != "single-thread":
        return
    seen = costs.interrupts
    if seen.ends:
        named = ", ".join(f"{name} {time_text(ns)}" for name, ns in seen.ends.items())
        yield f"EL2's own interrupts delay an end of a flow by up to: {named}"
    if seen.broker_burst:
        once, share = time_text(seen.broker_burst), seen.broker_share / SHARE_ONE
        yield f"EL2's own interrupts on the broker's core: {once} at once, and {share:.1%} of its time"
    if missing := unknown(system, platform, costs, console):
        yield f"bounds without EL2's own interrupts: '{platform.name}' has no {' and no '.join(missing)}"
    event = counted_event(platform, emulated=False)
    budgets = {one.name: budget_in(system, one, event) for one in system.domains if one.name in ends}
    stopped = [name for name, one in budgets.items() if one is not None and one.events is not None]
    if stopped:
        yield (
            f"bounds hold while {', '.join(stopped)} {'has' if len(stopped) == 1 else 'have'} budget left: "
            "who has spent it waits for the next period"
        )
    managers = [one.name for one in system.domains if one.manager]
    if managers and (seen.ends or seen.broker_burst):
        yield f"bounds hold while {', '.join(managers)} makes no period or interval shorter"
    cores = [core for one in system.domains for core in one.cpus]
    shared = [
        one.name for one in system.domains if one.name in ends and any(cores.count(c) > 1 for c in one.cpus)
    ]
    if shared:
        named = ", ".join(shared)
        yield f"bounds without the time that other domains, and EL2's decisions, take on the core of {named}"


def not_held(system: System) -> str | None:
    """Why the memory's part is only reported, if the user wants that; EL2 does not get it then either. None:
    it is kept."""
    if system.regulation is not None and system.regulation.overcommit:
        return "`regulation: { overcommit: true }`"
    isolation = system.isolation
    off = {isolation.llc, isolation.banks, isolation.premap} == {"none"} and system.regulation is None
    return "isolation is off" if off and all(one.bandwidth.unlimited for one in system.domains) else None
