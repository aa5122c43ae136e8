# SPDX-License-Identifier: Apache-2.0
"""The hypervisor's ELF file as the builder reads it: required contents, and the errors if they are
missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.package.errors import PackageError
from bulkhead.package.hypervisor import patched, read_hypervisor
from bulkhead.schema import Layout

CORES = 4  # the stand-in has statistics for this number


@pytest.fixture
def content(target_dir: Path) -> bytes:
    return (target_dir / "hypervisor" / "small" / "bulkhead.elf").read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"ARM\x64", b"ARM\x65", "has no arm64 Image header (magic 41524d65 at offset 56)"),
        (b"BHKP\x01", b"BHKQ\x01", "package descriptor: magic is 0x514b4842, not 0x504b4842"),
        (b"BHKP\x01", b"BHKP\x02", "package descriptor: version is 0x2, not 0x1"),
        (b"status_pages", b"status_rooms", "has no symbol 'status_pages'"),
    ],
)
def test_a_program_that_is_no_hypervisor_is_refused(
    tmp_path: Path, content: bytes, layout: Layout, old: bytes, new: bytes, reason: str
) -> None:
    assert content.count(old) == 1
    (tmp_path / "bulkhead.elf").write_bytes(content.replace(old, new))
    with pytest.raises(PackageError) as caught:
        read_hypervisor(tmp_path / "bulkhead.elf", layout, CORES)
    assert str(caught.value).startswith(f"hypervisor {tmp_path / 'bulkhead.elf'}: ")
    assert reason in str(caught.value)


def test_statistics_pages_for_all_cores_must_be_in_the_image(
    tmp_path: Path, content: bytes, layout: Layout
) -> None:
    (tmp_path / "bulkhead.elf").write_bytes(content)
    assert read_hypervisor(tmp_path / "bulkhead.elf", layout, CORES).status_offset == 3 * 4096
    with pytest.raises(
        PackageError, match="at offset 0x3000 is not 6 whole pages of the image's 0x8000 bytes"
    ):
        read_hypervisor(tmp_path / "bulkhead.elf", layout, CORES + 1)


def test_patching_changes_the_two_headers_and_nothing_else(target_dir: Path, layout: Layout) -> None:
    image = read_hypervisor(target_dir / "hypervisor" / "small" / "bulkhead.elf", layout, CORES)
    flat = patched(image, layout, manifest=(0xAAAA, 0xBBBB), package_bytes=0xCCCC)
    changed = {offset for offset, (a, b) in enumerate(zip(image.flat, flat, strict=True)) if a != b}
    size, descriptor = range(16, 24), range(72, 96)
    assert changed
    assert changed <= {*size, *descriptor}
