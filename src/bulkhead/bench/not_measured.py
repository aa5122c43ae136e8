# SPDX-License-Identifier: Apache-2.0
"""What a benchmark of the emulator needs, and the exception for one that cannot measure."""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.admission.load import Loaded
from bulkhead.errors import BulkheadError


class NotMeasured(BulkheadError):
    """There is no result; each reason is a sentence for the user."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = list(reasons)


def require_emulated(loaded: Loaded) -> None:
    """Raises NotMeasured if the system has problems, or if its platform is not a board of the emulator."""
    if not loaded.ok or loaded.platform is None:
        raise NotMeasured([problem.text() for problem in loaded.problems])
    if loaded.platform.emulator is None:
        raise NotMeasured([f"platform '{loaded.platform.name}' is not a board of the emulator"])
