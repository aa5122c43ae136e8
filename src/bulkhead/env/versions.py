# SPDX-License-Identifier: Apache-2.0
"""Versions of the kernel, the emulator and other fetched packages that this process uses, for its results.

Called by code that prints or writes a result. A result without them cannot be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bulkhead.env import store
from bulkhead.env.lock import LockedPackage

if TYPE_CHECKING:
    from bulkhead.results.envelope import FetchedResult


@dataclass(frozen=True)
class Used:
    """The main package of one entry of packages.lock."""

    package: LockedPackage
    locked: bool

    def text(self) -> str:
        return self.package.text() + ("" if self.locked else ", not the locked version")

    def json(self) -> FetchedResult:
        return {
            "package": self.package.name,
            "version": self.package.version,
            "architecture": self.package.architecture,
            "sha256": self.package.sha256,
            "locked": self.locked,
        }


def used_versions() -> dict[str, Used]:
    """Used versions by entry, without the machine's name that some keys contain."""
    return {
        key.partition("/")[0]: Used(one.packages[0], one.locked)
        for key, one in sorted(store.obtained().items())
    }


def used_json() -> dict[str, FetchedResult]:
    return {name: used.json() for name, used in used_versions().items()}
