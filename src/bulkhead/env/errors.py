# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with the surroundings, as exceptions.

The command line turns them into exit codes in one place (`bulkhead.cli`). They carry facts, never print.
"""

from pathlib import Path

from bulkhead.errors import BulkheadError, EnvironmentLacks


class MissingTool(EnvironmentLacks):
    """The machine lacks something. `package` says what gives it, `hint` how to get it."""

    def __init__(self, name: str, package: str, hint: str) -> None:
        super().__init__(name, package, hint)
        self.name = name
        self.package = package
        self.hint = hint

    def __str__(self) -> str:
        return f"missing: {self.name} (package {self.package})\n{self.hint}".rstrip()


class NeedsCheckout(MissingTool):
    """An installed package has no sources to build from; `what` needs them: this `target`."""

    def __init__(self, what: str = "This", target: str = "") -> None:
        super().__init__("a checkout", "none", "")
        self.what = what
        self.target = target

    def __str__(self) -> str:
        return f"{self.what} needs a checkout of Bulkhead, with its sources: this is the installed package"


class BuildFailed(BulkheadError):
    """A native build ended with an error. `tail` is the end of what it printed."""

    def __init__(self, preset: str, log: Path, tail: str) -> None:
        super().__init__(preset, log, tail)
        self.preset = preset
        self.log = log
        self.tail = tail

    def __str__(self) -> str:
        return f"the build of preset `{self.preset}` failed; all of it: {self.log}\n{self.tail}".rstrip()
