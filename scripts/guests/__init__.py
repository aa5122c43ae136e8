# SPDX-License-Identifier: Apache-2.0
"""Guests that others have written, each booted as a domain: what `scripts/known_guests.py` runs."""
