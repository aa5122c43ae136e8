# SPDX-License-Identifier: Apache-2.0
"""The keys that every object of `--json` begins with."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

CLOSED = ConfigDict(extra="forbid", use_attribute_docstrings=True)
OPEN = ConfigDict(extra="allow", use_attribute_docstrings=True)
PART = ConfigDict(extra="ignore", use_attribute_docstrings=True)  # of an object that has other keys, too

Verdict = Literal["ok", "failed", "error"]


@with_config(CLOSED)
class ToolResult(TypedDict):
    """The program that made the result."""

    version: str
    """Version of Bulkhead."""
    commit: str
    """Commit from which the tool was built; `+changes` follows if the checkout differs from it."""


@with_config(CLOSED)
class FetchedResult(TypedDict):
    """The main package of something that was fetched."""

    package: str
    """Name of the package."""
    version: str
    """Its version."""
    architecture: str
    """Its architecture."""
    sha256: str
    """SHA-256 of the package's file."""
    locked: bool
    """It is the version that packages.lock names."""


@with_config(OPEN)
class Envelope(TypedDict):
    """What the result of every command has. The command's own keys follow."""

    bulkhead: ToolResult
    """Version and commit of the tool."""
    command: str
    """The command, as `run` or `flows sweep`."""
    system: str | None
    """Name of the system; null if the command has none."""
    platform: str | None
    """Name of the platform; null if the command has none."""
    platform_sha256: str | None
    """SHA-256 of the platform's text, its parts and the platform that it extends; null if there is none."""
    on: str | None
    """Where the system ran: `qemu` or `machine`; null if nothing ran."""
    seed: int | None
    """Seed of all random choices; null if there is none."""
    verdict: Verdict
    """`ok`: every promise held; `failed`: at least one did not; `error`: the command has no answer."""
    reasons: list[str]
    """Why the verdict is not `ok`, one sentence each."""
    fetched: dict[str, FetchedResult]
    """Versions and hashes of the kernels, emulators and packages that were fetched for this result."""


@with_config(CLOSED)
class RefusalResult(Envelope):
    """What a command prints that has no answer: the common keys alone, with the reasons."""
