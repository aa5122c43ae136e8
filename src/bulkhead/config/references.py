# SPDX-License-Identifier: Apache-2.0
"""The syntax of references to images: `guests/periodic.elf`, `linux:debian`, `busybox`, `debian`.

The crosschecks of admission/ call this. The builder resolves references and checks that the files exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bulkhead.config.named import DISKS, INITRDS, KERNELS
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.system import Image

_FILE = re.compile(r"[^:\s]*[/.][^:\s]*")


def check_image(at: KeyPath, image: Image) -> Iterator[Finding]:
    """Findings about the references of one image."""
    if image.elf is not None and (not _FILE.fullmatch(image.elf) or image.elf.endswith("/")):
        yield Finding(
            (*at, "image", "elf"),
            "bad-reference",
            f"{quoted(image.elf)} is not a file",
            "a path, as guests/periodic.elf",
        )
    for key, value, names in (("kernel", image.kernel, KERNELS), ("initrd", image.initrd, INITRDS)):
        if value is not None and value not in names and not _is_file(value):
            cause = f"{quoted(value)} is neither a known name nor a path"
            allowed = f"{', '.join(names)}, or a path with a '/'"
            yield Finding((*at, "image", key), "bad-reference", cause, allowed, nearest_of(value, names))
    if image.cmdline is not None and not all(" " <= char <= "~" for char in image.cmdline):
        cause = "has characters that a command line cannot hold"
        yield Finding((*at, "image", "cmdline"), "bad-text", cause, "printable ASCII")


def check_disk(at: KeyPath, value: str) -> Iterator[Finding]:
    """Findings about the reference to a disk's content."""
    if value not in DISKS and not _is_file(value):
        cause = f"{quoted(value)} is neither a known name nor a path"
        allowed = f"{', '.join(DISKS)}, or a path with a '/'"
        yield Finding(at, "bad-reference", cause, allowed, nearest_of(value, DISKS))


def _is_file(value: str) -> bool:
    return "/" in value and bool(_FILE.fullmatch(value)) and not value.endswith("/")
