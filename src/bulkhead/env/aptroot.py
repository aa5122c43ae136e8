# SPDX-License-Identifier: Apache-2.0
"""A private apt for other suites or another architecture than the machine's, which leaves the machine's
configuration unchanged.

`qemu` and `linux` use it to download Debian packages as any user. It uses the machine's mirror, proxy and
certificate settings, checks signatures and hashes as apt does, and writes only below its own directory.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.env.errors import MissingTool
from bulkhead.env.lock import LockedPackage
from bulkhead.env.progress import Update
from bulkhead.env.sources import codename, debian_mirror, machine_sources
from bulkhead.errors import BulkheadError

SYSTEM_STATUS = Path("/var/lib/dpkg/status")


class AptFailed(BulkheadError):
    """apt-get failed; the message is the end of its output."""


@dataclass(frozen=True)
class AptRoot:
    """A directory with its own apt configuration, lists and archive."""

    directory: Path

    @property
    def archives(self) -> Path:
        return self.directory / "archives"

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "APT_CONFIG": str(self.directory / "apt.conf"), "LC_ALL": "C"}

    def _get(self, arguments: Sequence[str], update: Update, step: str, span: tuple[float, float]) -> None:
        """Run apt-get in the archive directory; its download status moves `update` through `span`."""
        read_end, write_end = os.pipe()
        command = ["apt-get", "-q", "-y", "-o", f"APT::Status-Fd={write_end}", *arguments]
        log = self.directory / "log"
        with log.open("w") as output:
            process = subprocess.Popen(
                command,
                env=self._environment(),
                cwd=self.archives,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[write_end],
            )
            os.close(write_end)
            try:
                with os.fdopen(read_end) as status:
                    for line in status:
                        self._report(line, update, step, span)
                failed = process.wait() != 0
            except BaseException:
                process.terminate()
                process.wait()
                raise
        text = log.read_text(errors="replace")
        # `update` succeeds even if an index could not be downloaded; then its lists are old or missing.
        if failed or "\nW: Failed to fetch" in text:
            errors = [line for line in text.splitlines() if line.startswith(("E:", "W:"))]
            raise AptFailed("\n".join(errors[-6:]) or text[-600:])

    @staticmethod
    def _report(line: str, update: Update, step: str, span: tuple[float, float]) -> None:
        kind, _, rest = line.partition(":")
        if kind == "dlstatus":
            percent = rest.split(":")[1]
            update(span[0] + (span[1] - span[0]) * float(percent) / 100, step)

    def update_lists(self, update: Update) -> None:
        self._get(["update"], update, "package lists", (0.0, 0.4))

    def closure(self, package: str, suite: str) -> list[LockedPackage]:
        """`package` and all packages that it needs on a machine without any; `package` is the first."""
        empty = self.directory / "nothing-installed"
        empty.touch()
        command = ["apt-get", "-s", "-o", f"Dir::State::status={empty}", "install", "-t", suite, package]
        simulated = subprocess.run(
            command, env=self._environment(), capture_output=True, text=True, check=False
        )
        found = re.findall(r"^Inst (\S+) \((\S+) ", simulated.stdout, re.MULTILINE)
        names = ["=".join(one) for one in sorted(found, key=lambda one: (one[0] != package, one[0]))]
        if not names:
            raise AptFailed(simulated.stderr.strip()[-600:])
        shown = subprocess.run(
            ["apt-cache", "show", *names], env=self._environment(), capture_output=True, text=True, check=True
        )
        stanzas = [
            dict(re.findall(r"^(\S+): (.*)$", stanza, re.MULTILINE)) for stanza in shown.stdout.split("\n\n")
        ]
        fields = ("Package", "Version", "Architecture", "SHA256")
        return [LockedPackage(*(stanza[field] for field in fields)) for stanza in stanzas if stanza]

    def download_with_libraries(
        self, package: str, suite: str, update: Update, others: Sequence[str] = ()
    ) -> list[Path]:
        """Download `package` and `others` from `suite`, and the dependencies that the machine does not
        have."""
        options = ["--download-only", "--no-install-recommends", "-t", suite]
        self._get(["install", *options, package, *others], update, package, (0.4, 0.8))
        return sorted(self.archives.glob("*.deb"))

    def download(self, package: str, update: Update) -> list[Path]:
        """Download only `package`."""
        self._get(["download", package], update, package, (0.4, 0.8))
        return sorted(self.archives.glob("*.deb"))

    def download_source(self, package: str, pins: Sequence[LockedPackage], update: Update) -> list[Path]:
        """Download a source package: its .dsc and the files that it names. A pinned version is used if the
        mirror has it, else the newest."""
        pinned = next((f"{pin.name}={pin.version}" for pin in pins if self._offers_source(pin)), package)
        self._get(["source", "--download-only", pinned], update, package, (0.4, 0.8))
        return sorted(self.archives.glob("*.*"))

    def _offers_source(self, package: LockedPackage) -> bool:
        command = ["apt-cache", "showsrc", "--only-source", package.name]
        shown = subprocess.run(command, env=self._environment(), capture_output=True, text=True, check=False)
        return f"\nVersion: {package.version}\n" in shown.stdout

    def offers(self, package: LockedPackage) -> bool:
        """Whether the mirror has this version."""
        command = ["apt-cache", "show", f"{package.name}={package.version}"]
        return (
            subprocess.run(command, env=self._environment(), capture_output=True, check=False).returncode == 0
        )

    def dependencies(self, package: str) -> list[str]:
        """Names of packages that `package` depends on."""
        command = ["apt-cache", "depends", package]
        shown = subprocess.run(command, env=self._environment(), capture_output=True, text=True, check=False)
        lines = (line.strip() for line in shown.stdout.splitlines())
        return [line.removeprefix("Depends: ") for line in lines if line.startswith("Depends: ")]


def _machine_acquire_settings() -> str:
    """The machine's download settings (proxies, certificates, time-outs), in the format of apt.conf."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False)
    return "".join(line + "\n" for line in dump.stdout.splitlines() if line.startswith("Acquire::"))


def _preferences(pins: Sequence[LockedPackage]) -> str:
    """Preferences that make apt take these versions if the mirror has them, even if an installed one is
    newer."""
    return "".join(f"Package: {pin.name}\nPin: version {pin.version}\nPin-Priority: 1001\n\n" for pin in pins)


def create(
    directory: Path,
    suites: Sequence[str],
    architecture: str,
    *,
    like_machine: bool,
    what: str,
    pins: Sequence[LockedPackage] = (),
    kind: str = "deb",
) -> AptRoot:
    """Set up an empty private apt in `directory`. Raises MissingTool.

    `suites` may contain `{codename}`. With `like_machine`, packages that the machine has count as installed;
    else none do. `pins`: versions to prefer. `what`: named in the error if the machine is not a Debian.
    `kind`: `deb` for packages, `deb-src` for source packages.
    """
    release = codename()
    mirror = debian_mirror(release, machine_sources()) if release else None
    if not shutil.which("apt-get") or release is None or mirror is None:
        hint = (
            "It is fetched from the Debian mirror in the apt configuration of this computer, and the "
            "configuration has none."
        )
        raise MissingTool(what, what, hint)
    for name in ("archives/partial", "lists/partial", "etc/parts"):
        (directory / name).mkdir(parents=True)
    status = directory / "status"
    if like_machine:
        shutil.copyfile(SYSTEM_STATUS, status)
    else:
        status.touch()
    named = tuple(suite.format(codename=release) for suite in suites)
    (directory / "debian.sources").write_text(mirror.deb822(named, architecture, kind))
    (directory / "preferences").write_text(_preferences(pins))
    settings = {
        "APT::Architecture": architecture,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::PDiffs": "false",
        "Dir::State::lists": f"{directory}/lists/",
        "Dir::State::status": str(status),
        "Dir::State::extended_states": f"{directory}/extended_states",
        "Dir::Cache": f"{directory}/",
        "Dir::Cache::archives": f"{directory}/archives/",
        "Dir::Etc::sourcelist": f"{directory}/debian.sources",
        "Dir::Etc::sourceparts": f"{directory}/etc/parts/",
        "Dir::Etc::main": "/dev/null",
        "Dir::Etc::parts": f"{directory}/etc/parts/",
        "Dir::Etc::preferences": f"{directory}/preferences",
        "Dir::Etc::preferencesparts": f"{directory}/etc/parts/",
        "Dir::Log": f"{directory}/",
    }
    text = _machine_acquire_settings()
    text += f'#clear APT::Architectures;\nAPT::Architectures {{ "{architecture}"; }};\n'
    text += "".join(f'{name} "{value}";\n' for name, value in settings.items())
    (directory / "apt.conf").write_text(text)
    return AptRoot(directory)
