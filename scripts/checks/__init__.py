# SPDX-License-Identifier: Apache-2.0
"""The checks behind `make lint` and `make test`; each module has one kind, and none prints."""
