# SPDX-License-Identifier: Apache-2.0
"""The checks behind `make lint` and `make test`; each module knows one kind, none prints."""
