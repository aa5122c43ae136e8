# SPDX-License-Identifier: Apache-2.0
"""The microkernel on a Cortex-M7 and a Cortex-A9, emulated and simulated, with the faults of the architecture
(X4 to X6)."""

import pytest

from tests.microkernel.core_names import INDEPENDENCE, MECHANISMS, RESOURCES, STATUSES, SYS
from tests.microkernel.harness import A_BOARDS, BOARDS, M_BOARDS, Board, Output, run

pytestmark = pytest.mark.emulator
on_each_board = pytest.mark.parametrize("board", BOARDS, ids=str)
on_each_m_board = pytest.mark.parametrize("board", M_BOARDS, ids=str)


@on_each_board
@pytest.mark.req("X6")
def test_boots_and_sleeps_by_the_user_level_scheduler(board: Board) -> None:
    output = run(board, "first", "after two ticks")
    assert output.lines == ("hello: runs", "hello: after two ticks, 42")


def apart(board: Board) -> Output:
    """Runs until the last attacker is dead; the victim has counted by then."""
    return run(board, "apart", "executor killed")


@on_each_board
@pytest.mark.req("X6", "X2")
def test_a_component_cannot_read_another(board: Board) -> None:
    output = apart(board)
    [report] = output.reports("intruder")
    assert report.startswith("violation: read of 0x")
    assert report.endswith(", memory of victim")
    assert not output.values("intruder", "reads")
    assert output.values("victim", "secret is whole") and all(output.values("victim", "secret is whole"))


@on_each_board
@pytest.mark.req("X1", "X2")
def test_shared_memory_is_for_those_that_agree(board: Board) -> None:
    output = apart(board)
    assert STATUSES[output.value("intruder", "other specification, error")] == "MXU_EMISMATCH"
    assert STATUSES[output.value("intruder", "other size, error")] == "MXU_EMISMATCH"
    assert output.value("victim", "message") == 11


@pytest.mark.req("X4", "X6")
@pytest.mark.parametrize(
    ("board", "start"),
    [
        *((board, "stack overflow: access to 0x") for board in M_BOARDS),
        *((board, "violation: write to 0x") for board in A_BOARDS),
    ],
    ids=str,
)
def test_a_stack_overflow_is_reported_and_kills_its_component_alone(board: Board, start: str) -> None:
    [report] = apart(board).reports("overflow")
    assert report.startswith(start)
    assert report.endswith("unmapped memory")


@on_each_board
@pytest.mark.req("X4", "X5")
def test_data_cannot_be_executed(board: Board) -> None:
    [report] = apart(board).reports("executor")
    assert report.startswith("violation: fetch from 0x")
    assert report.endswith(", memory of executor itself")


@on_each_board
@pytest.mark.req("X2", "X4")
def test_ranges_are_limited_by_memory_not_by_regions(board: Board) -> None:
    output = run(board, "ranges", "many killed")
    assert output.value("many", "ranges with their values") == 64
    assert STATUSES[output.value("many", "freed, error")] == "MXU_OK"


@on_each_board
@pytest.mark.req("X6")
def test_memory_that_was_freed_is_gone(board: Board) -> None:
    [report] = run(board, "ranges", "many killed").reports("many")
    assert report.startswith("violation: read of 0x")
    assert report.endswith("unmapped memory")


def asking(board: Board) -> Output:
    return run(board, "asking", "asker: done")


@pytest.mark.req("X2", "X4", "X5")
@pytest.mark.parametrize(
    ("board", "count", "mechanism", "resource"),
    [
        # Eight, without the system's two, the stack's and the last dynamic one.
        *((board, 8 - 2 - 1 - 1, "MXU_BY_STATIC_REGION", "MXU_REGIONS") for board in M_BOARDS),
        *((board, 4, "MXU_BY_LOCKED_ENTRY", "MXU_LOCKED_ENTRIES") for board in A_BOARDS),
    ],
    ids=str,
)
def test_deterministic_memory_takes_hardware_and_gives_it_back(
    board: Board, count: int, mechanism: str, resource: str
) -> None:
    output = asking(board)
    assert output.value("asker", "deterministic allocations") == count
    assert STATUSES[output.value("asker", "one more")] == "MXU_EBUSY"
    assert RESOURCES[output.values("asker", "lacking")[0]] == resource
    assert MECHANISMS[output.value("asker", "mechanism of the first")] == mechanism
    assert INDEPENDENCE[output.value("asker", "independence of the first")] == "MXU_FULLY"
    assert output.value("asker", "one freed, one more") == 1


@pytest.mark.req("X2", "X5")
@pytest.mark.parametrize(
    ("board", "mechanisms", "independence"),
    [
        *((board, ["MXU_BY_DYNAMIC_REGION"] * 3, ["MXU_FULLY"] * 3) for board in M_BOARDS),
        *(
            (
                board,
                ["MXU_BY_OCM", "MXU_BY_OCM", "MXU_BY_NOTHING"],
                ["MXU_DISTURBED", "MXU_IN_PART", "MXU_DISTURBED"],
            )
            for board in A_BOARDS
        ),
    ],
)
def test_the_answer_says_what_keeps_a_promise(
    board: Board, mechanisms: list[str], independence: list[str]
) -> None:
    output = asking(board)
    assert [STATUSES[output.value("asker", what)] for what in ("second level", "independent", "nothing")] == [
        "MXU_OK"
    ] * 3
    assert [MECHANISMS[value] for value in output.values("asker", "mechanism")] == mechanisms
    assert [INDEPENDENCE[value] for value in output.values("asker", "independence")] == independence
    assert output.values("asker", "kept") == [1, 1, 1]


@on_each_board
@pytest.mark.req("X2")
@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("one more", "MXU_EBUSY"),
        ("more memory than there is", "MXU_ENOMEM"),
        ("unknown flag", "MXU_EINVAL"),
        ("free of what is none", "MXU_ENOENT"),
    ],
)
def test_each_refusal_has_its_error(board: Board, what: str, status: str) -> None:
    assert STATUSES[asking(board).value("asker", what)] == status


@on_each_m_board
@pytest.mark.req("X2", "X4")
def test_what_no_mpu_can_cover_is_refused_for_ever(board: Board) -> None:
    value = asking(board).value("asker", "deterministic in more regions than there are")
    assert STATUSES[value] == "MXU_ENOHW"


@on_each_board
@pytest.mark.req("X1")
def test_malloc_uses_the_component_s_heap_and_joins_what_is_freed(board: Board) -> None:
    output = run(board, "heap", "heap killed")
    count = output.value("heap", "blocks")
    assert 8192 * 3 // 4 < count * 500 < 8192
    assert output.value("heap", "with their contents") == count
    assert output.value("heap", "again") == count
    assert output.value("heap", "wrong after many changes") == 0
    assert output.value("heap", "in one piece") == 1
    assert output.value("heap", "more than there is") == 0


@on_each_board
@pytest.mark.req("X4", "X5", "X6")
def test_code_cannot_be_written(board: Board) -> None:
    [report] = run(board, "heap", "heap killed").reports("heap")
    assert report.startswith("violation: write to 0x")
    assert report.endswith(", code of heap itself")


@on_each_board
@pytest.mark.req("X1")
def test_mmap_maps_pages_and_refuses_what_there_is_not(board: Board) -> None:
    output = run(board, "mapped", "mapper killed")
    for what, status in (
        ("over itself", "MXU_EEXIST"),
        ("a part", "MXU_EINVAL"),
        ("amid", "MXU_ENOENT"),
        ("all", "MXU_OK"),
        ("twice", "MXU_ENOENT"),
    ):
        assert STATUSES[output.value("mapper", what)] == status, what
    assert output.value("mapper", "at the same place") == 1
    pages = 4 * 4096
    assert output.value("mapper", "zeros") == output.value("mapper", "zeros again") == pages
    assert output.value("mapper", "refusals") == 0b111_1111
    assert output.value("mapper", "can be read") == 4096
    [report] = output.reports("mapper")
    assert report.startswith("violation: write to 0x"), "what it may only read"


def calls(board: Board) -> Output:
    return run(board, "calls", "clean the cache")


@on_each_board
@pytest.mark.req("X6")
def test_a_call_comes_back_with_the_server_s_words(board: Board) -> None:
    assert calls(board).value("client", "wrong answers") == 0


@on_each_board
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
def test_the_kernel_does_only_what_a_capability_allows(board: Board, what: str, status: str) -> None:
    assert SYS[calls(board).value("client", what)] == status


def kinds(board: Board) -> Output:
    return run(board, "kinds", "owner killed")


@on_each_board
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
def test_a_frame_is_never_users_and_the_kernel_s(board: Board, what: str, status: str) -> None:
    assert SYS[kinds(board).value("owner", what)] == status


@on_each_board
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
def test_what_was_revoked_is_gone(board: Board, what: str, status: str) -> None:
    assert SYS[kinds(board).value("owner", what)] == status


@on_each_board
@pytest.mark.req("X6")
def test_new_memory_is_clear_and_the_kernel_s_not_accessible(board: Board) -> None:
    assert kinds(board).value("owner", "new memory is clear") == 0
    [report] = kinds(board).reports("owner")
    assert report.endswith("memory of the kernel")


@pytest.mark.req("X6")
@pytest.mark.parametrize(
    ("board", "what", "status"),
    [
        *((board, "lock four ways", "SYS_OK") for board in A_BOARDS),
        *((board, "lock nine ways", "SYS_EINVAL") for board in A_BOARDS),
        *((board, "lock four ways", "SYS_EINVAL") for board in M_BOARDS),
        *((board, "flush the check", "SYS_OK") for board in BOARDS),
        *((board, "clean without the right", "SYS_ERIGHTS") for board in BOARDS),
    ],
    ids=str,
)
def test_hardware_is_controlled_by_capability(board: Board, what: str, status: str) -> None:
    assert SYS[kinds(board).value("owner", what)] == status


@on_each_m_board
@pytest.mark.req("X4")
def test_an_access_across_two_ranges_completes_or_is_reported(board: Board) -> None:
    output = run(board, "livelock", "crossing killed")
    assert output.value("crossing", "two ranges") == 1
    assert output.value("crossing", "stored") == 3
    assert output.value("crossing", "with two dynamic regions") == 3
    taken = [SYS[status] for status in output.values("crossing", "one static region more")]
    assert taken == ["SYS_OK"] * 4 + ["SYS_EBUSY"], "so there were two dynamic regions, then one"
    assert not output.values("crossing", "came back")
    [report] = output.reports("crossing")
    assert report.startswith("live-lock: ")
