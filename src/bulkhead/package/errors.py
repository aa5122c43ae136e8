# SPDX-License-Identifier: Apache-2.0
"""Why a package cannot be built, as one exception that carries all reasons.

Everything in `bulkhead.package` raises it; commands print the reasons and exit 1. Messages name the domain,
the file and the addresses, so that users need not inspect the images.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from bulkhead.config.problem import Finding
from bulkhead.errors import BulkheadError

BAD_IMAGE, MISSING_FILE = "bad-image", "missing-file"


class PackageError(BulkheadError):
    """One or more reasons; each has a text for the user and a key of the system file."""

    def __init__(self, *reasons: str | Finding) -> None:
        self.findings = tuple(
            Finding((), BAD_IMAGE, reason) if isinstance(reason, str) else reason for reason in reasons
        )
        super().__init__(*self.reasons)

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(finding.cause for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join(self.reasons)


def missing(cause: str) -> PackageError:
    """The error for a file that cannot be read."""
    return PackageError(Finding((), MISSING_FILE, cause))


class NotHere(PackageError):
    """A file of the tool itself is not on this machine; the system is not wrong."""


@contextmanager
def prefixed(text: str) -> Iterator[None]:
    """Adds `text` (the domain or file) in front of each reason that is raised inside."""
    try:
        yield
    except PackageError as error:
        found = [replace(finding, cause=f"{text}: {finding.cause}") for finding in error.findings]
        raise type(error)(*found) from error


@contextmanager
def located(*key: str | int) -> Iterator[None]:
    """Adds `key` in front of the key of each reason that is raised inside, as the place in the system
    file."""
    try:
        yield
    except PackageError as error:
        found = [replace(finding, path=(*key, *finding.path)) for finding in error.findings]
        raise type(error)(*found) from error


class Collector:
    """Collects the reasons of independent steps, so that all are reported together."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    @contextmanager
    def step(self, *key: str | int) -> Iterator[None]:
        """A step that concerns `key` of the system file."""
        try:
            with located(*key):
                yield
        except PackageError as error:
            self.findings += error.findings

    def check(self) -> None:
        """Raises PackageError with all collected reasons, if there are any."""
        if self.findings:
            raise PackageError(*self.findings)
