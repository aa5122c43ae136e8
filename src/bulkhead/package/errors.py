# SPDX-License-Identifier: Apache-2.0
"""Why a package cannot be built, as one exception that carries every reason at once.

Raised by everything in `bulkhead.package`; commands print the reasons and exit 1. Messages name the domain,
the file and the addresses, so that whoever reads them need not look into the images."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from bulkhead.config.problem import Finding
from bulkhead.errors import BulkheadError

BAD_IMAGE, MISSING_FILE = "bad-image", "missing-file"


class PackageError(BulkheadError):
    """One or more reasons: each is a line for people, and knows the key of the system file."""

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
    """Of a file that cannot be read."""
    return PackageError(Finding((), MISSING_FILE, cause))


class NotHere(PackageError):
    """Something of the tool's own is not on this machine: nothing is wrong with the system."""


@contextmanager
def prefixed(text: str) -> Iterator[None]:
    """Puts `text` before each reason that is raised inside: who and which file it is about."""
    try:
        yield
    except PackageError as error:
        found = [replace(finding, cause=f"{text}: {finding.cause}") for finding in error.findings]
        raise type(error)(*found) from error


@contextmanager
def located(*key: str | int) -> Iterator[None]:
    """Puts `key` before the key that each reason inside has: where in the system file it is."""
    try:
        yield
    except PackageError as error:
        found = [replace(finding, path=(*key, *finding.path)) for finding in error.findings]
        raise type(error)(*found) from error


class Collector:
    """Gathers the reasons of independent steps, so that one run reports all of them."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    @contextmanager
    def step(self, *key: str | int) -> Iterator[None]:
        """A step, which is about `key` of the system file."""
        try:
            with located(*key):
                yield
        except PackageError as error:
            self.findings += error.findings

    def check(self) -> None:
        """Raises what was gathered, if anything."""
        if self.findings:
            raise PackageError(*self.findings)
