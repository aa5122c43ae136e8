# SPDX-License-Identifier: Apache-2.0
"""The tool's surroundings: where files live, what programs it needs, how they are fetched and built.

Used by commands and tests. Modules here never read a system file and never write outside the build and
cache directories.
"""
