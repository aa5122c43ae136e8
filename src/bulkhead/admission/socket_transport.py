# SPDX-License-Identifier: Apache-2.0
"""Checks of `socket_transport: pci`: the domain has a socket device, and the configuration space of its
virtual PCI root overlaps nothing else of the domain.

crosscheck.py calls this. The root's place is the platform's; crosscheck_platform.py checks it.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.regions import root_window
from bulkhead.config.system import Domain, System
from bulkhead.planning.broker import sockets_of


def check_transports(system: System, platform: Platform) -> Iterator[Finding]:
    for index, domain in enumerate(system.domains):
        if domain.socket_transport == "pci":
            at: KeyPath = ("domains", index, "socket_transport")
            if domain.name not in sockets_of(system):
                cause = f"'{domain.name}' has no socket device"
                yield Finding(at, "conflict", cause, "a flow that names the domain, or `socket: true`")
            yield from _root(at, domain, platform)


def _root(at: KeyPath, domain: Domain, platform: Platform) -> Iterator[Finding]:
    root = root_window(platform)
    if root is None:
        cause = f"platform '{platform.name}' has no place for a virtual PCI root"
        yield Finding(at, "missing-key", cause, "mmio, or the key 'socket.root' in the platform file")
        return
    known = platform.passable()
    used = [(f"memory at {region.at:#x}", region.at, region.end) for region in domain.memory]
    used += [(f"'{name}'", known[name].at, known[name].end) for name in domain.devices if name in known]
    for name, start, end in used:
        if start < root.end and root.at < end:
            cause = f"{name} overlaps the {root.name} at {root.at:#x}..{root.end - 1:#x} of '{platform.name}'"
            yield Finding(at, "overlap", cause, "mmio, or other addresses")
