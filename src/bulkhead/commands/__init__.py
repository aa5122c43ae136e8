# SPDX-License-Identifier: Apache-2.0
"""One module per command, each with `register(app)` for cli.py. Heavy imports belong inside functions."""
