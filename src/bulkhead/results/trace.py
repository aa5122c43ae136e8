# SPDX-License-Identifier: Apache-2.0
"""Result of `trace`."""

from __future__ import annotations

from pydantic import with_config

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class TraceResult(Envelope):
    """The trace of a run."""

    samples: int
    """Periods in the trace."""
    dropped: int
    """Periods that were overwritten before they were read."""
    packets: int
    """Packets of flows in the trace."""
    dropped_packets: int
    """Packets that were overwritten before they were read."""
    files: list[str]
    """File with the trace; empty if there is none."""
