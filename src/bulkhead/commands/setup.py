# SPDX-License-Identifier: Apache-2.0
"""`bulkhead setup`: install, fetch and build everything that other commands would on first use.

For people who want it done before they go offline, and for images of build machines. It checks every file of
what was fetched before.
"""

from typing import Any

import typer
from rich.console import Console

from bulkhead.commands.output import print_json, result_object
from bulkhead.env import linux, native, qemu, store, uboot
from bulkhead.env.paths import cache_dir


def _discard_damaged() -> list[str]:
    """Remove cached packages that are not what their manifest says; returns their names."""
    discarded = []
    for manifest in sorted(cache_dir().glob(f"*-[0-9]*/{store.MANIFEST}")):
        if store.damaged(manifest.parent):
            store.discard(manifest.parent)
            discarded.append(manifest.parent.name)
    return discarded


def setup(as_json: bool = typer.Option(False, "--json", help="Print one JSON object.")) -> None:
    """Install, fetch and build everything that is needed, ahead of use."""
    discarded = _discard_damaged()
    native.install_tools("packages", "lint")
    found: dict[str, Any] = {
        "qemu": str(qemu.qemu_binary()),
        "linux": str(linux.linux_kernel()),
        "busybox": str(linux.busybox()),
        "u-boot": str(uboot.u_boot()),
    }
    native.ensure_built(["host", "target"])
    if as_json:
        print_json(result_object("setup", verdict="ok", discarded=discarded, **found))
        return
    console = Console()
    for name in discarded:
        console.print(f"fetched again, was damaged: {name}")
    for name, path in found.items():
        console.print(f"{name:8} {path}", soft_wrap=True)
    console.print("ready: everything is installed, fetched and built")


def register(app: typer.Typer) -> None:
    app.command()(setup)
