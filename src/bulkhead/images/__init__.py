# SPDX-License-Identifier: Apache-2.0
"""Files of Linux guests: unpacked kernels, modules, the initial RAM disk. It knows no system file."""
