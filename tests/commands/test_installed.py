# SPDX-License-Identifier: Apache-2.0
"""Commands of an installed package that need a checkout report that, in one sentence, before they do
anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bulkhead.cli import build_app
from bulkhead.env import paths
from bulkhead.env.errors import MissingTool, NeedsCheckout


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tool takes this directory for its installation; it still reads the checkout's files."""
    monkeypatch.setattr(paths, "_PACKAGE_DATA", paths.repository())
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path / "lib" / "site-packages" / "bulkhead")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("build examples/zcu102.yaml -o system.img", "`build`"),
        ("run examples/mixed-criticality.yaml", "`run --on qemu`"),
        ("size", "`size`"),
        ("setup", "`setup`"),
        ("linux-module", "`linux-module`"),
        ("record /bin/true", "`record`"),
        ("bench hypervisor", "`bench hypervisor`"),
        ("bench linux-boot", "`bench linux-boot`"),
        ("bench flows --on qemu", "`bench flows --on qemu`"),
        ("bench flows --write", "`--write`"),
        ("workloads compare qsort", "AArch64"),
        ("calibrate zcu102 --write", "`--write`"),
        ("experiment recorded", "record"),
    ],
)
def test_what_needs_a_checkout_says_so(package: Path, command: str, says: str) -> None:
    done = CliRunner().invoke(build_app(), command.split())
    assert isinstance(done.exception, NeedsCheckout), (done.exception, done.output)
    assert isinstance(done.exception, MissingTool)  # exit code 3: cli.main
    sentence = str(done.exception)
    assert says in sentence
    assert "needs a checkout of Bulkhead" in sentence
    assert "\n" not in sentence
    assert not [path for path in package.rglob("*") if path.is_file() and not path.name.startswith(".")]
