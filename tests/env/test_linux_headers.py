# SPDX-License-Identifier: Apache-2.0
"""Headers for the module belong to exactly the cached kernel, or an error says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bulkhead.env import aptroot, linux_headers, store
from bulkhead.env.lock import LockedPackage

RELEASE = "6.1.0-50-arm64"
MANIFEST = (
    '{"packages": [{"name": "kernel", "version": "6.1.176-1", "architecture": "arm64", "sha256": "0"}]}'
)


class Mirror:
    """A mirror that has one version of the headers."""

    def __init__(self, directory: Path, release: str, version: str) -> None:
        self.directory = directory
        self.release = release
        self.version = version

    def dependencies(self, package: str) -> list[str]:
        known = {
            "linux-headers-arm64": [f"linux-headers-{self.release}"],
            f"linux-headers-{self.release}": ["linux-headers-common", "linux-kbuild-6.1", "gcc-12"],
        }
        return known.get(package, [])

    def download(self, package: str, update: Any) -> list[Path]:
        (self.directory / f"{package}_{self.version}.deb").touch()
        return sorted(self.directory.glob("*.deb"))


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel in the cache."""
    modules = tmp_path / "linux-6.1.176-1" / "lib" / "modules" / RELEASE
    modules.mkdir(parents=True)
    (tmp_path / "linux-6.1.176-1" / store.MANIFEST).write_text(MANIFEST)
    monkeypatch.setattr(linux_headers, "linux_modules", lambda: modules)
    monkeypatch.setattr(
        store,
        "describe_deb",
        lambda deb: LockedPackage("headers", deb.name.partition("_")[2].removesuffix(".deb"), "arm64", "0"),
    )
    return tmp_path


def download(mirror: Mirror) -> list[str]:
    root: Any = mirror
    found = linux_headers._download_headers(root, linux_headers.kernel_release(), lambda _part, _step: None)
    return [deb.name.partition("_")[0] for deb in found]


def test_headers_of_the_same_kernel_are_taken(kernel: Path) -> None:
    wanted = [f"linux-headers-{RELEASE}", "linux-headers-common"]
    assert download(Mirror(kernel, RELEASE, "6.1.176-1")) == wanted


@pytest.mark.parametrize(
    ("release", "version", "named"),
    [
        ("6.1.0-51-arm64", "6.1.180-1", "linux-headers-6.1.0-51-arm64"),
        (RELEASE, "6.1.176-2", "6.1.176-2"),
    ],
    ids=["another-release", "another-version"],
)
def test_other_headers_are_refused_with_what_to_do(
    kernel: Path, release: str, version: str, named: str
) -> None:
    with pytest.raises(aptroot.AptFailed) as refused:
        download(Mirror(kernel, release, version))
    text = str(refused.value)
    assert named in text
    assert "6.1.0-50-arm64 (6.1.176-1)" in text
    assert f"Remove {kernel / 'linux-6.1.176-1'}" in text
