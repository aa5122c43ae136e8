# SPDX-License-Identifier: Apache-2.0
"""`make lint`: builds what the checks need, runs them, and reports problems. Ends 1 if there are any."""

import sys

from bulkhead.env.errors import BuildFailed, MissingTool
from bulkhead.env.native import ensure_built
from checks.lint import lint


def main() -> int:
    try:
        ensure_built(["host", "target"])
    except BuildFailed as failure:
        print(failure)
    except MissingTool as missing:
        print(missing)
        return 3
    failed = 0
    for result in lint():
        print(result.text(), flush=True)
        failed += not result.passed
    print("lint: clean" if failed == 0 else f"lint: {failed} checks failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
