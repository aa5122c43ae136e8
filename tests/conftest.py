# SPDX-License-Identifier: Apache-2.0
"""Properties of all Python tests: what Hypothesis keeps is in build/, and CI has the same examples each time.

Developers' runs are random, which finds what is new; with `CI=true` a change fails only for what it breaks.
"""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.database import DirectoryBasedExampleDatabase

BUILD = Path(__file__).parents[1] / "build"
EXAMPLES = BUILD / "hypothesis"

set_hypothesis_home_dir(EXAMPLES)

settings.register_profile("ci", derandomize=True, database=None, print_blob=True)
settings.register_profile("developer", database=DirectoryBasedExampleDatabase(EXAMPLES / "examples"))
settings.load_profile("ci" if os.environ.get("CI") == "true" else "developer")
