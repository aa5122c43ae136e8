# SPDX-License-Identifier: Apache-2.0
"""Exception for a benchmark that cannot measure as requested, or not on this platform."""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.errors import BulkheadError


class NotMeasured(BulkheadError):
    """There is no result; each reason is a sentence for the user."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = list(reasons)
