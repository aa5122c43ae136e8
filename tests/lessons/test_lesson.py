# SPDX-License-Identifier: Apache-2.0
"""The comparison of lessons with the output of commands can fail, and lets figures vary."""

from __future__ import annotations

import pytest

from .lesson import BadLesson, Command, File, difference, steps, words_of

PAGE = """
Save this:

```yaml
# build/start/one.yaml
bulkhead: 1
```

```yaml
domains: []     # shown, not saved
```

```console
$ ./bulkhead check build/start/one.yaml
ok
$ ./bulkhead run build/start/one.yaml
...
failed: 1 promise broken
```
"""


def test_a_page_has_files_and_commands_in_order() -> None:
    file, check, run = steps(PAGE)
    assert file == File("build/start/one.yaml", "# build/start/one.yaml\nbulkhead: 1\n")
    assert check == Command("./bulkhead check build/start/one.yaml", ("ok",))
    assert isinstance(run, Command)
    assert run.fails and not check.fails


def test_output_needs_a_command() -> None:
    with pytest.raises(BadLesson, match="output without a command"):
        steps("```console\nok\n```\n")


def alike(line: str, other: str) -> bool:
    return difference((line,), other) is None


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("control  1\u202f234 lines", "control 2400 lines"),
        ("after 1.442 ms", "after 980 µs"),
        ("hog 4\u202f321\u202f000", "hog 4,000,000"),
    ],
)
def test_figures_may_differ_by_a_factor(line: str, other: str) -> None:
    assert alike(line, other)


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("evicted by others 0", "evicted by others 3"),
        ("slowdown 1.02", "slowdown 2.81"),
        ("after 12 us", "after 12 ms"),
        ("ok: every promise held", "failed: every promise held"),
        ("12 MB/s", "12 MB"),
        ("core1", "core2"),
        ("12 345", "12345"),
    ],
)
def test_words_zeros_and_orders_may_not(line: str, other: str) -> None:
    assert not alike(line, other)
    assert words_of(line) != words_of(other)


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        (("a", "b"), "a\nb\n", True),
        (("a", "..."), "a\nb\nc\n", True),
        (("...", "c"), "a\nb\nc\n", True),
        (("a", "...", "c"), "a\nb\nc\n", True),
        (("a", "c"), "a\nb\nc\n", False),
        (("a",), "a\nb\n", False),
        (("a", "b"), "a\n", False),
        (("...", "d"), "a\nb\n", False),
        (("...", "b c", "..."), "a b\n c d\n", True),
        (("...", "b", "...", "b"), "a b\n", False),
        (("b", "...", "a"), "a\nb\n", False),
    ],
)
def test_words_come_in_order_and_only_dots_leave_some_out(
    expected: tuple[str, ...], printed: str, same: bool
) -> None:
    assert (difference(expected, printed) is None) == same
