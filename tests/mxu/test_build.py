# SPDX-License-Identifier: Apache-2.0
"""`bulkhead build` of systems of components: files that are refused at once, and the contents of an image
(X9)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.microkernel.build import TARGETS
from bulkhead.microkernel.description import (
    BYTES,
    DescribedComponent,
    DescribedMemory,
    Description,
    packed,
)
from bulkhead.microkernel.elf32 import Elf32Chunk, read_program, write_image
from bulkhead.microkernel.link import COMPILER
from bulkhead.mxu import native
from bulkhead.package.errors import PackageError
from tests.command_line import invoked
from tests.json_results import parsed
from tests.mxu.components import built, refused, written

MPS2 = "mps2-an500"
COLLIDING = ("lsexqzd", "ztxtxde")
NOTHING = "void component_main(void) {}\n"

pytestmark = pytest.mark.req("X9")


def sole(path: Path) -> str:
    (reason,) = refused(path)
    return reason


def with_elf(directory: Path, content: bytes) -> Path:
    (directory / "one.o").write_bytes(content)
    return written(directory, MPS2, {"name": "one", "image": {"elf": "one.o"}})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"text\n", "is neither an ELF file nor an archive (it starts with 74657874)"),
        (b"", "is neither an ELF file nor an archive (it starts with nothing)"),
        (b"\x7fELF" + bytes(60), "ELF"),
        (Path("/bin/sh").read_bytes(), "not for 32-bit Arm: compile it with arm-none-eabi-gcc"),
        (b"!<arch>\n" + b"junk" * 30, "uses component_main"),
    ],
    ids=["text", "empty", "no header", "the host's", "no archive"],
)
def test_x9_what_cannot_be_linked_is_refused_with_its_place(
    tmp_path: Path, content: bytes, said: str
) -> None:
    reason = sole(with_elf(tmp_path, content))
    assert said in reason and "components[0]" in reason


def test_x9_a_linked_program_is_refused_because_it_has_its_addresses(tmp_path: Path) -> None:
    image = built(written(tmp_path, MPS2, {"name": "one", "code": NOTHING}))
    assert "has type ET_EXEC: a component must be an object" in sole(
        with_elf(tmp_path, image.elf.read_bytes())
    )


def test_x9_missing_files_are_named(tmp_path: Path) -> None:
    tree = written(
        tmp_path,
        MPS2,
        {"name": "one", "image": {"elf": "none.o"}},
        {"name": "two", "image": {"source": ["none.c"]}},
    )
    first, second = refused(tree)
    assert "components[0].image.elf: image 'none.o' not found" in first
    assert "components[1].image.source[0]: source 'none.c' not found" in second


def test_x9_unknown_symbols_are_named(tmp_path: Path) -> None:
    code = "void far(void);\nint near(int);\nvoid component_main(void) { far(); near(1); }\n"
    reason = sole(written(tmp_path, MPS2, {"name": "one", "code": code}))
    assert "component 'one' uses far, near, which neither it nor the microkernel's library defines" in reason


def test_x9_the_compiler_s_errors_are_said(tmp_path: Path) -> None:
    reason = sole(written(tmp_path, MPS2, {"name": "one", "code": "this is no C\n"}))
    assert "one.c" in reason and "error" in reason


def test_x9_an_object_for_another_processor_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a9.c").write_text("void component_main(void) {}\n")
    command = [
        COMPILER,
        "-mcpu=cortex-a9",
        "-marm",
        "-c",
        str(tmp_path / "a9.c"),
        "-o",
        str(tmp_path / "a9.o"),
    ]
    subprocess.run(command, check=True)
    reason = sole(written(tmp_path, MPS2, {"name": "one", "image": {"elf": "a9.o"}}))
    assert "is compiled for another processor than the board's" in reason


@pytest.mark.parametrize(
    ("code", "keys", "said"),
    [
        (f"const char large[5 << 20] = {{1}};\n{NOTHING}", {}, "more code than fits into the board's memory"),
        (f"char large[5 << 20];\n{NOTHING}", {}, "more data than fits into the board's memory"),
        (f"char large[2048];\n{NOTHING}", {"data": "1 KiB"}, "has 2048 bytes of .data and .bss"),
    ],
    ids=["code", "data", "data that the file limits"],
)
def test_x9_what_is_too_large_is_refused(tmp_path: Path, code: str, keys: dict[str, str], said: str) -> None:
    used = code.replace(NOTHING, "void component_main(void) { rt_print((const char *)large); }\n")
    assert said in sole(written(tmp_path, MPS2, {"name": "one", "code": used, **keys}))


def test_x9_an_object_of_any_size_gets_a_region_of_its_own(tmp_path: Path) -> None:
    code = "static const char large[700 << 10] = {1};\nvoid component_main(void) { rt_print(large); }\n"
    image = built(written(tmp_path, MPS2, {"name": "one", "code": code}))
    place = image.layout.places[2].code
    assert place is not None and 700 << 10 < place.size <= 768 << 10
    assert len(native.mxu().regions(place.at, place.end - 1, 32)) == 1
    loaded = [one for one in read_program(image.elf).chunks if one.at == place.at]
    assert loaded and loaded[0].end <= place.end


def test_x9_what_is_loaded_does_not_overlap() -> None:
    with pytest.raises(PackageError, match="the segment at 0x1000 overlaps the segment at 0x1003"):
        write_image(0, [Elf32Chunk(0x1003, b"two"), Elf32Chunk(0x1000, b"four")])


def described(**change: object) -> Description:
    names = ("manager", "scheduler", "one")
    components = tuple(DescribedComponent(name, 0x10000, 0, 0, 0, 0, 1, False, ()) for name in names)
    memory = (DescribedMemory("samples", 0x20050000, 4096, 1, 0, 2, 3, 0, 1, 2),)
    own: dict[str, object] = {
        "components": components,
        "memory": memory,
        "clock_hz": 25_000_000,
        "timer_hz": 25_000_000,
        "run_ns": 10**9,
        "limits": (8, 0, 0, 0, 0, 0, 0),
        "system_regions": 2,
        "eviction": 0,
        "most_region_bits": 32,
        "table_frames": 0,
    }
    return Description(**{**own, **change})  # type: ignore[arg-type]


def test_x9_a_description_is_what_the_kernel_reads() -> None:
    check = native.mxu().check_description
    content = packed(described())
    assert len(content) == BYTES and check(content) is None
    damaged = bytearray(content)
    damaged[BYTES // 2] ^= 1
    assert check(bytes(damaged)) == "the system's description is damaged: its CRC is wrong"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"system_regions": 8}, "no dynamic region"),
        ({"eviction": 3}, "policy or size of dynamic regions"),
        ({"clock_hz": 0}, "no clock"),
        ({"limits": (8, 0, 0, 0, 1, 0, 0)}, "colored memory"),
        (
            {"memory": (DescribedMemory("samples", 0, 4096, 0, 0, 7, 3, 0, 0, 0),)},
            "memory belongs to an unknown component",
        ),
        (
            {"memory": (DescribedMemory("samples", 0, 4096, 0, 0, 2, 2, 0, 0, 0),)},
            "invalid rights",
        ),
    ],
)
def test_x9_the_builder_has_its_description_checked_by_the_kernel(
    change: dict[str, object], said: str
) -> None:
    wrong = native.mxu().check_description(packed(described(**change)))
    assert wrong is not None and said in wrong


def test_x9_check_refuses_what_build_would_and_says_what_it_cannot_see(tmp_path: Path) -> None:
    ensure_built(["target"], TARGETS)
    code = "void far(void);\nvoid component_main(void) { far(); }\n"
    done = invoked("check", written(tmp_path, MPS2, {"name": "one", "code": code}))
    assert done.exit_code == 1 and "component 'one' uses far" in done.stderr
    done = invoked("check", written(tmp_path, MPS2, {"name": "one", "image": {"elf": "none.o"}}))
    assert done.exit_code == 0 and "not checked: images of components: none.o not found" in done.stderr


def test_x9_a_file_that_is_no_source_is_refused_also_after_a_good_check(tmp_path: Path) -> None:
    """The compiler makes nothing of it, and the object of the check before must not stand in for it."""
    ensure_built(["target"], TARGETS)
    (tmp_path / "good.c").write_text("void component_main(void) { }\n")
    (tmp_path / "bad.txt").write_text("This is no program.\n")
    for source, code in (("good.c", 0), ("bad.txt", 1)):
        done = invoked("check", written(tmp_path, MPS2, {"name": "one", "image": {"source": [source]}}))
        assert done.exit_code == code, done.stderr
    assert "bad.txt" in done.stderr and "makes no object of it" in done.stderr


def test_x9_check_and_build_give_the_same_addresses(tmp_path: Path) -> None:
    memory = [{"name": "samples", "size": "4 KiB", "spec": "deterministic"}]
    code = "static char large[3000];\nvoid component_main(void) { large[1] = 1; rt_print(large); }\n"
    path = written(tmp_path, MPS2, {"name": "one", "code": code, "memory": memory})
    image = built(path)
    checked = parsed(invoked("check", path, "--json").stdout)["files"][0]["promised"]["components"][0]
    assert {one["name"]: one["at"] for one in checked["memory"]} == {
        one.name: one.at for one in image.admission.of("one")
    }


def with_pieces(name: str, count: int, **keys: str) -> dict[str, object]:
    memory = [{"name": f"m{i}", "size": "256 B"} for i in range(count)]
    return {"name": name, "code": NOTHING, "memory": memory, **keys}


def test_x9_more_memory_than_a_description_lists_is_refused(tmp_path: Path) -> None:
    done = invoked("check", written(tmp_path, MPS2, with_pieces("one", 33), with_pieces("two", 32)))
    assert done.exit_code == 1 and "have 65 pieces of memory in total" in done.stderr
    most = written(tmp_path, MPS2, with_pieces("one", 33, heap="1 KiB"), with_pieces("two", 30))
    assert not refused(most)


def test_x9_names_of_one_hash_are_refused(tmp_path: Path) -> None:
    # Two names with the same FNV-1a: found by a search of short names.
    memory = [{"name": name, "size": "256 B"} for name in COLLIDING]
    done = invoked("check", written(tmp_path, MPS2, {"name": "one", "code": NOTHING, "memory": memory}))
    assert done.exit_code == 1 and "has the same hash as" in done.stderr
