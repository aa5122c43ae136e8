# SPDX-License-Identifier: Apache-2.0
"""The build step of instrumented programs: makes compiled assembly count its instructions."""
