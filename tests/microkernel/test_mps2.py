# SPDX-License-Identifier: Apache-2.0
"""The microkernel on an emulated Cortex-M7, whose MPU faults are the architecture's (X4, X6)."""

import pytest

from tests.microkernel.core_names import MECHANISMS, RESOURCES, STATUSES, SYS
from tests.microkernel.harness import MPS2, Output, run

pytestmark = pytest.mark.emulator


@pytest.mark.req("X6")
def test_boots_and_sleeps_by_the_user_level_scheduler() -> None:
    output = run(MPS2, "first", "after two ticks")
    assert output.lines == ("hello: runs", "hello: after two ticks, 42")


def apart() -> Output:
    """Until the last of those that break out is dead; the victim has counted by then."""
    return run(MPS2, "apart", "executor killed")


@pytest.mark.req("X6", "X2")
def test_a_component_cannot_read_another() -> None:
    output = apart()
    [report] = output.reports("intruder")
    assert report.startswith("violation: read of 0x")
    assert report.endswith(", memory of victim")
    assert not output.values("intruder", "reads")
    assert output.values("victim", "secret is whole") and all(output.values("victim", "secret is whole"))


@pytest.mark.req("X1", "X2")
def test_shared_memory_is_for_those_that_agree() -> None:
    output = apart()
    assert STATUSES[output.value("intruder", "other specification, error")] == "MXU_EMISMATCH"
    assert STATUSES[output.value("intruder", "other size, error")] == "MXU_EMISMATCH"
    assert output.value("victim", "message") == 11


@pytest.mark.req("X4")
def test_a_stack_overflow_is_reported_and_kills_its_component_alone() -> None:
    [report] = apart().reports("overflow")
    assert report.startswith("stack overflow: access to 0x")


@pytest.mark.req("X4")
def test_data_cannot_be_executed() -> None:
    [report] = apart().reports("executor")
    assert report.startswith("violation: fetch from 0x")
    assert report.endswith(", memory of executor itself")


@pytest.mark.req("X2", "X4")
def test_ranges_are_limited_by_memory_not_by_regions() -> None:
    output = run(MPS2, "ranges", "many killed")
    assert output.value("many", "ranges with their values") == 64
    assert STATUSES[output.value("many", "freed, error")] == "MXU_OK"


@pytest.mark.req("X6")
def test_memory_that_was_freed_is_gone() -> None:
    [report] = run(MPS2, "ranges", "many killed").reports("many")
    assert report.startswith("violation: read of 0x")
    assert report.endswith("memory that nobody has mapped")


def asking() -> Output:
    return run(MPS2, "asking", "asker: done")


@pytest.mark.req("X2", "X4")
def test_static_regions_are_granted_while_a_dynamic_one_is_left() -> None:
    output = asking()
    # Eight, without the system's two, the stack and the last dynamic one.
    assert output.value("asker", "deterministic allocations") == 8 - 2 - 1 - 1
    assert STATUSES[output.value("asker", "one more")] == "MXU_EBUSY"
    assert MECHANISMS[output.value("asker", "mechanism of the first")] == "MXU_BY_STATIC_REGION"
    assert output.value("asker", "one freed, one more") == 1


@pytest.mark.req("X2")
@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("one more", "MXU_EBUSY"),
        ("more memory than there is", "MXU_ENOMEM"),
        ("unknown flag", "MXU_EINVAL"),
        ("a level of cache", "MXU_OK"),
        ("deterministic in more regions than there are", "MXU_ENOHW"),
        ("free of what is none", "MXU_ENOENT"),
    ],
)
def test_each_refusal_has_its_error(what: str, status: str) -> None:
    assert STATUSES[asking().value("asker", what)] == status


@pytest.mark.req("X2")
def test_a_refusal_names_what_is_lacking() -> None:
    lacking = [RESOURCES[value] for value in asking().values("asker", "lacking")]
    assert lacking[:2] == ["MXU_REGIONS", "MXU_FRAMES"]


def calls() -> Output:
    return run(MPS2, "calls", "clean the cache")


@pytest.mark.req("X6")
def test_a_call_comes_back_with_the_server_s_words() -> None:
    assert calls().value("client", "wrong answers") == 0


@pytest.mark.req("X6")
@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("call without a capability", "SYS_ENOCAP"),
        ("call of a component", "SYS_ENOCAP"),
        ("serve what is another's", "SYS_ERIGHTS"),
        ("retype without a capability", "SYS_ENOCAP"),
        ("dispatch", "SYS_ERIGHTS"),
        ("lock ways without the right", "SYS_ERIGHTS"),
        ("clean the cache", "SYS_OK"),
    ],
)
def test_the_kernel_does_only_what_a_capability_allows(what: str, status: str) -> None:
    assert SYS[calls().value("client", what)] == status


def kinds() -> Output:
    return run(MPS2, "kinds", "owner killed")


@pytest.mark.req("X6")
@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("retype to users'", "SYS_OK"),
        ("retype it to the kernel's, too", "SYS_EKIND"),
        ("retype half of a frame", "SYS_EINVAL"),
        ("retype the kernel itself", "SYS_EINVAL"),
        ("map the kernel's", "SYS_EKIND"),
        ("give users' to the kernel", "SYS_EKIND"),
        ("into a slot that is taken", "SYS_EEXIST"),
        ("users' is still users'", "SYS_EKIND"),
        ("now to the kernel's", "SYS_OK"),
    ],
)
def test_a_frame_is_never_users_and_the_kernel_s(what: str, status: str) -> None:
    assert SYS[kinds().value("owner", what)] == status


@pytest.mark.req("X6")
@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("map for writing by a reader's", "SYS_ERIGHTS"),
        ("rights do not grow", "SYS_ERIGHTS"),
        ("map", "SYS_OK"),
        ("revoke", "SYS_OK"),
        ("map what was revoked", "SYS_ENOCAP"),
    ],
)
def test_what_was_revoked_is_gone(what: str, status: str) -> None:
    assert SYS[kinds().value("owner", what)] == status


@pytest.mark.req("X6")
def test_new_memory_is_clear_and_the_kernel_s_not_accessible() -> None:
    assert kinds().value("owner", "new memory is clear") == 0
    [report] = kinds().reports("owner")
    assert report.endswith("memory of the kernel")


@pytest.mark.req("X4")
def test_an_access_across_two_ranges_completes_or_is_reported() -> None:
    output = run(MPS2, "livelock", "crossing killed")
    assert output.value("crossing", "stored") == 3
    assert output.value("crossing", "with two dynamic regions") == 3
    [report] = output.reports("crossing")
    assert report.startswith("live-lock: ")
