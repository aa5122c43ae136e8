# SPDX-License-Identifier: Apache-2.0
"""The binary contract between the tool and the hypervisor, from one file: C header and Python packer.

Used by the build (header) and by everything in Python that writes a manifest or reads a statistics page.
Needs PyYAML only, so that the build can run it before the Python environment exists."""

from bulkhead.schema.layout import Layout, LayoutError, Value, load_layout
from bulkhead.schema.model import SchemaError

__all__ = ["Layout", "LayoutError", "SchemaError", "Value", "load_layout"]
