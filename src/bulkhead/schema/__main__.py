# SPDX-License-Identifier: Apache-2.0
"""`python -m bulkhead.schema header LAYOUT.yaml OUT.h`: called by the build to generate the header.

Runs inside the build, before any Python environment exists: the standard library and PyYAML only."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bulkhead.schema.header import c_header
from bulkhead.schema.model import SchemaError
from bulkhead.schema.parse import read_schema


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bulkhead.schema", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    header = commands.add_parser("header", help="write the C header of a layout")
    header.add_argument("layout", type=Path)
    header.add_argument("out", type=Path)
    options = parser.parse_args(arguments)
    try:
        text = c_header(read_schema(options.layout), options.layout.name)
    except (SchemaError, OSError) as error:
        sys.stderr.write(f"bulkhead.schema: {error}\n")
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
