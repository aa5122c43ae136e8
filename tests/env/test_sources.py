# SPDX-License-Identifier: Apache-2.0
"""The Debian mirror is taken from the machine's own apt configuration, in either of its two formats."""

from pathlib import Path

import pytest

from bulkhead.env.sources import (
    AptSource,
    codename,
    debian_mirror,
    machine_sources,
    parse_deb822,
    parse_one_line,
)

ONE_LINE = """# deb http://commented.example/debian bookworm main
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/keys/one.gpg] http://mirror.example/debian bookworm main contrib # tail
deb http://third.example/apt bookworm stable
"""
DEB822 = """# the distribution
Types: deb deb-src
URIs: http://mirror.example/debian
# a comment inside
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 key

Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
Enabled: no
"""


def test_one_line_entries_keep_their_options() -> None:
    first, third_party = parse_one_line(ONE_LINE)
    assert first == AptSource(
        "http://mirror.example/debian",
        ("bookworm",),
        ("main", "contrib"),
        {"arch": "amd64", "signed-by": "/keys/one.gpg"},
    )
    assert third_party.components == ("stable",)


def test_disabled_stanzas_are_left_out() -> None:
    (entry,) = parse_deb822(DEB822)
    assert entry.uri == "http://mirror.example/debian"
    assert entry.suites == ("bookworm", "bookworm-updates")


def test_other_suites_keep_the_mirror_and_its_embedded_key() -> None:
    (entry,) = parse_deb822(DEB822)
    text = entry.deb822(("bookworm-backports",), "arm64")
    assert "URIs: http://mirror.example/debian\n" in text
    assert "Suites: bookworm-backports\n" in text
    assert "Architectures: arm64\n" in text
    (again,) = parse_deb822(text)
    assert again.options["signed-by"] == entry.options["signed-by"]


def test_a_third_party_is_not_taken_for_the_distribution() -> None:
    third_party = AptSource("http://third.example/apt", ("bookworm",), ("stable",), {})
    suite_of_its_own = AptSource("http://other.example/apt", ("tool-bookworm",), ("main",), {})
    mirror = AptSource("http://mirror.example/debian", ("bookworm",), ("main",), {})
    assert debian_mirror("bookworm", [third_party, suite_of_its_own, mirror]) is mirror
    assert debian_mirror("bookworm", [third_party, suite_of_its_own]) is None


def test_both_formats_are_read(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (parts / "debian.sources").write_text(DEB822)
    (parts / "ignored.save").write_text(ONE_LINE)
    uris = [source.uri for source in machine_sources(tmp_path)]
    assert uris == [
        "http://mirror.example/debian",
        "http://third.example/apt",
        "http://mirror.example/debian",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ID=debian\nVERSION_CODENAME=bookworm\n", "bookworm"),
        ('ID="debian"\nVERSION_CODENAME="trixie"\n', "trixie"),
        ("ID=ubuntu\nVERSION_CODENAME=noble\n", None),
        ("ID=debian\n", None),
    ],
)
def test_only_debian_has_a_mirror_of_debian(tmp_path: Path, text: str, expected: str | None) -> None:
    file = tmp_path / "os-release"
    file.write_text(text)
    assert codename(file) == expected


def test_a_machine_without_os_release_is_not_debian(tmp_path: Path) -> None:
    assert codename(tmp_path / "absent") is None
