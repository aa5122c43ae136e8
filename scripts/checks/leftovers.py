# SPDX-License-Identifier: Apache-2.0
"""Files that a run of the tests has left outside of build/: files in the checkout, and temporary files.

Called by scripts/test.py before the first stage and after the last. It deletes nothing.
"""

import os
from pathlib import Path

# Directories of git and of builds; and pytest's own, which it deletes itself.
NOT_LOOKED_AT = (".git", "build")
OF_PYTEST = "pytest-of-"


def files_outside(root: Path) -> set[Path]:
    """All files and directories of the checkout, including ignored ones, except those of .git and build."""
    found: set[Path] = set()
    for place, directories, names in os.walk(root):
        if Path(place) == root:
            directories[:] = [name for name in directories if name not in NOT_LOOKED_AT]
            names = [name for name in names if name not in NOT_LOOKED_AT]
        found.update(Path(place, name).relative_to(root) for name in [*directories, *names])
    return found


def left_behind(temporary: Path) -> set[Path]:
    """Files that remain in the directory for temporary files."""
    return {path for path in temporary.iterdir() if not path.name.startswith(OF_PYTEST)}
