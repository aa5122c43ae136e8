# SPDX-License-Identifier: Apache-2.0
"""The base of all exceptions of the tool.

An exception's text is for the user: a sentence or more, one a line. The command line ends with `exit_code`
(bulkhead.cli). Whatever is raised and is none of these is a mistake of the tool.
"""


class BulkheadError(Exception):
    """What the tool refuses, or what went wrong."""

    exit_code = 1


class InvalidInput(BulkheadError, ValueError):
    """What a user, a file or a caller gave is not possible. A ValueError too, as what compiled modules
    raise for the same reason."""


class EnvironmentLacks(BulkheadError):
    """The surroundings lack what a command needs: a tool, a cluster, a checkout."""

    exit_code = 3
