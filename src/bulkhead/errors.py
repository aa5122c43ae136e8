# SPDX-License-Identifier: Apache-2.0
"""The base of all exceptions of the tool.

An exception's text is for the user: a sentence or more, one a line. The command line ends with `exit_code`
(bulkhead.cli). Any other exception is an error of the tool.
"""


class BulkheadError(Exception):
    """A refusal by the tool, or a failure."""

    exit_code = 1


class InvalidInput(BulkheadError, ValueError):
    """Input from a user, a file or a caller is not possible. Also a ValueError, which compiled modules raise
    for the same reason."""


class EnvironmentLacks(BulkheadError):
    """The environment lacks something that a command needs: a tool, a cluster, a checkout."""

    exit_code = 3
