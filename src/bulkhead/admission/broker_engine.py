# SPDX-License-Identifier: Apache-2.0
"""Checks of an engine that the broker programs itself (`broker.engine` names a device).

The engine is a device of the domain that planning/broker.py makes, so what holds for each device of a domain
holds for it, too. crosscheck_brokers.py calls this for each broker, with the system as that broker sees it.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.admission.crosscheck_passthrough import check_given
from bulkhead.admission.masters import why_unconfined
from bulkhead.config.devices import Device, Dma
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, nearest_of, quoted
from bulkhead.config.system import CPU_COPY, HYPERVISORS_ENGINE, System
from bulkhead.planning.broker import LARGEST_CHUNKS, broker_domain, kind_of, own_engine_of
from bulkhead.units import size_text

Findings = Iterator[Finding]

_ENGINE = ("broker", "engine")


def check_broker_engine(system: System, platform: Platform) -> Findings:
    """Why the broker cannot have the engine that the file names."""
    if system.broker is None or system.broker.own_engine is None:
        return
    engine = own_engine_of(system, platform)
    usable = [one.name for one in platform.passable().values() if kind_of(one) is not None]
    allowed = ", ".join((CPU_COPY, HYPERVISORS_ENGINE, *usable))
    if engine is None:
        name = system.broker.own_engine
        cause = f"platform '{platform.name}' has no engine {quoted(name)}"
        yield Finding(_ENGINE, "unknown-name", cause, allowed, nearest_of(name, usable))
        return
    kind = kind_of(engine)
    if kind is None:
        cause = f"'{engine.name}' is no DMA engine for which the broker has a driver"
        yield Finding(_ENGINE, "no-engine", cause, allowed)
        return
    if not engine.coherent:
        cause = f"'{engine.name}' is not cache-coherent, and the broker does not clean caches for it"
        yield Finding(_ENGINE, "not-on-platform", cause, CPU_COPY)
    if system.broker.chunk > LARGEST_CHUNKS[kind]:
        largest = size_text(LARGEST_CHUNKS[kind])
        cause = f"is {size_text(system.broker.chunk)}, and '{engine.name}' copies {largest} at most at once"
        yield Finding(("broker", "chunk"), "out-of-range", cause, f"up to {largest}")
    yield from _reach(engine, system, platform)
    yield from _as_a_device(engine, system, platform)


def _reach(engine: Device | Dma, system: System, platform: Platform) -> Findings:
    """What the engine reaches is the broker's memory, and all of it."""
    assert system.broker is not None
    gic = platform.interrupt_controller
    if not platform.confines(engine):
        if system.broker.dma != "trusted":
            cause = (
                f"'{engine.name}' {why_unconfined(engine)}: a broker that programs it could read and write "
                "all memory"
            )
            allowed = "an engine behind an IOMMU that the hypervisor drives, or `dma: trusted` of the broker"
            yield Finding(_ENGINE, "dma-unconfined", cause, allowed)
    elif gic is not None and gic.type == "gicv2":
        cause = (
            f"devices behind '{engine.iommu}' do not reach the memory of other domains where the broker has "
            f"it, because '{platform.name}' has a GICv2"
        )
        yield Finding(_ENGINE, "conflict", cause, CPU_COPY)


def _as_a_device(engine: Device | Dma, system: System, platform: Platform) -> Findings:
    """What is checked of each device of a domain."""
    holder = next((one.name for one in system.domains if engine.name in one.devices), None)
    if holder is not None:
        cause = f"device '{engine.name}' is given away twice: '{holder}' has it, too"
        yield Finding(_ENGINE, "duplicate-name", cause, "each device once")
        return
    broker = broker_domain(system, platform)
    if broker is None:
        return
    whole = system.model_copy(update={"domains": (*system.domains, broker)})
    for found in check_given(("broker",), broker, whole, platform):
        if found.path[:2] == ("broker", "devices") and found.code != "dma-unconfined":
            yield Finding(_ENGINE, found.code, found.cause, found.allowed)
