# SPDX-License-Identifier: Apache-2.0
"""Result of `setup`."""

from __future__ import annotations

from pydantic import with_config

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class SetupResult(Envelope):
    """What was fetched."""

    discarded: list[str]
    """Packages that were damaged, and fetched again."""
    changes: list[str]
    """Changes of packages.lock (`--update`)."""
    places: dict[str, str]
    """Where each package is, by the name that `fetched` has it with."""
