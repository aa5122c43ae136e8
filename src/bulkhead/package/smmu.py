# SPDX-License-Identifier: Apache-2.0
"""The SMMU's part of a manifest: its registers and interrupts, and the streams of domains' devices.

Called by `manifest`. Without an IOMMU that the hypervisor drives, all fields are zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from bulkhead.config.platform import Platform
from bulkhead.planning.model import Plan
from bulkhead.schema import Value, load_layout

Row = Mapping[str, Value]


def smmu_row(platform: Platform) -> Row:
    """The manifest's record `smmu`. The SMMU is driven even if no domain has a device behind it, so that
    nothing that a boot loader left running can access memory."""
    iommu = platform.driven_iommu
    if iommu is None:
        return dict.fromkeys(("pa", "stream_bits", "event_irq", "error_irq", "version"), 0)
    assert iommu.stream_bits is not None, "the platform's check requires it"
    event_irq, error_irq = iommu.interrupts[0], iommu.interrupts[-1]
    return {
        "pa": iommu.at,
        "stream_bits": iommu.stream_bits,
        "event_irq": event_irq,
        "error_irq": error_irq,
        "version": load_layout().enum_value("smmu_version", iommu.type),
    }


def stream_rows(plan: Plan) -> list[Row]:
    """The streams of each domain's confined devices. A stream that two devices of a domain share is listed
    once."""
    rows: list[Row] = []
    for domain in plan.domains:
        configured = plan.system.domain(domain.name)
        assert configured is not None
        streams = {
            stream for device in plan.platform.confined(configured.devices) for stream in device.streams
        }
        rows += [{"domain": domain.index, "stream": stream} for stream in sorted(streams)]
    return rows
