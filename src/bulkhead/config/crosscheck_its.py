# SPDX-License-Identifier: Apache-2.0
"""Checks of the ITS: the hypervisor can drive it, and only with it have PCI functions message interrupts.

crosscheck_platform.py calls this. regions.py checks that its registers overlap nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import InterruptController, Its, Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.regions import pending_memory
from bulkhead.schema import load_layout

Findings = Iterator[Finding]

_GIC: KeyPath = ("interrupt_controller",)
_ITS: KeyPath = (*_GIC, "its")


def check_its(platform: Platform) -> Findings:
    gic = platform.interrupt_controller
    if gic is None or gic.its is None:
        yield from _no_messages(platform)
        return
    yield from _controller(gic, platform)
    yield from _places(gic.its, platform)


def _no_messages(platform: Platform) -> Findings:
    for index, function in enumerate(platform.pci.functions if platform.pci is not None else ()):
        if function.messages is not None:
            path: KeyPath = ("pci", "functions", index, "messages")
            cause = f"'{function.name}' has message interrupts, and the hypervisor drives no ITS"
            yield Finding(path, "conflict", cause, "the key 'interrupt_controller.its', or no `messages`")


def _controller(gic: InterruptController, platform: Platform) -> Findings:
    if gic.messages is not None:
        cause = "the hypervisor drives the ITS, and `messages` are registers that nobody uses"
        yield Finding((*_GIC, "messages"), "conflict", cause, "either 'its' or 'messages'")
    if gic.type != "gicv3":
        yield Finding(_ITS, "conflict", f"a {gic.type} has no ITS", "an ITS of a gicv3")
    if platform.pci is None:
        cause = "the ITS translates messages of PCI functions, and the platform has no host bridge"
        yield Finding(_ITS, "conflict", cause, "the key 'pci', or 'messages' in place of 'its'")


def _places(its: Its, platform: Platform) -> Findings:
    layout = load_layout()
    for key, at, alignment in (
        ("at", its.at, layout.constant("its_frame_bytes")),
        ("pending", its.pending, layout.constant("lpi_pending_bytes")),
    ):
        if at % alignment:
            cause = f"{at:#x} is not aligned to {alignment:#x}"
            yield Finding((*_ITS, key), "alignment", cause, f"a multiple of {alignment:#x}")
    memory = pending_memory(platform.cores.count, its)
    if not any(hole.at <= memory.at and memory.end <= hole.end for hole in platform.reserved):
        cause = (
            f"the redistributors of {platform.cores.count} cores use {memory.at:#x}..{memory.end - 1:#x}, "
            "which is not reserved"
        )
        yield Finding((*_ITS, "pending"), "out-of-range", cause, "a part of one range of 'reserved'")
    if not any(ram.at <= memory.at and memory.end <= ram.end for ram in platform.memory):
        cause = f"{memory.at:#x}..{memory.end - 1:#x} is not memory, which redistributors write there"
        yield Finding((*_ITS, "pending"), "out-of-range", cause, "a part of one range of 'memory'")
