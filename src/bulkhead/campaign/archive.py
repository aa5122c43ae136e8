# SPDX-License-Identifier: Apache-2.0
"""Archives for a cluster's workers: the code with the built machine, and the files that tasks name.

The code has the form of an installed package (env/paths.py): `bulkhead/` with its modules, `bulkhead/data`
with platforms and the layout, `bulkhead/native` with what was compiled. Equal contents make equal bytes, and
an archive's name has their hash, so that a worker that has the name has the content.
"""

from __future__ import annotations

import hashlib
import os
import sysconfig
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bulkhead.campaign.worker import ABI_FILE
from bulkhead.env.paths import host_dir, layout_file, platforms_dir
from bulkhead.machine import armv7
from bulkhead.machine.native import module_path, workload_image
from bulkhead.planning.mpam_native import module_path as encoder_path

PACKAGE = "bulkhead"
_LEVEL = 6  # of compression


def code_archive(directory: Path) -> Path:
    """The archive of this program and of what is built of it now; written into `directory` if it is not
    there."""
    return _written("code", dict(_code()), directory)


def files_archive(files: Mapping[str, str], directory: Path) -> Path:
    """The archive of files under the names that `name_of` gave them."""
    return _written("files", {name: Path(path).read_bytes() for path, name in files.items()}, directory)


def name_of(file: Path) -> str:
    """In an archive: the same for equal contents. Raises OSError."""
    with file.open("rb") as opened:
        return f"{hashlib.file_digest(opened, 'sha256').hexdigest()[:32]}/{file.name}"


def _code() -> Iterator[tuple[str, bytes]]:
    package = Path(__file__).resolve().parents[1]
    yield ABI_FILE, str(sysconfig.get_config_var("EXT_SUFFIX")).encode()
    yield from _tree(package, PACKAGE, package.rglob("*.py"))
    yield from _tree(platforms_dir(), f"{PACKAGE}/data/platforms", platforms_dir().rglob("*.yaml"))
    yield from _tree(layout_file().parent, f"{PACKAGE}/data/schema", [layout_file()])
    built = (module_path(), workload_image(), encoder_path(), armv7.executable())
    yield from _tree(host_dir(), f"{PACKAGE}/native", (one for one in built if one.is_file()))


def _tree(root: Path, name: str, files: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for file in files:
        yield f"{name}/{file.relative_to(root)}", file.read_bytes()


def _written(kind: str, content: Mapping[str, bytes], directory: Path) -> Path:
    whole = hashlib.sha256()
    for name in sorted(content):
        whole.update(f"{name}\0{hashlib.sha256(content[name]).hexdigest()}\n".encode())
    path = directory / f"bulkhead-{kind}-{whole.hexdigest()[:32]}.zip"
    if not path.is_file():
        directory.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as packed:
            for name in sorted(content):
                info = zipfile.ZipInfo(name)  # its date is always the same
                info.external_attr = 0o755 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(info, content[name])
        part.replace(path)
    return path
