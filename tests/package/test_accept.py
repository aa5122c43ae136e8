# SPDX-License-Identifier: Apache-2.0
"""`check` accepts what `build` builds and the hypervisor starts with, and nothing else.

Complete systems of the small board are drawn, images included: the result of accept() is compared with the
builder's and with core/'s verdict on the built manifest.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bulkhead.admission.crosscheck import check_system
from bulkhead.check.files import Checked, check_file
from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.env.paths import repository
from bulkhead.package.accept import Acceptance, accept
from bulkhead.package.build import BuildOptions, build_plan, program_of
from bulkhead.package.errors import PackageError
from bulkhead.package.linux import BLOCK_BYTES
from bulkhead.package.verdict import refusal
from bulkhead.planning.model import Plan
from bulkhead.planning.plan import PlanningError, plan_memory
from bulkhead.schema import Layout

Make = Callable[..., bytes]
MIB, PAGE = 1 << 20, 4096
RAM = 0x4000_0000
DEVICES = (("rtc", 0x901_0000, 34), ("gpio", 0x903_0000, 35), ("far", 0x7F_FFFF_F000, 1019))
NAMES = ("rtc", "gpio", "far")


@pytest.fixture(scope="module")
def board(platform: Platform) -> Platform:
    devices = tuple(
        {"name": name, "at": at, "size": PAGE, "interrupts": (intid,), "dma": False}
        for name, at, intid in DEVICES
    )
    return Platform.model_validate({**platform.model_dump(exclude_unset=True), "devices": devices})


def built(plan: Plan, base: Path, out: Path, options: BuildOptions, layout: Layout) -> tuple[str, ...]:
    """Why the system would not start; nothing if it would."""
    try:
        build = build_plan(plan, base, out, options)
    except PackageError as error:
        return error.reasons
    manifest, load_pa = build.manifest.read_bytes(), plan.load_area[0]
    refused = refusal(manifest, build.package_bytes, load_pa, program_of(plan, options), layout)
    return () if refused is None else (refused.cause,)


sizes = st.one_of(st.integers(1, 1024).map(lambda n: n * PAGE), st.sampled_from([2 * MIB, 8 * MIB, 24 * MIB]))
places = st.one_of(
    st.sampled_from([RAM, RAM + PAGE, 0, 0x900_0000 - PAGE, (1 << 39) - MIB]),
    st.integers(0, 1 << 15).map(lambda n: RAM + n * PAGE),
)
segments = st.tuples(
    st.integers(-1, 600).map(lambda n: RAM + n * 0x88C), st.integers(1, 3 * PAGE), st.integers(0, 64 * PAGE)
)
elves = st.tuples(st.lists(segments, min_size=1, max_size=3), st.sampled_from([0, 4, -4, 2]))
kernels = st.tuples(
    st.sampled_from([0, 0x80000, 0x480000, BLOCK_BYTES, 6, 1 << 40]), st.integers(0, 20 << 20), st.booleans()
)


def drawn_program(make_program: Make, pieces: list[tuple[int, int, int]], entry_offset: int) -> bytes:
    """A drawn program with these (address, bytes in the file, further zeros)."""
    content = make_program(
        *((at, b"\x5a" * size) for at, size, _ in pieces), entry=max(0, pieces[0][0] + entry_offset)
    )
    for number, (_, size, zeros) in enumerate(pieces):  # p_memsz
        place = 64 + 56 * number + 40
        content = content[:place] + struct.pack("<Q", size + zeros) + content[place + 8 :]
    return content


@settings(
    derandomize=True,
    max_examples=60,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_what_is_accepted_is_built_and_starts_and_what_is_refused_is_not(
    data: st.DataObject,
    board: Platform,
    target_dir: Path,
    layout: Layout,
    make_program: Make,
    make_kernel: Make,
    tmp_path: Path,
) -> None:
    domains: list[dict[str, Any]] = []
    cores = data.draw(st.permutations(range(4)))
    for number in range(data.draw(st.integers(1, 3))):
        image: dict[str, Any]
        if data.draw(st.booleans()):
            image = {"elf": f"./{number}.elf"}
            content = drawn_program(make_program, *data.draw(elves))
            (tmp_path / image["elf"]).write_bytes(content)
        else:
            text_offset, size, with_initrd = data.draw(kernels)
            image = {"kernel": f"./{number}.Image"} | ({"initrd": "./initrd"} if with_initrd else {})
            kernel = make_kernel(b"k" * 5000, text_offset=text_offset, image_bytes=size)
            (tmp_path / image["kernel"]).write_bytes(kernel)
        domains.append(
            {
                "name": f"d{number}",
                "criticality": data.draw(st.sampled_from(["rt", "best-effort"])),
                "cpus": (cores[number],),
                "image": image,
                "memory": tuple(
                    {"at": at, "size": size}
                    for at, size in data.draw(st.lists(st.tuples(places, sizes), min_size=1, max_size=2))
                ),
                "devices": tuple(data.draw(st.lists(st.sampled_from(NAMES), max_size=2))),
                "pmu": data.draw(st.booleans()),
                "restart": data.draw(st.sampled_from(["never", "on-failure"])),
            }
        )
    (tmp_path / "initrd").write_bytes(bytes(data.draw(st.sampled_from([0, 100, 3 * MIB]))))
    isolation = {"llc": data.draw(st.sampled_from(["none", "coloring"]))}
    common = {"bulkhead": 1, "name": "drawn", "platform": "small", "isolation": isolation}
    system = System.model_validate({**common, "domains": tuple(domains)})
    if check_system(system, board):
        return
    try:
        plan = plan_memory(system, board)
    except PlanningError:
        return
    options = BuildOptions(target_dir=target_dir)
    accepted = accept(plan, tmp_path, target_dir=target_dir)
    assert not accepted.unchecked
    assert all(finding.cause and finding.path for finding in accepted.findings), accepted.findings
    reasons = tuple(finding.cause for finding in accepted.findings)
    assert built(plan, tmp_path, tmp_path / "out", options, layout) == reasons
    if not reasons:
        raw = built(plan, tmp_path, tmp_path / "raw", replace(options, in_place=False), layout)
        assert bool(raw) == any(notice.code == "no-raw-image" for notice in accepted.notices)


@pytest.fixture
def accepted(target_dir: Path, images: Path, colored: Plan) -> Callable[[], Acceptance]:
    return lambda: accept(colored, images, target_dir=target_dir)


@pytest.mark.parametrize(
    ("file", "content", "key", "code", "cause"),
    [
        ("control.elf", None, ("domains", 0, "image", "elf"), "missing-file", "not found"),
        ("control.elf", b"", ("domains", 0, "image", "elf"), "bad-image", "is not an ELF file"),
        ("control.elf", b"\x7fELF", ("domains", 0, "image", "elf"), "bad-image", "is a broken ELF file"),
        ("Image", None, ("domains", 1, "image", "kernel"), "missing-file", "No such file"),
        ("Image", b"MZ" * 40, ("domains", 1, "image", "kernel"), "bad-image", "is not an arm64 Image"),
        ("initrd", None, ("domains", 1, "image", "initrd"), "missing-file", "No such file"),
        ("initrd", bytes(9 * MIB), ("domains", 1, "image", "kernel"), "bad-image", "its first region has"),
    ],
)
def test_images_that_cannot_be_used_are_refused_at_their_key(
    accepted: Callable[[], Acceptance],
    images: Path,
    file: str,
    content: bytes | None,
    key: tuple[str | int, ...],
    code: str,
    cause: str,
) -> None:
    assert accepted().findings == ()
    if content is None:
        (images / file).unlink()
    else:
        (images / file).write_bytes(content)
    (finding,) = accepted().findings
    assert (finding.path, finding.code) == (key, code)
    assert cause in finding.cause


def test_what_the_hypervisor_refuses_names_its_key(
    target_dir: Path, images: Path, colored: Plan, platform: Platform
) -> None:
    """A device is on the page of the interrupt controller."""
    device = {"name": "rtc", "at": 0x800_0000, "size": PAGE, "interrupts": (34,), "dma": False}
    wrong = Platform.model_validate({**platform.model_dump(exclude_unset=True), "devices": (device,)})
    (finding,) = accept(replace(colored, platform=wrong), images, target_dir=target_dir).findings
    assert (finding.path, finding.code) == (("domains", 0, "devices"), "refused")
    assert "device (error 22) at devices/0" in finding.cause


def test_a_package_that_fits_only_in_parts_is_a_notice(
    target_dir: Path, images: Path, uncolored: Plan, make_kernel: Make
) -> None:
    (images / "Image").write_bytes(make_kernel(b"k" * (3 * MIB)))
    tight = replace(uncolored, load_area=(RAM + 48 * MIB, 2 * MIB))
    found = accept(tight, images, target_dir=target_dir)
    assert found.findings == ()
    assert [notice.code for notice in found.notices] == ["no-raw-image"]


def test_what_is_not_on_this_machine_is_named_and_the_rest_is_checked(
    images: Path, colored: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is the case if the tool was installed without a checkout."""
    monkeypatch.setattr("bulkhead.env.paths.is_checkout", lambda: False)
    domains = list(colored.system.domains)
    changed = domains[0].image.model_copy(update={"elf": "guests/no-such.elf"})
    domains[0] = domains[0].model_copy(update={"image": changed})
    plan = replace(colored, system=colored.system.model_copy(update={"domains": tuple(domains)}))
    found = accept(plan, images)
    assert found.findings == ()
    assert found.unchecked == (
        "domain 'control': the program 'guests/no-such.elf' is not built",
        "the hypervisor of board 'small' is not built",
    )
    (images / "Image").write_bytes(b"no kernel")
    assert [finding.path for finding in accept(plan, images).findings] == [("domains", 1, "image", "kernel")]


def test_more_flows_than_a_manifest_has_room_for_are_refused_at_the_first_too_many(tmp_path: Path) -> None:
    """`flows check` analyzes more, so that a designer can compare."""
    flow = "{{ name: f{0}, from: one, to: two, port: {1}, size: 64 B, period: 1 s, deadline: 1 s }}"
    flows = "\n".join("  - " + flow.format(number, 5000 + number) for number in range(33))
    memory = "memory: [{ at: 0x40000000, size: 4 MiB }]"
    domain = f"  - {{ name: %s, cpus: [%d], image: {{ elf: guests/%s.elf }}, {memory} }}"
    text = (
        "bulkhead: 1\nname: own\nplatform: qemu-virt\nbroker: { cpu: 0, rate: auto }\ndomains:\n"
        f"{domain % ('one', 1, 'socket_source')}\n{domain % ('two', 2, 'socket_sink')}\nflows:\n{flows}\n"
    )
    path = tmp_path / "own.yaml"
    path.write_text(text)
    problems = check_file(str(path)).problems
    assert [(one.key, one.code, one.allowed) for one in problems] == [
        ("flows[32]", "limit", "at most 32 flows")
    ]


@pytest.mark.parametrize(
    ("change", "key"),
    [("at: 0x09000000", "uart.at"), ("distributor: 0x08000000", "interrupt_controller.distributor")],
)
def test_a_platform_file_with_other_hardware_than_its_board_is_refused(
    tmp_path: Path, make_program: Make, change: str, key: str
) -> None:
    """EL2 would report it at boot (error 24), with its own code for the console."""
    text = (repository() / "platforms" / "qemu-virt.yaml").read_text()
    assert change in text
    (tmp_path / "own.elf").write_bytes(make_program((RAM + 0x80000, b"text" * 100)))
    (tmp_path / "board.yaml").write_text(text.replace(change, change.replace("0x0", "0x1")))
    (tmp_path / "own.yaml").write_text(SYSTEM.replace("qemu-virt", "./board.yaml"))
    (problem,) = check_file(str(tmp_path / "own.yaml")).problems
    assert (problem.key, problem.code) == ("platform", "refused")
    assert f"`{key}`" in problem.cause


SYSTEM = """\
bulkhead: 1
name: own
platform: qemu-virt
domains:
  - name: own
    cpus: [0]
    memory: [{ at: 0x40000000, size: 16 MiB }]
    image: { elf: ./own.elf }
"""


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda elf: elf, None),
        (lambda elf: elf[:200], "truncated"),
        (lambda elf: elf[:16] + struct.pack("<H", 1) + elf[18:], "ET_REL"),
        (lambda elf: elf[:18] + struct.pack("<H", 62) + elf[20:], "EM_X86_64"),
        (lambda elf: elf[:24] + struct.pack("<Q", RAM + 8 * MIB) + elf[32:], "lies in none of its segments"),
        (lambda elf: elf[:56] + bytes(2) + elf[58:], "nothing to load"),
        (lambda elf: elf[:104] + struct.pack("<Q", 1 << 36) + elf[112:], "outside the domain's memory"),
        (lambda elf: elf[:88] + struct.pack("<Q", RAM + 16 * MIB) + elf[96:], "outside the domain's"),
    ],
    ids=["good", "truncated", "relocatable", "x86", "entry", "empty", "huge", "outside"],
)
def test_check_refuses_a_program_that_cannot_run(
    tmp_path: Path, make_program: Make, change: Callable[[bytes], bytes], cause: str | None
) -> None:
    (tmp_path / "own.elf").write_bytes(change(make_program((RAM + 0x80000, b"text" * 100))))
    (tmp_path / "own.yaml").write_text(SYSTEM)
    checked: Checked = check_file(str(tmp_path / "own.yaml"))
    assert not checked.unchecked
    if cause is None:
        assert checked.problems == ()
        return
    assert {(problem.line, problem.key) for problem in checked.problems} == {(8, "domains[0].image.elf")}
    assert cause in checked.problems[0].text()


def test_a_link_to_nothing_and_a_file_too_large_are_refused(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(SYSTEM)
    (tmp_path / "own.elf").symlink_to("nowhere")
    assert [problem.code for problem in check_file(str(tmp_path / "own.yaml")).problems] == ["missing-file"]
    (tmp_path / "own.elf").unlink()
    with (tmp_path / "own.elf").open("wb") as sparse:
        sparse.truncate((1 << 30) + 1)
    (problem,) = check_file(str(tmp_path / "own.yaml")).problems
    assert "an image may have at most" in problem.cause
    shutil.rmtree(tmp_path)
