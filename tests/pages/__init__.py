# SPDX-License-Identifier: Apache-2.0
"""Tests of pages in a browser: the manual's site, and the pages that commands write."""
