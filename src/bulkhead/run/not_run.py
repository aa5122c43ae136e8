# SPDX-License-Identifier: Apache-2.0
"""Exception for a system that cannot be run as requested. `run_system` turns the exception into a result."""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.errors import BulkheadError


class NotRun(BulkheadError):
    """There is no run; each reason is a sentence for the user."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = tuple(reasons)
