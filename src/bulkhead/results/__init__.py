# SPDX-License-Identifier: Apache-2.0
"""Types of what commands print with `--json`: the envelope that all have, and the results of each command.

The code that makes a result is checked against its type by mypy, the JSON Schema and the page
docs/reference/results.md are made from it (schema.py), and tests validate what commands print. A key that is
not always there is NotRequired. bulkhead.envelope makes the common keys.
"""
