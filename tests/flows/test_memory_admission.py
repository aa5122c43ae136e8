# SPDX-License-Identifier: Apache-2.0
"""core/'s admission of budgets against exact numbers: they agree except for the last digit, and if they
differ, core/ refuses (B10, F3)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkhead.planning.native import NativeCapacity, memory

from .memory_oracle import Oracle, Row, rate_of

NATIVE = memory()
UNIT, ONE = NATIVE.RATE_UNIT, NATIVE.ONE
MB = 10**6
DIGITS = Fraction(1, 10**9)  # part of all memory that may be lost to rounding

budgets = st.tuples(
    st.integers(0, 1 << 40), st.integers(1, 256), st.integers(1, 8), st.integers(1000, 3600 * 10**9)
)
rates = st.integers(0, 4000 * MB * UNIT)
owners = st.lists(st.tuples(rates, st.integers(1, 8)), max_size=6)


@st.composite
def oracles(draw: st.DrawFn) -> Oracle:
    at = draw(st.lists(st.integers(MB, 3000 * MB), min_size=1, max_size=6, unique=True))
    use = draw(st.lists(st.integers(1, 10**6), min_size=len(at), max_size=len(at)))
    row = st.builds(Row, st.integers(0, 4), st.integers(1, 2000), st.integers(1, 4000 * MB))
    return Oracle(
        curve=tuple((a, Fraction(u, 10**6)) for a, u in zip(sorted(at), sorted(use), strict=True)),
        table=tuple(draw(st.lists(row, max_size=8))),
        shortest_period_ns=draw(st.integers(1000, 10**6)),
        event_bytes=draw(st.sampled_from([16, 64, 128])),
        broker=draw(st.integers(1, 3000 * MB)),
        broker_full=draw(st.integers(100 * MB, 4000 * MB)),
    )


def native(exact: Oracle) -> NativeCapacity:
    return NATIVE.Capacity(
        curve=[(rate, -int(-use * ONE // 1)) for rate, use in exact.curve],
        table=[(row.cores, row.refills, row.rate) for row in exact.table],
        shortest_period_ns=exact.shortest_period_ns,
        event_bytes=exact.event_bytes,
        broker=exact.broker,
        broker_full=exact.broker_full,
    )


def exactly(parts: list[tuple[int, int]]) -> list[tuple[Fraction, int]]:
    return [(Fraction(rate, UNIT), cores) for rate, cores in parts]


@pytest.mark.req("B10")
@given(budgets)
def test_a_rate_is_never_too_low_and_a_unit_too_high_at_most(budget: tuple[int, int, int, int]) -> None:
    exact, rate = rate_of(*budget) * UNIT, NATIVE.rate(*budget)
    assert rate == min(-int(-exact // 1), NATIVE.RATE_MAX)


@pytest.mark.req("B10")
@given(rates, budgets)
def test_the_most_events_of_a_rate_are_within_it_and_one_more_is_not(
    rate: int, budget: tuple[int, int, int, int]
) -> None:
    _, event_bytes, holders, period_ns = budget
    most = NATIVE.events(rate, event_bytes, holders, period_ns)
    assert rate_of(most, event_bytes, holders, period_ns) * UNIT <= rate
    assert rate_of(most + 1, event_bytes, holders, period_ns) * UNIT > rate
    if most < 1 << 40:
        assert NATIVE.rate(most, event_bytes, holders, period_ns) <= rate
        assert NATIVE.rate(most + 1, event_bytes, holders, period_ns) > rate


@pytest.mark.req("B10")
@given(st.lists(budgets, max_size=8))
def test_a_sum_within_a_limit_is_exactly_within_it(held: list[tuple[int, int, int, int]]) -> None:
    exact = sum((rate_of(*one) for one in held), Fraction(0)) * UNIT
    total = NATIVE.sum_of([NATIVE.rate(*one) for one in held])
    assert exact <= total or total == NATIVE.RATE_MAX
    assert total < exact + len(held) or not held


@pytest.mark.req("F3")
@given(oracles(), rates, st.integers(1, 8))
def test_a_utilization_is_never_too_low(exact: Oracle, rate: int, cores: int) -> None:
    found = Fraction(native(exact).utilization(rate, cores), ONE)
    wanted = exact.utilization(Fraction(rate, UNIT), cores)
    assert wanted <= found <= wanted + DIGITS * max(Fraction(1), wanted)


@pytest.mark.req("F3")
@given(oracles(), owners)
def test_nothing_is_admitted_that_exact_numbers_refuse(exact: Oracle, parts: list[tuple[int, int]]) -> None:
    room, _ = native(exact).broker_room(parts)
    wanted = exact.broker_room(exactly(parts))
    assert room <= wanted
    if exact.broker <= room:
        assert exact.fits(exactly(parts))


@pytest.mark.req("F3")
@given(oracles(), owners)
def test_what_exact_numbers_admit_with_a_little_to_spare_is_admitted(
    exact: Oracle, parts: list[tuple[int, int]]
) -> None:
    room, by_table = native(exact).broker_room(parts)
    wanted = exact.broker_room(exactly(parts))
    assert room >= wanted - 1 - DIGITS * exact.broker_full
    if by_table:
        assert room == exact.table_rate(exactly(parts))


@pytest.mark.req("F3", "T4")
@given(oracles(), owners, st.integers(1, 8))
def test_the_room_for_one_more_is_the_largest_that_is_admitted(
    exact: Oracle, parts: list[tuple[int, int]], cores: int
) -> None:
    """The set with this budget is tested: EL2 tells a manager this number, and admits by it."""
    capacity = native(exact)
    room = capacity.room(parts, cores)

    def fits(rate: int) -> bool:
        return exact.broker <= capacity.broker_room([*parts, (rate, cores)])[0]

    if room > 0:
        assert fits(room)
        assert exact.fits([*exactly(parts), (Fraction(room, UNIT), cores)])
    if room < NATIVE.RATE_MAX - 1:
        assert not fits(room + 1)


@pytest.mark.req("F3", "T4")
@given(oracles(), owners, st.data())
def test_less_is_admitted_where_more_was(
    exact: Oracle, parts: list[tuple[int, int]], data: st.DataObject
) -> None:
    less = [(data.draw(st.integers(0, rate)), cores) for rate, cores in parts]
    capacity = native(exact)
    assert capacity.broker_room(less)[0] >= capacity.broker_room(parts)[0]


@pytest.mark.req("F3")
@pytest.mark.parametrize("shares", [(3, 3, 3), (2, 3, 6), (2, 4, 5, 20), (2, 2)])
def test_shares_that_make_one_exactly_fit(shares: tuple[int, ...]) -> None:
    """Decimal fractions and thirds are exact: 480 MB/s in each direction use the whole memory."""
    capacity = NATIVE.Capacity(
        curve=[(480 * MB, ONE)],
        table=[],
        shortest_period_ns=30_000,
        event_bytes=64,
        broker=0,
        broker_full=2000 * MB,
    )
    parts = [(960 * MB * UNIT // share, 1) for share in shares]
    assert sum(capacity.utilization(*part) for part in parts) == ONE
    assert capacity.room(parts[1:], 1) == parts[0][0]


@pytest.mark.req("F3")
def test_what_is_beyond_all_numbers_never_fits_where_more_takes_more() -> None:
    """The largest rate stands for any rate, however flat the curve is."""
    flat = NATIVE.Capacity(
        curve=[(10**13, 1)], table=[], shortest_period_ns=30_000, event_bytes=64, broker=1, broker_full=MB
    )
    assert flat.broker_room([(NATIVE.RATE_MAX - 1, 1)])[0] > 0
    assert flat.broker_room([(NATIVE.RATE_MAX, 1)])[0] == 0
    assert flat.room([], 1) == NATIVE.RATE_MAX - 1


@pytest.mark.parametrize(
    "change",
    [
        {"curve": []},
        {"curve": [(MB, ONE), (MB, ONE)]},
        {"curve": [(2 * MB, ONE), (MB, ONE)]},
        {"curve": [(MB, ONE), (2 * MB, ONE - 1)]},
        {"curve": [(MB, 0)]},
        {"curve": [(MB, ONE + 1)]},
        {"curve": [(10**13 + 1, ONE)]},
        {"table": [(1, 0, MB)]},
        {"table": [(1, 1, 0)]},
        {"shortest_period_ns": 0},
        {"event_bytes": 0},
        {"broker": 10**13 + 1},
        {"broker_full": 0},
    ],
)
def test_what_says_nothing_of_a_memory_is_refused(change: dict[str, object]) -> None:
    good: dict[str, object] = {
        "curve": [(MB, ONE)],
        "table": [],
        "shortest_period_ns": 30_000,
        "event_bytes": 64,
        "broker": 0,
        "broker_full": MB,
    }
    assert NATIVE.Capacity(**good) is not None  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="out of range"):
        NATIVE.Capacity(**{**good, **change})  # type: ignore[arg-type]
