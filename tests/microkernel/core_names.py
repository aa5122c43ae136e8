# SPDX-License-Identifier: Apache-2.0
"""Names of the numbers that systems print, read from the enumerations of the C headers."""

import re

from bulkhead.env.paths import repository


def _names(header: str, enumeration: str) -> dict[int, str]:
    """Names by value; an entry without a value is one more than the previous entry."""
    text = re.sub(r"/\*.*?\*/", "", (repository() / header).read_text(), flags=re.DOTALL)
    found = re.search(rf"enum {enumeration} \{{(.*?)\}}", text, re.DOTALL)
    assert found is not None
    names: dict[int, str] = {}
    value = 0
    for entry in filter(None, map(str.strip, found[1].split(","))):
        name, _, given = map(str.strip, entry.partition("="))
        if given and not given.isdigit():
            continue
        value = int(given) if given else value
        names.setdefault(value, name)
        value += 1
    return names


STATUSES = _names("core/mxu.h", "mxu_status")
MECHANISMS = _names("core/mxu.h", "mxu_mechanism")
RESOURCES = _names("core/mxu.h", "mxu_resource")
SYS = _names("microkernel/include/microkernel/abi.h", "sys_status")
INDEPENDENCE = _names("core/mxu.h", "mxu_independence")
