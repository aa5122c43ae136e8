# SPDX-License-Identifier: Apache-2.0
"""The manifest's resets of devices: pages of registers, and which bits reset which device.

Called by `manifest`. hypervisor/run/device_reset.c writes the registers.
"""

from __future__ import annotations

from collections.abc import Mapping

from bulkhead.config.regions import device_resets, reset_pages
from bulkhead.geometry import PAGE_BYTES
from bulkhead.planning.model import Plan
from bulkhead.schema import Value, load_layout

Row = Mapping[str, Value]


def reset_pages_row(plan: Plan) -> Row:
    """The record `manifest_reset_pages`."""
    pages = list(reset_pages(plan.platform))
    most = load_layout().constant("max_reset_pages")
    return {f"page_{number}": page for number, page in enumerate(pages + [0] * (most - len(pages)))}


def reset_rows(plan: Plan) -> list[Row]:
    """A row for each device of the platform that has a reset, whether a domain has it or not: a boot loader
    may have left any of them running."""
    layout = load_layout()
    pages = list(reset_pages(plan.platform))
    owners: dict[str, int] = {}
    for domain in plan.domains:
        configured = plan.system.domain(domain.name)
        assert configured is not None
        owners |= dict.fromkeys(configured.devices, domain.index)
    return [
        {
            "domain": owners.get(name, layout.constant("all_domains")),
            "page": pages.index(reset.page),
            "offset": reset.at % PAGE_BYTES,
            "mask": reset.mask,
            "held": reset.mask if reset.held == "ones" else 0,
            "hold_ns": reset.hold,
        }
        for _, name, reset in device_resets(plan.platform)
    ]
