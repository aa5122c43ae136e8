# SPDX-License-Identifier: Apache-2.0
"""Systems of the microkernel on the emulator's boards."""
