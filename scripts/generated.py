# SPDX-License-Identifier: Apache-2.0
"""Files of the repository that a script generates: written, or compared with what would be written.

Used by the scripts that write pages and pictures of the manual; each has the option `--check`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs/reference"
_BEGIN, _END = "<!-- Begin of what {} writes. -->\n", "<!-- End of what {} writes. -->\n"


def anchor_of(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def between_marks(page: Path, script: str, text: str) -> str:
    """The page with this text between the two lines that mark a script's part."""
    begin, end = _BEGIN.format(script), _END.format(script)
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


def write_or_check(files: Mapping[Path, str], about: str | None) -> int:
    """Exit code of a script that writes these files; `about`: its docstring, for `--help`.

    With `--check` nothing is written, and the code is 1 if a file is not what would be written.
    """
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; end 1 if a file is out of date")
    check = parser.parse_args().check
    old = [
        path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in old:
        if check:
            print(f"{path.relative_to(ROOT)} is out of date: run {Path(sys.argv[0]).name}", file=sys.stderr)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
    return 1 if check and old else 0
