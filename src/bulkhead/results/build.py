# SPDX-License-Identifier: Apache-2.0
"""Results of `build` and `linux-module`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope
from bulkhead.results.problem import ProblemResult


@with_config(CLOSED)
class NotBuiltResult(Envelope):
    """There is no image of a system of domains."""

    notices: list[ProblemResult]
    """What the system file asks for and this version, or this platform, does not do."""


@with_config(CLOSED)
class BuiltDomainResult(TypedDict):
    """A domain of the image."""

    name: str
    """Name in the system file."""
    device_tree: str
    """File with its device tree."""


@with_config(CLOSED)
class BuildResult(Envelope):
    """The image of a system of domains, and the files that belong to it."""

    notices: list[ProblemResult]
    """What the system file asks for and this version, or this platform, does not do."""
    image: str
    """File with the image."""
    raw_image: str | None
    """File with the raw image; null if none was made."""
    sha256: str
    """SHA-256 of the image."""
    hypervisor: str
    """Program of the hypervisor: `full` or `space`."""
    load_area_bytes: int
    """Bytes in the load area."""
    load_pa: int
    """Physical address of the load area."""
    manifest: str
    """File with the manifest."""
    owners: str
    """File with the owner of each frame."""
    observe: str
    """File with settings of the emulator's plugin."""
    status_pages: list[int]
    """Physical addresses of the pages with statistics."""
    miscolored_pa: int | None
    """Physical address of the page of a wrong color (`--miscolor`); null: there is none."""
    domains: list[BuiltDomainResult]
    """The domains."""


@with_config(CLOSED)
class ImageComponentResult(TypedDict):
    """A component of the image."""

    name: str
    """Name in the system file, or of a component of the system."""
    code_bytes: int | None
    """Size of its code; null if it is part of the kernel's."""
    data_bytes: int
    """Size of its data."""
    code_at: int | None
    """Address of its code; null if it is part of the kernel's."""
    data_at: int
    """Address of its data."""
    stack_at: int
    """Address of its stack."""
    stack_bytes: int
    """Size of its stack."""
    priority: int | None
    """Its priority; null: it is not scheduled."""


@with_config(CLOSED)
class ComponentsBuildResult(Envelope):
    """The image of a system of components."""

    image: str
    """File with the image."""
    sha256: str
    """SHA-256 of the image."""
    loaded_bytes: int
    """Bytes that are loaded."""
    components: list[ImageComponentResult]
    """The components."""


@with_config(CLOSED)
class LinuxModuleResult(Envelope):
    """The kernel module."""

    module: str
    """File with the module."""
    kernel: str
    """Release of the kernel that it is for."""
