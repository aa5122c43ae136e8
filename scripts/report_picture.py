# SPDX-License-Identifier: Apache-2.0
"""Takes docs/guide/report.png, the picture of a report in the README: the top of the page of two runs.

    ./bulkhead run examples/mixed-criticality.yaml --on machine --unprotected
    ./bulkhead run examples/mixed-criticality.yaml --on machine
    scripts/setup browser
    PYTHONPATH=src:scripts build/venv/bin/python scripts/report_picture.py [RUN...]

RUN is the directory of a run; by default, the two runs above.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from bulkhead.report.html import write_html
from bulkhead.report.load import NotARun, load_run
from generated import ROOT

PICTURE = ROOT / "docs/guide/report.png"
RUNS = [
    ROOT / "build/run" / name
    for name in ("mixed-criticality-machine-unprotected", "mixed-criticality-machine")
]
BROWSER = "chromium-headless-shell"
WIDTH = 1120
# The picture ends below the first plot.
END = "() => document.querySelector('section.card:has(svg)').getBoundingClientRect().bottom + 16"


def take(page: Path, picture: Path, browser: str) -> None:
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=browser)
        shown = started.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme="light")
        shown.goto(page.as_uri())
        shown.set_viewport_size({"width": WIDTH, "height": round(shown.evaluate(END))})
        shown.screenshot(path=picture)
        started.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", nargs="*", type=Path, default=RUNS, help="directory of a run")
    browser = shutil.which(BROWSER)
    if browser is None:
        print(f"{BROWSER} is missing: scripts/setup browser", file=sys.stderr)
        return 3
    try:
        runs = [load_run(directory) for directory in parser.parse_args().run]
    except NotARun as wrong:
        print(wrong, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as directory:
        page = Path(directory, "report.html")
        write_html(runs, page)
        take(page, PICTURE, browser)
    print(PICTURE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
