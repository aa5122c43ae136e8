# SPDX-License-Identifier: Apache-2.0
"""One module per command. Each has `register(app)`; cli.py finds them. Heavy imports belong inside functions."""
