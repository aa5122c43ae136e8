# SPDX-License-Identifier: Apache-2.0
"""The command `bulkhead`: collect the commands of `bulkhead.commands`, and turn failures into exit codes.

Exit codes: 0 yes, 1 the answer is no, 2 wrong usage, 3 the environment lacks something, 130 interrupted. With
`--json`, standard output has one object in every case except wrong usage. No command is defined here.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pkgutil
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.models import CommandInfo, TyperInfo

from bulkhead import commands
from bulkhead.commands.output import complain, print_json
from bulkhead.env.commit import version_text
from bulkhead.env.errors import MissingTool
from bulkhead.env.paths import build_dir
from bulkhead.envelope import result_object
from bulkhead.errors import BulkheadError

INTERRUPTED = "interrupted"
# How `--help` groups the commands, in this order.
PANELS = {
    "Systems": ("check", "plan", "build", "run", "report", "top", "trace", "flows"),
    "Simulated machine": ("experiment", "sensitivity", "limits", "workloads", "record"),
    "Models and their evidence": (
        "platforms",
        "validate",
        "self-test",
        "crosscheck",
        "published",
        "calibrate",
    ),
    "Costs": ("bench", "size"),
    "Linux hosts": ("linux-module", "resctrl"),
    "Tool": ("setup", "schema"),
}
EXAMPLES = """Examples:

bulkhead check examples/*.yaml — do the systems fit?

bulkhead run examples/mixed-criticality.yaml --on machine — run one on the simulated machine

bulkhead experiment coloring — repeat an experiment

bulkhead COMMAND --help — what a command does, and its options"""
EXIT_NO, EXIT_USAGE, EXIT_ENVIRONMENT, EXIT_INTERRUPTED = 1, 2, 3, 130


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version_text())
        raise typer.Exit


def build_app() -> typer.Typer:
    """The application, with every command of the package `bulkhead.commands`."""
    app = typer.Typer(
        name="bulkhead",
        help="Isolate the caches, memory and bandwidth of domains on one chip, and measure that the "
        "isolation holds.",
        epilog=EXAMPLES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def root(
        version: Annotated[
            bool,
            typer.Option(
                "--version",
                help="Print the version and the commit, and end.",
                callback=_show_version,
                is_eager=True,
            ),
        ] = False,
    ) -> None:
        del version

    for info in sorted(pkgutil.iter_modules(commands.__path__), key=lambda found: found.name):
        _register(app, info.name)
    _group(app)
    return app


def _group(app: typer.Typer) -> None:
    """Assign each command to its panel of the help; panels and commands are in the order of PANELS."""
    places = {
        name: (panel, i) for i, (panel, name) in enumerate((p, n) for p, ns in PANELS.items() for n in ns)
    }
    for found in (app.registered_commands, app.registered_groups):
        for one in found:
            one.rich_help_panel = places.get(_name(one), ("Others", 0))[0]
        found.sort(key=lambda one: places.get(_name(one), ("", len(places)))[1])


def _name(one: CommandInfo | TyperInfo) -> str:
    return str(one.name or getattr(one.callback, "__name__", ""))


def _register(app: typer.Typer, name: str) -> None:
    """Add the commands of one module. If its Python package is missing, the commands say so."""
    try:
        module = importlib.import_module(f"{commands.__name__}.{name}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "bulkhead"):
            raise

        def missing() -> None:
            raise MissingTool(f"the Python package '{package}'", package, f"pip install {package}")

        context = {"allow_extra_args": True, "ignore_unknown_options": True}
        app.command(
            name,
            help=f"Not available: this command needs the Python package '{package}'.",
            context_settings=context,
        )(missing)
        return
    register = getattr(module, "register", None)
    if register is not None:
        register(app)


def main() -> None:
    """Entry point of the script `bulkhead`."""
    _open_streams()
    # Matplotlib's cache goes to the tool's own directory.
    os.environ.setdefault("MPLCONFIGDIR", str(build_dir() / "matplotlib"))
    if isinstance(sys.stdout, io.TextIOWrapper):  # where a character cannot be shown, `?` stands for it
        sys.stdout.reconfigure(errors="replace")
    try:
        build_app()(prog_name="bulkhead")
    except BulkheadError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_NO)
    except OSError as error:
        _fail(_surroundings(error), EXIT_ENVIRONMENT)
    except KeyboardInterrupt:
        _fail(INTERRUPTED, EXIT_INTERRUPTED)
    except SystemExit as end:
        if end.code == EXIT_INTERRUPTED:  # typer's own answer to an interrupt
            _fail(INTERRUPTED, EXIT_INTERRUPTED)
        raise


def _open_streams() -> None:
    """Replace closed output streams (`>&-`), for which Python has None, by streams that drop the output."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - until the program ends


def _surroundings(error: OSError) -> str:
    """The text for an error of the environment, as a full disk or a directory that cannot be written."""
    place = f"{error.filename}: " if error.filename else ""
    hint = "the command needs directories that it may write to and that have free space"
    return f"error: {place}{error.strerror or error}\n{hint}"


def _fail(text: str, code: int) -> NoReturn:
    arguments = sys.argv[1:]
    if "--json" in arguments:
        command = next((word for word in arguments if not word.startswith("-")), "")
        with contextlib.suppress(OSError):  # standard output may be what failed
            print_json(result_object(command, verdict="error", reasons=[text]))
    complain(text)
    sys.exit(code)


if __name__ == "__main__":
    main()
