# SPDX-License-Identifier: Apache-2.0
"""The command `bulkhead`: collects the commands of `bulkhead.commands` and turns failures into exit codes.

0 yes, 1 the answer is no, 2 wrong usage, 3 the environment lacks something. No command is defined here.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Annotated

import typer

from bulkhead import commands
from bulkhead.commands.output import complain, version_text
from bulkhead.env.errors import BuildFailed, MissingTool

EXIT_NO, EXIT_USAGE, EXIT_ENVIRONMENT, EXIT_INTERRUPTED = 1, 2, 3, 130


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version_text())
        raise typer.Exit


def build_app() -> typer.Typer:
    """The application with every command of the package `bulkhead.commands` that can register itself."""
    app = typer.Typer(
        name="bulkhead",
        help="Keeps the memory traffic of domains on one chip apart, and shows with numbers that it does.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def root(
        version: Annotated[
            bool,
            typer.Option(
                "--version", help="Print version and commit.", callback=_show_version, is_eager=True
            ),
        ] = False,
    ) -> None:
        del version

    for info in sorted(pkgutil.iter_modules(commands.__path__), key=lambda found: found.name):
        _register(app, info.name)
    return app


def _register(app: typer.Typer, name: str) -> None:
    """Add the commands of one module; one that lacks a Python package says so when it is called."""
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
            name, help=f"(not available: needs the Python package '{package}')", context_settings=context
        )(missing)
        return
    register = getattr(module, "register", None)
    if register is not None:
        register(app)


def main() -> None:
    """Entry point of the script `bulkhead`."""
    try:
        build_app()(prog_name="bulkhead")
    except MissingTool as error:
        complain(str(error))
        sys.exit(EXIT_ENVIRONMENT)
    except BuildFailed as error:
        complain(str(error))
        sys.exit(EXIT_NO)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_NO)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
