# SPDX-License-Identifier: Apache-2.0
"""`bulkhead setup`: install, fetch and build now what commands and tests would otherwise fetch on first use.

It is meant for work without a network and for images of build machines. It also checks every file that was
fetched before, and it is the only command that writes packages.lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.console import Console

from bulkhead.commands.output import print_json
from bulkhead.env import native, store
from bulkhead.env.lock import Versions, want, write_lock
from bulkhead.env.paths import cache_dir, repository
from bulkhead.env.versions import used_versions
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.results.setup import SetupResult


def _discard_damaged() -> list[str]:
    """Remove cached packages whose files differ from their manifest; returns their names."""
    discarded = []
    for manifest in sorted(cache_dir().glob(f"*-[0-9]*/{store.MANIFEST}")):
        if store.damaged(manifest.parent):
            store.discard(manifest.parent)
            discarded.append(manifest.parent.name)
    return discarded


def _fetch(versions: Versions) -> dict[str, str]:
    """Fetch everything in the table; returns the path of each."""
    from bulkhead.fetches import fetches

    with want(versions):
        return {name: str(fetch()) for name, fetch in fetches().items()}


def _write_lock() -> list[str]:
    """Write what has been fetched to packages.lock; returns the changes."""
    return write_lock({key: store.lockable(one.directory) for key, one in store.obtained().items()})


def setup(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object instead of text."),
    locked: bool = typer.Option(
        False,
        "--locked",
        help="Fetch exactly the versions in packages.lock; if one is not available, end with exit code 3.",
    ),
    update: bool = typer.Option(
        False,
        "--update",
        help="Fetch the newest versions that the mirror has, and write them to packages.lock.",
    ),
) -> None:
    """Install, fetch and build everything that commands and tests need. Afterwards they need no network."""
    if locked and update:
        raise typer.BadParameter(
            "--locked fetches the versions in packages.lock, and --update replaces them: give one of the two"
        )
    repository("`setup`")
    discarded = _discard_damaged()
    native.install_tools("packages", "lint", "browser")
    found = _fetch(Versions.LOCKED if locked else Versions.NEWEST if update else Versions.PREFERRED)
    changes = _write_lock() if update else []
    native.ensure_built(["host", "target"])
    if as_json:
        result: SetupResult = {
            **result_object("setup", verdict="ok"),
            "discarded": discarded,
            "changes": changes,
            "places": found,
        }
        print_json(result)
        return
    console = Console(highlight=False, markup=False, soft_wrap=True)
    for name in discarded:
        console.print(f"fetched again because the cached copy was damaged: {name}")
    versions = used_versions()
    for name, path in found.items():
        known = versions.get(name)
        console.print(f"{name:14} {known.text() if known else ''}\n{'':14} {path}")
    for line in changes:
        console.print(f"packages.lock: {line}")
    if update and not changes:
        console.print("packages.lock: no change")
    console.print("ready: everything is installed, fetched and built")


def register(app: typer.Typer) -> None:
    app.command()(setup)
