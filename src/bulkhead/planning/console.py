# SPDX-License-Identifier: Apache-2.0
"""The core that serves the console. Used for the manifest, and by the analysis of flows: EL2 interrupts this
core for all domains' output (el2_interrupts.py)."""

from __future__ import annotations

from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.planning.broker import is_broker, sockets_of


def console_core(system: System, platform: Platform) -> int:
    """A core without real-time domain, because serving the UART takes time: the first core of a best-effort
    domain, preferably one with a console, else a core without any domain. If each core has a real-time
    domain: the first that has neither a broker nor an end of a flow, else the first without a broker, because
    the console's interrupts make packets late. `system`: with its brokers' domains."""
    realtime = {core for one in system.domains if one.criticality == "rt" for core in one.cpus}
    relaxed = [one for one in system.domains if one.criticality != "rt"]
    talking = [one for one in relaxed if one.console.present]
    taken = {core for one in system.domains for core in one.cpus}
    candidates = [core for one in (*talking, *relaxed) for core in one.cpus]
    candidates += [core for core in range(platform.cores.count) if core not in taken]
    with_socket = sockets_of(system)
    ends = {core for one in system.domains if one.name in with_socket for core in one.cpus}
    brokers = {core for one in system.domains if is_broker(system, one.name) for core in one.cpus}
    last_resort = min(taken, key=lambda core: (core in brokers, core in ends, core), default=0)
    return next((core for core in candidates if core not in realtime), last_resort)
