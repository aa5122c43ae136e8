# SPDX-License-Identifier: Apache-2.0
"""Images of domains: their places in guest-physical memory, and the errors of those that cannot be placed."""

from __future__ import annotations

import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bulkhead.package.bare_metal import Program, elf_program, load_program, raw_program
from bulkhead.package.elf import parse_elf
from bulkhead.package.errors import PackageError
from bulkhead.package.linux import BLOCK_BYTES, load_linux, parse_kernel
from bulkhead.package.memory import LoadedMemory, LoadPiece, LoadRegion, copied

Make = Callable[..., bytes]

RAM = 0x4000_0000
MEMORY = (LoadRegion(RAM, 1 << 20), LoadRegion(0x8000_0000, 1 << 20))
TREE = b"\xd0\x0d\xfe\xed" + bytes(1500)


@pytest.fixture
def good(make_program: Make) -> bytes:
    return make_program((RAM + 0x1000, b"text" * 8), (0x8000_0000, b"data" * 8))


def changed(content: bytes, offset: int, value: bytes) -> bytes:
    return content[:offset] + value + content[offset + len(value) :]


def zboot(payload: bytes, method: bytes = b"gzip") -> bytes:
    """An EFI image that decompresses itself: only its first 64 bytes and the payload are used."""
    header = struct.pack("<2s2x4sII8x32s8x", b"MZ", b"zimg", 4096, len(payload), method)
    return header.ljust(4096, b"\0") + payload + b"size"


def dynamic(program: bytes) -> bytes:
    """The same program with type DYN."""
    return changed(program, 16, struct.pack("<H", 3))


def loaded(tmp_path: Path, content: bytes, at: int | None = None) -> LoadedMemory:
    path = tmp_path / "image.elf"
    path.write_bytes(content)
    return load_program(elf_program(path, MEMORY, at), MEMORY, (), TREE)


class TestBareMetal:
    def test_segments_go_where_they_say_and_the_tree_to_the_top_of_the_first_region(
        self, tmp_path: Path, good: bytes
    ) -> None:
        images = loaded(tmp_path, good)
        assert [(p.ipa, p.data) for p in images.pieces] == [
            (RAM + 0x1000, b"text" * 8),
            (0x8000_0000, b"data" * 8),
            (RAM + (1 << 20) - 4096, TREE),
        ]
        assert images.entry_ipa == RAM + 0x1000
        assert images.device_tree_ipa == RAM + (1 << 20) - 4096

    @pytest.mark.parametrize(
        ("offset", "value", "reason"),
        [
            (0, b"#!/b", "is not an ELF file"),
            (4, b"\x01", "32-bit"),
            (5, b"\x02", "big-endian"),
            (16, struct.pack("<H", 1), "ET_REL"),
            (18, struct.pack("<H", 62), "EM_X86_64"),
            (18, struct.pack("<H", 40), "EM_ARM"),
            (64, struct.pack("<I", 2), "dynamically linked"),
            (64, struct.pack("<I", 3), "dynamically linked"),
            (64 + 32, struct.pack("<Q", 1 << 20), "is truncated: segment 0 needs bytes 0x1000 to 0x101000"),
            (64 + 40, struct.pack("<Q", 1), "0x20 bytes in the file, 0x1 in memory"),
            (64 + 24, struct.pack("<Q", RAM - 4096), "segment 0 at [0x3ffff000, 0x3ffff020) lies outside"),
            (64 + 24, struct.pack("<Q", 0x8000_0010), "overlaps"),
            (64 + 24, struct.pack("<Q", RAM + (1 << 20) - 64), "overlaps segment 0 at [0x400fffc0"),
            (64 + 40, struct.pack("<Q", 1 << 20), "overlaps device tree"),
            (24, struct.pack("<Q", RAM), "entry 0x40000000 lies in none of its segments"),
            (24, struct.pack("<Q", RAM + 0x1002), "not a multiple of 4"),
            (56, struct.pack("<H", 0), "has nothing to load"),
        ],
    )
    def test_a_program_that_cannot_run_is_refused_with_the_reason(
        self, tmp_path: Path, good: bytes, offset: int, value: bytes, reason: str
    ) -> None:
        with pytest.raises(PackageError) as caught:
            loaded(tmp_path, changed(good, offset, value))
        assert reason in str(caught.value)

    def test_a_program_of_type_dyn_stays_where_its_addresses_are_memory(
        self, tmp_path: Path, good: bytes
    ) -> None:
        images = loaded(tmp_path, dynamic(good))
        assert [p.ipa for p in images.pieces[:2]] == [RAM + 0x1000, 0x8000_0000]
        assert images.entry_ipa == RAM + 0x1000

    @pytest.mark.parametrize("at", [None, RAM + 0x3000])
    def test_a_program_of_type_dyn_is_moved_as_a_whole(
        self, tmp_path: Path, make_program: Make, at: int | None
    ) -> None:
        """It is placed in the first region, with its offset to a multiple of 2 MiB; or at the address in the
        file."""
        moving = dynamic(make_program((0x1000, b"text" * 8), (0x6000, b"data" * 8)))
        images = loaded(tmp_path, moving, at)
        first = RAM + 0x1000 if at is None else at
        assert [p.ipa for p in images.pieces[:2]] == [first, first + 0x5000]
        assert images.entry_ipa == first

    def test_only_a_program_of_type_dyn_moves_and_by_whole_pages(self, tmp_path: Path, good: bytes) -> None:
        with pytest.raises(PackageError, match="fixed addresses"):
            loaded(tmp_path, good, RAM)
        with pytest.raises(PackageError, match="the offset in a page must be"):
            loaded(tmp_path, dynamic(good), RAM + 8)

    def test_a_program_that_wants_an_interpreter_is_refused(self, tmp_path: Path, good: bytes) -> None:
        with pytest.raises(PackageError, match="dynamically linked"):
            loaded(tmp_path, dynamic(changed(good, 64, struct.pack("<I", 3))))

    def test_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(PackageError, match="cannot be read: No such file"):
            elf_program(tmp_path / "none.elf", MEMORY)

    def test_every_truncation_is_refused(self, good: bytes) -> None:
        end = 0x2000 + 32  # of the last segment's data
        for length in [*range(200), 0x1000, 0x101F, 0x2000, end - 1]:
            with pytest.raises(PackageError):
                parse_elf(good[:length])
        assert parse_elf(good[:end])

    @settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.tuples(st.integers(0, 0xB0), st.integers(0, 255)), min_size=1, max_size=4))
    def test_no_damage_to_the_headers_gives_a_traceback(
        self, good: bytes, damage: list[tuple[int, int]]
    ) -> None:
        content = good
        for offset, value in damage:
            content = changed(content, offset, bytes([value]))
        try:
            parse_elf(content, symbols=True)
        except PackageError as error:
            assert str(error)


class TestRaw:
    def raw(
        self, tmp_path: Path, at: int, entry: int | None = None, tree_at: int | None = None
    ) -> LoadedMemory:
        (tmp_path / "image.bin").write_bytes(b"code" * 4)
        program = raw_program(tmp_path / "image.bin", at, entry)
        return load_program(program, MEMORY, (LoadRegion(0, 4096),), TREE, tree_at)

    def test_bytes_are_where_the_file_says_and_begin_with_the_first_instruction(self, tmp_path: Path) -> None:
        images = self.raw(tmp_path, RAM + 0x80004, tree_at=RAM)
        assert [(p.ipa, p.data) for p in images.pieces] == [(RAM + 0x80004, b"code" * 4), (RAM, TREE)]
        assert (images.entry_ipa, images.device_tree_ipa) == (RAM + 0x80004, RAM)

    def test_another_entry_is_in_the_image_or_in_flash(self, tmp_path: Path) -> None:
        assert self.raw(tmp_path, RAM, RAM + 8).entry_ipa == RAM + 8
        assert self.raw(tmp_path, RAM, 4092).entry_ipa == 4092
        for entry in (RAM + 16, 4096, RAM + 2):
            with pytest.raises(PackageError, match="entry"):
                self.raw(tmp_path, RAM, entry)

    def test_an_entry_alone_is_in_flash(self) -> None:
        assert load_program(Program((), 64), MEMORY, (LoadRegion(0, 4096),), TREE).entry_ipa == 64
        with pytest.raises(PackageError, match="lies in no flash"):
            load_program(Program((), RAM), MEMORY, (LoadRegion(0, 4096),), TREE)

    @pytest.mark.parametrize(
        ("at", "tree_at", "reason"),
        [(0, None, "lies outside"), (RAM, RAM + 8, "overlaps"), (RAM, RAM + 4, "multiple of 8")],
    )
    def test_what_does_not_fit_is_refused(
        self, tmp_path: Path, at: int, tree_at: int | None, reason: str
    ) -> None:
        with pytest.raises(PackageError, match=reason):
            self.raw(tmp_path, at, tree_at=tree_at)

    def test_an_empty_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "image.bin").write_bytes(b"")
        with pytest.raises(PackageError, match="is empty"):
            raw_program(tmp_path / "image.bin", RAM)


class TestCopiedPieces:
    def test_pieces_are_whole_blocks_filled_up_with_zeros(self) -> None:
        (only,) = copied([LoadPiece("p", 0x1008, b"x" * 9, 9)])
        assert (only.ipa, only.data) == (0x1000, bytes(8) + b"x" * 9 + bytes(15))

    def test_pieces_that_share_a_block_become_one_and_keep_their_bytes(self) -> None:
        (only,) = copied([LoadPiece("b", 0x1018, b"b" * 8, 8), LoadPiece("a", 0x1000, b"a" * 0x14, 0x14)])
        assert only.data == b"a" * 0x14 + bytes(4) + b"b" * 8

    @given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=1, max_size=8))
    def test_memory_looks_the_same_however_it_is_copied(self, gaps: list[tuple[int, int]]) -> None:
        pieces, at = [], 0x1000
        for number, (gap, size) in enumerate(gaps):
            at += gap
            pieces.append(LoadPiece(str(number), at, bytes([number + 1]) * size, size))
            at += size
        wanted, got = bytearray(2000), bytearray(2000)
        for target, source in ((wanted, pieces), (got, copied(pieces))):
            for piece in source:
                target[piece.ipa - 0x1000 : piece.ipa - 0x1000 + len(piece.data)] = piece.data
        assert got == wanted
        assert all(p.ipa % 16 == 0 and len(p.data) % 16 == 0 for p in copied(pieces))


class TestLinux:
    REGION = LoadRegion(RAM + 0x1000, 16 << 20)

    def load(self, tmp_path: Path, content: bytes, initrd: bytes | None = b"initrd" * 1000) -> object:
        path = tmp_path / "Image"
        path.write_bytes(content)
        return load_linux(path, initrd, (self.REGION,), lambda where: repr(where).encode())

    def test_kernel_tree_and_initrd_follow_the_boot_protocol(self, tmp_path: Path, make_kernel: Make) -> None:
        kernel = make_kernel(b"k" * 5000, text_offset=0x80000, image_bytes=0x300000)
        (tmp_path / "Image").write_bytes(kernel)
        initrd = b"initrd" * 1000
        images = load_linux(tmp_path / "Image", initrd, (self.REGION,), lambda where: repr(where).encode())
        base = RAM + BLOCK_BYTES  # the first 2 MiB boundary of a region that starts a page later
        assert images.entry_ipa == base + 0x80000
        assert images.device_tree_ipa == base + 2 * BLOCK_BYTES, "behind all that the kernel says it needs"
        place = base + 3 * BLOCK_BYTES
        assert images.device_tree == repr((place, place + len(initrd))).encode()
        assert [(p.ipa, p.data) for p in images.pieces] == [
            (images.entry_ipa, kernel),
            (images.device_tree_ipa, images.device_tree),
            (place, initrd),
        ]

    @pytest.mark.parametrize("text_offset", [0, 0x10, 0x80000, BLOCK_BYTES, 0x480000, 0x7FF000])
    def test_any_text_offset_is_kept_from_a_base_at_2_mib(
        self, tmp_path: Path, make_kernel: Make, text_offset: int
    ) -> None:
        (tmp_path / "Image").write_bytes(make_kernel(b"k" * 5000, text_offset=text_offset))
        images = load_linux(tmp_path / "Image", None, (self.REGION,), lambda where: repr(where).encode())
        assert images.entry_ipa == images.pieces[0].ipa == RAM + BLOCK_BYTES + text_offset
        assert images.device_tree_ipa % BLOCK_BYTES == 0
        assert images.device_tree_ipa >= images.entry_ipa + 5064

    def test_without_an_initrd_the_tree_announces_none(self, tmp_path: Path, make_kernel: Make) -> None:
        (tmp_path / "Image").write_bytes(make_kernel(b"k"))
        images = load_linux(tmp_path / "Image", None, (self.REGION,), lambda where: repr(where).encode())
        assert images.device_tree == b"None"
        assert len(images.pieces) == 2

    @pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress])
    def test_a_packed_kernel_is_unpacked(self, make_kernel: Make, pack: Callable[[bytes], bytes]) -> None:
        kernel = make_kernel(b"k" * 5000)
        assert parse_kernel(pack(kernel)).data == kernel
        assert parse_kernel(zboot(pack(kernel))).data == kernel

    def test_an_efi_image_with_a_kernel_that_nobody_unpacks_is_refused(self, make_kernel: Make) -> None:
        with pytest.raises(PackageError, match=r"packed with 'lzo' \(allowed: gzip, xz, zstd"):
            parse_kernel(zboot(make_kernel(b"k"), b"lzo"))
        with pytest.raises(PackageError, match="is an EFI image"):
            parse_kernel(zboot(gzip.compress(make_kernel(b"k")))[:80])

    @pytest.mark.parametrize(
        ("offset", "value", "reason"),
        [
            (56, b"\x7fELF", "is not an arm64 Image: its magic is 7f454c46"),
            (24, b"\x01", "big-endian"),
            (16, bytes(8), "does not state how much memory it needs"),
            (8, b"\x06", "text_offset 0x6 is not a multiple of 4"),
            (8, struct.pack("<Q", 14 << 20), "its first region has 0x1000000"),
            (8, struct.pack("<Q", 0xFFFF_FFFF_FFE0_0000), "its first region has 0x1000000"),
            (16, struct.pack("<Q", 1 << 40), "its first region has 0x1000000"),
        ],
    )
    def test_a_kernel_that_cannot_be_placed_is_refused(
        self, tmp_path: Path, make_kernel: Make, offset: int, value: bytes, reason: str
    ) -> None:
        with pytest.raises(PackageError) as caught:
            self.load(tmp_path, changed(make_kernel(b"k" * 100), offset, value))
        assert reason in str(caught.value)

    @pytest.mark.parametrize(
        "content",
        [b"", b"MZ", gzip.compress(b"x" * 500, mtime=0)[:-10], b"\x1f\x8bnot gzip"],
        ids=["empty", "short", "truncated gzip", "bad gzip"],
    )
    def test_a_broken_file_is_refused(self, tmp_path: Path, content: bytes) -> None:
        with pytest.raises(PackageError, match="Image: is "):
            self.load(tmp_path, content)

    def test_what_does_not_fit_is_an_error_with_numbers(self, tmp_path: Path, make_kernel: Make) -> None:
        with pytest.raises(PackageError, match=r"RAM disk 0x1000000 at .* its first region has 0x1000000"):
            self.load(tmp_path, make_kernel(b"k"), bytes(16 << 20))
