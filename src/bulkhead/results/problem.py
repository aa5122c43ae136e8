# SPDX-License-Identifier: Apache-2.0
"""A problem or a notice of a system file, as several commands print it."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED


@with_config(CLOSED)
class ProblemResult(TypedDict):
    """What is wrong with a key of a file, or what Bulkhead does not do of what the key asks for."""

    file: str
    """The file."""
    line: int | None
    """Line of the key; null if it is not known."""
    column: int | None
    """Column of the key; null if it is not known."""
    key: str
    """Path of the key, as `domains[0].name`."""
    code: str
    """Kind of the problem, in one word that does not change."""
    cause: str
    """What is wrong."""
    allowed: str | None
    """What would be allowed."""
    nearest: str | None
    """The allowed value that is nearest to the given one."""
