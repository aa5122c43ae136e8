# SPDX-License-Identifier: Apache-2.0
"""Exceptions about missing tools and failed builds.

`bulkhead.cli` turns them into exit codes. They carry facts and never print.
"""

from pathlib import Path

from bulkhead.errors import BulkheadError, EnvironmentLacks


class MissingTool(EnvironmentLacks):
    """The machine lacks something. `package` provides it, `hint` says how to get it."""

    def __init__(self, name: str, package: str, hint: str) -> None:
        super().__init__(name, package, hint)
        self.name = name
        self.package = package
        self.hint = hint

    def __str__(self) -> str:
        return f"missing: {self.name} (package {self.package})\n{self.hint}".rstrip()


class NeedsCheckout(MissingTool):
    """`what` needs the sources of a checkout, for example to build `target`, and this is an installed
    package."""

    def __init__(self, what: str = "This", target: str = "") -> None:
        super().__init__("a checkout", "none", "")
        self.what = what
        self.target = target

    def __str__(self) -> str:
        return f"{self.what} needs a checkout of Bulkhead with its sources, and this is the installed package"


class BuildFailed(BulkheadError):
    """A native build failed. `tail` is the end of its output."""

    def __init__(self, preset: str, log: Path, tail: str) -> None:
        super().__init__(preset, log, tail)
        self.preset = preset
        self.log = log
        self.tail = tail

    def __str__(self) -> str:
        output = f"its whole output is in {self.log}\n{self.tail}"
        return f"the build of preset `{self.preset}` failed; {output}".rstrip()
