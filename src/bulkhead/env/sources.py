# SPDX-License-Identifier: Apache-2.0
"""The Debian mirror that this machine uses, from its apt configuration.

Called by `aptroot`; reads one-line lists and deb822 files. It names no mirror itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ARCHIVE_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Options of an entry that decide whether and how signatures are checked; they are kept for other suites, too.
KEPT_OPTIONS = ("signed-by", "trusted", "check-valid-until")


@dataclass(frozen=True)
class AptSource:
    """One entry: its address, suites and components, and its options (lower-case names)."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    options: dict[str, str]

    def deb822(self, suites: tuple[str, ...], architecture: str, kind: str = "deb") -> str:
        """The same mirror with other suites, only `main`, as text of a .sources file."""
        options = {name: self.options[name] for name in KEPT_OPTIONS if name in self.options}
        if "signed-by" not in options and ARCHIVE_KEYRING.exists():
            options["signed-by"] = str(ARCHIVE_KEYRING)
        lines = [
            f"Types: {kind}",
            f"URIs: {self.uri}",
            f"Suites: {' '.join(suites)}",
            "Components: main",
            f"Architectures: {architecture}",
        ]
        lines += [f"{name.title()}: {value}" for name, value in options.items()]
        return "\n".join(lines) + "\n"


def parse_one_line(text: str) -> Iterator[AptSource]:
    """Entries of a .list file: `deb [option=value ...] uri suite component...`."""
    pattern = re.compile(
        r"^deb\s+(?:\[(?P<options>[^]]*)\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)\s*(?P<rest>.*)$"
    )
    for line in text.splitlines():
        match = pattern.match(line.split("#")[0].strip())
        if not match:
            continue
        pairs = (option.partition("=") for option in (match["options"] or "").split())
        options = {name.lower(): value for name, _, value in pairs}
        yield AptSource(match["uri"], (match["suite"],), tuple(match["rest"].split()), options)


def parse_deb822(text: str) -> Iterator[AptSource]:
    """Entries of a .sources file: stanzas of `Field: value` with continuation lines."""
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", kept):
        fields: dict[str, str] = {}
        name = ""
        for line in stanza.splitlines():
            if line[:1].isspace() and name:
                fields[name] += "\n" + line
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                fields[name] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() == "no":
            continue
        for uri in fields.get("uris", "").split():
            suites = tuple(fields.get("suites", "").split())
            yield AptSource(uri, suites, tuple(fields.get("components", "").split()), fields)


def machine_sources(etc_apt: Path = Path("/etc/apt")) -> list[AptSource]:
    """All enabled binary entries of the machine, in apt's order."""
    parts = etc_apt / "sources.list.d"
    found: list[AptSource] = []
    for file in [etc_apt / "sources.list", *sorted(parts.glob("*.list"))]:
        if file.is_file():
            found += parse_one_line(file.read_text(errors="replace"))
    for file in sorted(parts.glob("*.sources")):
        found += parse_deb822(file.read_text(errors="replace"))
    return found


def debian_mirror(codename: str, sources: list[AptSource]) -> AptSource | None:
    """The entry of the distribution itself; None: there is none. Third parties have no suite of its name with
    `main`."""
    for source in sources:
        if codename in source.suites and "main" in source.components:
            return source
    return None


def codename(os_release: Path = Path("/etc/os-release")) -> str | None:
    """The name of this machine's Debian release; None if it is not Debian."""
    try:
        text = os_release.read_text()
    except OSError:
        return None
    fields = dict(line.partition("=")[::2] for line in text.splitlines())
    if fields.get("ID", "").strip('"') != "debian":
        return None
    return fields.get("VERSION_CODENAME", "").strip('"') or None
