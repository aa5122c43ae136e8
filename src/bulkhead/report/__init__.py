# SPDX-License-Identifier: Apache-2.0
"""Shows results of runs: tables in the terminal, and one page of HTML with plots."""
