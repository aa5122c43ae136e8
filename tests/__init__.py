# SPDX-License-Identifier: Apache-2.0
"""All tests; a package so that directories can share helpers."""
