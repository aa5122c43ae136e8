# SPDX-License-Identifier: Apache-2.0
"""Why a package cannot be built, as one exception that carries every reason at once.

Raised by everything in `bulkhead.package`; commands print the reasons and exit 1. Messages name the domain,
the file and the addresses, so that whoever reads them need not look into the images."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class PackageError(Exception):
    """One or more reasons; each is one line for people."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = reasons

    def __str__(self) -> str:
        return "\n".join(self.reasons)


@contextmanager
def prefixed(text: str) -> Iterator[None]:
    """Puts `text` before each reason that is raised inside: who and which file it is about."""
    try:
        yield
    except PackageError as error:
        raise PackageError(*(f"{text}: {reason}" for reason in error.reasons)) from error


class Collector:
    """Gathers the reasons of independent steps, so that one run reports all of them."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    @contextmanager
    def step(self) -> Iterator[None]:
        try:
            yield
        except PackageError as error:
            self._reasons += error.reasons

    def check(self) -> None:
        """Raises what was gathered, if anything."""
        if self._reasons:
            raise PackageError(*self._reasons)
