# SPDX-License-Identifier: Apache-2.0
"""A plan as a system file: every choice of the planner written as a key.

`bulkhead plan -o` writes this. Loading and planning the file again must give the same plan.
"""

from __future__ import annotations

import os
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarint import HexCapsInt

from bulkhead.config.quantity import U64_MAX
from bulkhead.config.shares import Bandwidth
from bulkhead.config.system import CpuTime, Expectation, Image, System, WayBack
from bulkhead.planning.broker import is_broker
from bulkhead.planning.delays import POLICY as DELAY
from bulkhead.planning.mechanism import llc_mechanism
from bulkhead.planning.model import Plan
from bulkhead.planning.resolve_shares import resolved_bandwidth, resolved_llc
from bulkhead.units import size_text

_HEADER = "# Resolved by `bulkhead plan`: what was open has been decided. The reasons:\n"


def resolved_text(plan: Plan, *, beside: Path, target: Path) -> str:
    """Text of the resolved system file. Paths relative to `beside` become relative to `target`."""
    yaml = YAML()
    yaml.width = 110
    stream = StringIO()
    yaml.dump(_resolved(plan, beside, target), stream)
    reasons = "".join(f"#   {choice.key}: {choice.value} ({choice.reason})\n" for choice in plan.choices)
    return _HEADER + reasons + stream.getvalue()


def _resolved(plan: Plan, beside: Path, target: Path) -> dict[str, Any]:
    system = plan.system
    result: dict[str, Any] = {
        "bulkhead": 1,
        "name": system.name,
        "platform": _moved(system.platform, beside, target),
    }
    result["hypervisor"] = {
        **_promise(plan, plan.pool.colors, "hypervisor"),
        "memory": _size(plan.pool.bytes),
        **_tables(plan),
        "scheduler": system.hypervisor.scheduler,
        "slice": f"{system.hypervisor.slice} ns",
        **(
            {"console": {"default": system.hypervisor.console.default}}
            if system.hypervisor.console.default
            else {}
        ),
    }
    isolation = system.isolation
    result["isolation"] = {
        "llc": llc_mechanism(system, plan.platform),
        "color_l1": isolation.color_l1,
        "banks": isolation.banks,
        "premap": isolation.premap,
    }
    if system.regulation is not None:
        result["regulation"] = _regulation(system)
    result["domains"] = [
        _domain(plan, index, beside, target)
        for index, domain in enumerate(system.domains)
        if not is_broker(system, domain.name)
    ]
    if system.broker is not None:
        broker = system.broker
        result["broker"] = {
            "cpu": "auto" if plan.flows is None or plan.flows.cpu is None else plan.flows.cpu,
            "engine": broker.engine,
            **({} if broker.copy_up_to is None else {"copy_up_to": _size(broker.copy_up_to)}),
            "chunk": _size(broker.chunk),
            "rate": "auto" if plan.flows is None else f"{plan.flows.rate} B/s",
        }
    if system.flows:
        result["flows"] = [
            {
                "name": f.name,
                "from": f.from_,
                "to": f.to,
                "port": f.port,
                "size": _size(f.size),
                "period": f"{f.period} ns",
                "deadline": f"{f.deadline} ns",
                **({} if f.transfers is None else {"transfers": f.transfers}),
                "connections": f.connections,
                **({} if f.back is None else {"back": _way_back(f.back)}),
            }
            for f in system.flows
        ]
    if system.expect:
        result["expect"] = {name: _expectation(wanted) for name, wanted in system.expect.items()}
    return result


def _way_back(back: WayBack) -> dict[str, Any]:
    given = {} if back.transfers is None else {"transfers": back.transfers}
    return {
        "size": _size(back.size),
        "period": f"{back.period} ns",
        "deadline": f"{back.deadline} ns",
        **given,
    }


def _tables(plan: Plan) -> dict[str, Any]:
    if plan.tables is None or plan.tables.colored is None:
        return {}
    colors = plan.tables.colored.colors or ()
    return {"tables": {"colors": sorted({plan.space.llc_color_of(color) for color in colors})}}


def _domain(plan: Plan, index: int, beside: Path, target: Path) -> dict[str, Any]:
    domain, planned = plan.system.domains[index], plan.domains[index]
    result: dict[str, Any] = {
        "name": domain.name,
        "criticality": domain.criticality,
        "cpus": list(domain.cpus),
        "priority": domain.priority,
        "cpu": _cpu_time(domain.cpu),
        "image": _image(domain.image, beside, target),
        "memory": [
            {"at": HexCapsInt(region.at), "size": _size(region.size)}
            | ({"spec": list(region.spec)} if region.spec else {})
            for region in domain.memory
        ],
        **_promise(plan, planned.colors, domain.name),
        "bandwidth": _bandwidth(domain.bandwidth),
        "console": {"raw": True} if domain.console.raw else domain.console.present,
        "params": dict(domain.params),
        "devices": list(domain.devices),
        "dma": domain.dma,
        "manager": domain.manager,
        "restart": domain.restart,
        "maintenance": plan.system.maintenance_of(domain),
        **({"virtual_partids": domain.virtual_partids} if domain.virtual_partids else {}),
        "table_placement": domain.table_placement,
    }
    if domain.workload is not None:
        result["workload"] = domain.workload
    return result


def _cpu_time(cpu: CpuTime) -> Any:
    if cpu.budget is None:
        return "unlimited"
    return {"budget": f"{cpu.budget} ns", "period": f"{cpu.period} ns"}


def _promise(plan: Plan, colors: frozenset[int] | None, owner: str) -> dict[str, Any]:
    """`llc` and `banks` of an owner as planned."""
    found: dict[str, Any] = {}
    if llc_mechanism(plan.system, plan.platform) == "mpam":
        found["llc"] = resolved_llc(plan, owner)
    if colors is None:
        return found
    if plan.space.llc_bits:
        found["llc"] = {"colors": sorted({plan.space.llc_color_of(color) for color in colors})}
    if plan.space.bank_bits:
        found["banks"] = {"colors": sorted({plan.space.bank_color_of(color) for color in colors})}
    return found


def _regulation(system: System) -> dict[str, Any]:
    regulation = system.regulation
    assert regulation is not None
    threshold, step = regulation.threshold, regulation.step
    result: dict[str, Any] = {
        "policy": regulation.policy,
        "interval": f"{regulation.interval} ns",
        "step": "adaptive" if step is None else _percent(step),
        "hold": regulation.hold,
        "floor": f"{regulation.floor} B/s",
        "samples": regulation.samples,
        "reclaim": regulation.reclaim,
        "overcommit": regulation.overcommit,
    }
    for key in ("horizon", "delay", "cluster_delay"):
        if (time := getattr(regulation, key)) is not None and regulation.policy == DELAY:
            result[key] = f"{time} ns"
    for key in ("ceiling", "saturation", "least"):
        if (rate := getattr(regulation, key)) is not None:
            result[key] = f"{rate} B/s"
    if "threshold" in regulation.model_fields_set:
        result["threshold"] = _percent(threshold) if isinstance(threshold, Fraction) else f"{threshold} B/s"
    return result


def _bandwidth(bandwidth: Bandwidth) -> Any:
    of_mpam = resolved_bandwidth(bandwidth)
    if bandwidth.unlimited and not of_mpam:
        return "unlimited"
    given: dict[str, Any] = {"per": bandwidth.per, "period": f"{bandwidth.period} ns", **of_mpam}
    if bandwidth.counts != "auto":
        given["counts"] = bandwidth.counts
    if bandwidth.slack is not None:
        given["slack"] = bandwidth.slack
    if bandwidth.accesses is not None:
        given["accesses"] = bandwidth.accesses
    if bandwidth.instructions is not None:
        given["instructions"] = bandwidth.instructions
    if bandwidth.read is not None:
        return {"read": f"{bandwidth.read} B/s", "write": f"{bandwidth.write} B/s", **given}
    if bandwidth.read_events is not None:
        return {"read_events": bandwidth.read_events, "write_events": bandwidth.write_events, **given}
    if bandwidth.unlimited:
        return given
    if bandwidth.budget is not None:
        return {"budget": f"{bandwidth.budget} B/s", **given}
    return {"events": bandwidth.events, **given}


def _expectation(wanted: Expectation) -> Any:
    given: dict[str, Any] = {}
    if wanted.ready is not None:
        given["ready"] = True if wanted.ready == U64_MAX else f"{wanted.ready} ns"
    if wanted.throttled is not None:
        given["throttled"] = wanted.throttled
    if wanted.slowdown is not None:
        given["slowdown"] = float(wanted.slowdown)
    if wanted.release_delay is not None:
        given["release_delay"] = f"{wanted.release_delay} ns"
    if wanted.report:
        given["report"] = dict(wanted.report)
    return {"state": wanted.state, **given} if given else wanted.state


def _image(image: Image, beside: Path, target: Path) -> dict[str, Any]:
    given = {"elf": image.elf, "kernel": image.kernel, "initrd": image.initrd}
    result: dict[str, Any] = {
        key: _moved(value, beside, target) for key, value in given.items() if value is not None
    }
    return result | ({"cmdline": image.cmdline} if image.cmdline is not None else {})


def _moved(reference: str, beside: Path, target: Path) -> str:
    """A path to an existing file, relative to `beside`, as a path relative to `target`; else the reference
    unchanged."""
    if "/" not in reference or not (beside / reference).exists() or Path(reference).is_absolute():
        return reference
    return os.path.relpath(beside / reference, target)


def _percent(share: Fraction) -> str:
    return f"{float(share * 100):.10g} %"


def _size(nbytes: int) -> str:
    text = size_text(nbytes)
    return f"{nbytes} B" if "." in text else text
