# SPDX-License-Identifier: Apache-2.0
"""Systems of components (X9): the hardware that checks the accesses to each allocation, by core/'s policy."""
