# SPDX-License-Identifier: Apache-2.0
"""Whether a system is accepted on its platform: loading with all checks. Start at `load.load_system`."""
