# SPDX-License-Identifier: Apache-2.0
"""The built package: as a loader sees it, as the hypervisor reads it, and the owner of each frame (C2,
C5)."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bulkhead.config.shares import Bandwidth
from bulkhead.config.system import Regulation
from bulkhead.package.build import Build
from bulkhead.package.errors import PackageError
from bulkhead.package.manifest import manifest_crc
from bulkhead.planning.budgets import CountedEvent
from bulkhead.planning.model import Plan
from bulkhead.schema import Layout

Builds = Callable[..., Build]
RAM = 0x4000_0000
MIB = 1 << 20


def loads(path: Path) -> dict[int, bytes]:
    """PT_LOADs by physical address, as a boot loader sees them."""
    elf = ELFFile(BytesIO(path.read_bytes()))
    segments = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
    assert all(s["p_offset"] % 4096 == s["p_paddr"] % 4096 for s in segments)
    return {s["p_paddr"]: s.data() for s in segments}


def table(layout: Layout, manifest: bytes, name: str, record: str) -> list[Any]:
    header: Any = layout.unpack("manifest_header", manifest)
    start, count = header[name]["offset"], header[name]["count"]
    return [layout.unpack(record, manifest, start + i * layout.size(record)) for i in range(count)]


def seed(manifest: bytes) -> bytes:
    """A seed of the fuzz target (tests/fuzz/manifest.cpp): to be sealed, its choices, and a manifest.

    A manifest of another layout would fail in the first checks."""
    return bytes((n * 13) % 256 for n in range(17)) + manifest


def guest_memory(build: Build, domain: int) -> dict[int, int]:
    """The domain's memory (address -> byte, if not zero) after executing the manifest."""
    layout, manifest = build.layout, build.manifest.read_bytes()
    flat = loads(build.elf)[build.plan.load_area[0]]
    row = table(layout, manifest, "domains", "manifest_domain")[domain]
    images = table(layout, manifest, "images", "manifest_image")[row["first_image"] :][: row["image_count"]]
    memory: dict[int, int] = {}
    for image in images:
        assert image["flags"] == 0
        assert image["offset"] + image["bytes"] <= len(flat)
        source = flat[image["offset"] : image["offset"] + image["bytes"]]
        memory |= {image["ipa"] + i: byte for i, byte in enumerate(source) if byte}
    return memory


def test_the_load_area_is_an_image_with_a_descriptor_that_finds_the_manifest(
    builder: Builds, colored: Plan, layout: Layout
) -> None:
    build = builder(colored)
    assert build.img is not None
    flat = build.img.read_bytes()
    assert loads(build.elf) == {RAM + 48 * MIB: flat}
    assert ELFFile(BytesIO(build.elf.read_bytes()))["e_entry"] == RAM + 48 * MIB
    assert flat[56:60] == b"ARM\x64"
    assert struct.unpack_from("<Q", flat, 16) == (len(flat),), "image_size of the arm64 Image header"
    descriptor: Any = layout.unpack("package_descriptor", flat, 64)
    place = descriptor["manifest_offset"]
    assert descriptor["magic"].to_bytes(4, "little") == b"BHKP"
    assert descriptor["package_bytes"] == len(flat) == build.package_bytes
    assert place % 4096 == 0
    assert flat[place : place + descriptor["manifest_bytes"]] == build.manifest.read_bytes()
    # The stand-in has its data, then a page with its bss, then its statistics pages.
    assert place == flat.index(b"data of the hypervisor") + (1 + 1 + 5) * 4096


def test_the_manifest_says_what_the_plan_says(builder: Builds, colored: Plan, layout: Layout) -> None:
    manifest = builder(colored, run_for_ns=5).manifest.read_bytes()
    header: Any = layout.unpack("manifest_header", manifest)
    assert header["total_bytes"] == len(manifest)
    assert header["layout_hash"] == layout.hash
    assert header["crc32"] == manifest_crc(manifest, layout)
    assert header["platform"]["color_bits"] == 0xF000
    assert header["hypervisor"]["run_for_ns"] == 5
    assert header["hypervisor"]["console_core"] == 2, "of the domain that is not real-time"
    assert header["hypervisor"]["console_domain"] == 0, "the first with a console"
    sets = [row["word"][0] for row in table(layout, manifest, "color_sets", "color_set_record")]
    assert sorted(sets) == [0x000F, 0x0FF0, 0xF000], "each set once"
    control, linux = table(layout, manifest, "domains", "manifest_domain")
    assert (control["name"], linux["name"]) == ("control", "linux")
    assert sets[control["color_set"]] == 0x000F
    assert sets[header["hypervisor"]["pool_color_set"]] == 0xF000
    flag = layout.enum("domain_flag")
    assert control["flags"] == flag["realtime"] | flag["premap"] | flag["console"]
    assert linux["flags"] == flag["console"] | flag["manager"] | flag["translations_trapped"]
    assert [(v["domain"], v["core"]) for v in table(layout, manifest, "vcpus", "manifest_vcpu")] == [
        (0, 0),
        (1, 2),
        (1, 1),
    ]
    segments = table(layout, manifest, "segments", "manifest_segment")
    assert [(s["ipa"], s["bytes"], s["pa"]) for s in segments] == [
        (RAM, 2 * MIB, RAM),
        (RAM, 8 * MIB, RAM + 0x4000),
    ]
    assert table(layout, manifest, "irqs", "manifest_irq") == [{"intid": 34, "vcpu": 0}]
    assert table(layout, manifest, "devices", "manifest_device")[0]["pa"] == 0x901_0000
    assert (control["device_count"], linux["device_count"]) == (1, 0)


def test_following_the_manifest_fills_guest_memory(builder: Builds, colored: Plan) -> None:
    build = builder(colored)
    control = guest_memory(build, 0)
    assert bytes(control[RAM + 0x80000 + i] for i in range(160)) == b"text" * 40
    assert bytes(control[RAM + 0x81008 + i] for i in range(12)) == b"data" * 3
    tree = build.device_trees["control"].read_bytes()
    assert bytes(control.get(RAM + 2 * MIB - 4096 + i, 0) for i in range(len(tree))) == tree
    linux = guest_memory(build, 1)
    assert bytes(linux[RAM + 64 + i] for i in range(6)) == b"kernel"
    assert bytes(linux[RAM + 4 * MIB + i] for i in range(3000)) == b"initrd" * 500


def test_the_same_inputs_give_the_same_bytes_and_the_seed_changes_them(
    builder: Builds, colored: Plan
) -> None:
    once, again, other = builder(colored, "a"), builder(colored, "b"), builder(colored, "c", seed=1)
    for name in ("elf", "manifest", "owners"):
        assert getattr(once, name).read_bytes() == getattr(again, name).read_bytes(), name
    assert once.elf.read_bytes() != other.elf.read_bytes()


def test_equal_images_are_stored_once(builder: Builds, colored: Plan, layout: Layout) -> None:
    first, second = colored.system.domains
    twin = second.model_copy(update={"image": first.image})
    system = colored.system.model_copy(update={"domains": (first, twin)})
    manifest = builder(replace(colored, system=system)).manifest.read_bytes()
    images = table(layout, manifest, "images", "manifest_image")
    offsets = [image["offset"] for image in images]
    assert len(offsets) == 6
    assert offsets[0:2] == offsets[3:5], "the segments of the one program"
    assert offsets[2] != offsets[5], "but each domain has its own device tree"


def test_a_sample_manifest_is_the_golden_one(
    builder: Builds, colored: Plan, golden: Callable[[str, bytes], None]
) -> None:
    manifest = builder(colored).manifest.read_bytes()
    golden("manifest.bin", manifest)
    golden("../fuzz/seeds/manifest/colored", seed(manifest))


def test_the_fuzz_target_also_begins_with_a_regulated_one(
    builder: Builds,
    colored: Plan,
    golden: Callable[[str, bytes], None],
    monkeypatch: pytest.MonkeyPatch,
    layout: Layout,
) -> None:
    lines = CountedEvent("L2D_CACHE_REFILL", 0x17, 64, writeback_name="L2D_CACHE_WB", writeback_number=0x18)
    monkeypatch.setattr("bulkhead.package.build.counted_event", lambda *_, **__: lines)
    regulation = Regulation.model_validate({"policy": "dynamic-bandwidth", "threshold": "1 GB/s"})
    system = colored.system.model_copy(update={"regulation": regulation})
    manifest = builder(replace(colored, system=system)).manifest.read_bytes()
    header: Any = layout.unpack("manifest_header", manifest)
    assert header["regulation"]["members"] == 0b111
    golden("../fuzz/seeds/manifest/regulated", seed(manifest))


def test_the_fuzz_target_also_begins_with_one_that_goes_past_the_caches(
    builder: Builds,
    colored: Plan,
    golden: Callable[[str, bytes], None],
    monkeypatch: pytest.MonkeyPatch,
    layout: Layout,
) -> None:
    """T5: it has budgets of accesses, forced write-back, and a domain with a device that bypasses caches."""
    event = CountedEvent("L2D_CACHE_REFILL", 0x17, 64, access_name="BUS_ACCESS", access_number=0x19)
    monkeypatch.setattr("bulkhead.package.build.counted_event", lambda *_, **__: event)
    cores = colored.platform.cores.model_copy(update={"s2fwb": True})
    (rtc,) = colored.platform.devices
    devices = (rtc.model_copy(update={"dma": True}),)
    platform = colored.platform.model_copy(update={"cores": cores, "devices": devices})
    control, linux = colored.system.domains
    control = control.model_copy(update={"devices": ()})
    bandwidth = Bandwidth.model_validate({"events": 1000, "accesses": 4000, "per": "vcpu"})
    given = {"bandwidth": bandwidth, "devices": ("rtc",), "dma": "trusted"}
    system = colored.system.model_copy(update={"domains": (control, linux.model_copy(update=given))})
    manifest = builder(replace(colored, system=system, platform=platform)).manifest.read_bytes()
    header: Any = layout.unpack("manifest_header", manifest)
    assert (header["platform"]["access_event"], header["platform"]["s2fwb"]) == (0x19, 1)
    first, second = table(layout, manifest, "domains", "manifest_domain")
    own = layout.enum_value("domain_flag", "own_attributes")
    assert (first["flags"] & own, second["flags"] & own) == (0, own)
    assert (second["budget_events"], second["budget_second_events"]) == (1000, 4000)
    assert second["budget_counts"] == layout.enum_value("budget_counts", "accesses")
    golden("../fuzz/seeds/manifest/accesses", seed(manifest))


class TestUncolored:
    def test_images_are_loaded_where_they_belong(
        self, builder: Builds, uncolored: Plan, layout: Layout
    ) -> None:
        build = builder(uncolored)
        assert build.img is None, "a raw image could not hold them"
        chunks = loads(build.elf)
        assert chunks[RAM + 8 * MIB + 0x80000].startswith(b"text")
        assert chunks[RAM + 16 * MIB + 64 - 64][64:70] == b"kernel"
        assert chunks[RAM + 16 * MIB + 4 * MIB].startswith(b"initrd")
        images = table(layout, build.manifest.read_bytes(), "images", "manifest_image")
        assert {image["flags"] for image in images} == {layout.enum_value("image_flag", "in_place")}
        header: Any = layout.unpack("manifest_header", build.manifest.read_bytes())
        assert header["platform"]["color_bits"] == 0
        (only,) = table(layout, build.manifest.read_bytes(), "color_sets", "color_set_record")
        assert only["word"] == [1, 0, 0, 0], "all colors that there are: one"

    def test_a_domain_that_restarts_keeps_a_clean_source(
        self, builder: Builds, uncolored: Plan, layout: Layout
    ) -> None:
        control, linux = uncolored.system.domains
        again = control.model_copy(update={"restart": "on-failure"})
        system = uncolored.system.model_copy(update={"domains": (again, linux)})
        build = builder(replace(uncolored, system=system))
        images = table(layout, build.manifest.read_bytes(), "images", "manifest_image")
        assert [image["flags"] for image in images] == [0, 0, 0, 1, 1, 1]

    def test_on_request_they_are_in_the_package(self, builder: Builds, uncolored: Plan) -> None:
        build = builder(uncolored, in_place=False)
        assert build.img is not None
        assert guest_memory(build, 0)[RAM + 0x80000] == ord("t")


class TestOwners:
    def test_every_frame_has_the_owner_that_the_plan_gives_it(self, builder: Builds, colored: Plan) -> None:
        """C5: the observer attributes by this map; here it is computed again, frame by frame, from the
        rule."""
        owners = np.frombuffer(builder(colored).owners.read_bytes(), dtype=np.uint8)
        assert len(owners) == 64 * MIB // 4096
        left = {1: 2 * MIB // 4096, 2: 2 * MIB // 4096, 3: 8 * MIB // 4096}
        for frame, owner in enumerate(owners.tolist()):
            color = (RAM // 4096 + frame) % 16
            wanted = 2 if color < 4 else 3 if color < 12 else 1
            if not left[wanted]:
                wanted = 0
            else:
                left[wanted] -= 1
            assert owner == wanted, f"frame {frame}"

    def test_a_frame_with_two_owners_is_refused(self, builder: Builds, colored: Plan) -> None:
        control, linux = colored.domains
        stolen = replace(control.segments[0], ipa=RAM + 8 * MIB, bytes=4096)
        broken = replace(linux, segments=(*linux.segments, stolen))
        with pytest.raises(PackageError, match="domain 'linux': frame 0x40000000 already belongs"):
            builder(replace(colored, domains=(control, broken)))

    def test_the_observer_is_told_everything(self, builder: Builds, colored: Plan, layout: Layout) -> None:
        build = builder(colored, seed=7)
        told = json.loads(build.observe.read_text())
        assert told["names"] == ["nobody", "hypervisor", "control", "linux"]
        assert told["llc"] == {"size": 256 * 1024, "ways": 4, "line": 64, "replacement": "random"}
        assert told["l1d"]["replacement"] == "lru"
        assert told["ram"] == [{"pa": RAM, "bytes": 64 * MIB}]
        assert (told["cores"], told["seed"]) == (4, 7)
        phase = layout.offset("status_system", "phase")
        assert told["start"] == {
            "pa": build.status_pages[0] + phase,
            "value": layout.enum_value("phase", "started"),
        }

    def test_status_pages_are_where_the_pool_puts_the_symbol(self, builder: Builds, colored: Plan) -> None:
        """The stand-in has text, data and 64 bytes of bss in one page each before its statistics."""
        build = builder(colored)
        elf = ELFFile(BytesIO(build.hypervisor_elf.read_bytes()))
        section = elf.get_section_by_name(".symtab")
        assert isinstance(section, SymbolTableSection)
        symbols = section.get_symbol_by_name("status_pages")
        assert symbols is not None
        first = (symbols[0]["st_value"] - 0x80_0000_0000) // 4096
        assert build.status_pages == tuple(int(pa) for pa in build.pool_pages[first : first + 5])
        assert all((pa >> 12) % 16 >= 12 for pa in build.status_pages), "of the hypervisor's own colors"


class TestErrors:
    def test_a_package_that_exceeds_the_load_area_says_by_how_much(
        self, builder: Builds, images: Path, colored: Plan
    ) -> None:
        (images / "initrd").write_bytes(bytes(2 * MIB))
        small = replace(colored, load_area=(RAM + 48 * MIB, MIB))
        with pytest.raises(
            PackageError, match=r"the package has \d+ bytes .* load area at 0x43000000 has only 1048576"
        ):
            builder(small)

    def test_a_pool_that_cannot_hold_the_hypervisor_is_refused(self, builder: Builds, colored: Plan) -> None:
        small = replace(colored, pool=replace(colored.pool, bytes=16384))
        with pytest.raises(PackageError, match="its memory has 16384"):
            builder(small)

    def test_all_domains_errors_come_at_once(self, builder: Builds, images: Path, colored: Plan) -> None:
        (images / "control.elf").write_bytes(b"no")
        (images / "Image").unlink()
        with pytest.raises(PackageError) as caught:
            builder(colored)
        assert len(caught.value.reasons) == 2
        assert caught.value.reasons[0].startswith("domain 'control': ")
        assert "control.elf: is not an ELF file" in caught.value.reasons[0]
        assert "domain 'linux': " in caught.value.reasons[1]
        assert "Image: cannot be read" in caught.value.reasons[1]

    def test_a_missing_hypervisor_says_what_to_do(self, builder: Any, colored: Plan, tmp_path: Path) -> None:
        with pytest.raises(
            PackageError, match=r"bulkhead-space\.elf: does not exist: build the preset `target` first"
        ):
            replace(builder, target_dir=tmp_path)(colored)

    def test_a_board_without_support_is_told_from_a_missing_build(
        self, builder: Any, colored: Plan, tmp_path: Path
    ) -> None:
        other = tmp_path / "hypervisor" / "other-board" / "bulkhead-space.elf"
        other.parent.mkdir(parents=True)
        other.touch()
        with pytest.raises(PackageError, match="boards with support are other-board"):
            replace(builder, target_dir=tmp_path)(colored)

    def test_a_program_of_the_tool_is_found_in_the_build_tree(
        self, builder: Any, images: Path, colored: Plan, target_dir: Path
    ) -> None:
        """`guests/X.elf` is a file beside the system file, or else the tool's own program."""
        domains = list(colored.system.domains)
        image = domains[0].image.model_copy(update={"elf": "guests/own.elf"})
        domains[0] = domains[0].model_copy(update={"image": image})
        plan = replace(colored, system=colored.system.model_copy(update={"domains": tuple(domains)}))
        with pytest.raises(PackageError, match=r"image 'guests/own\.elf' not found"):
            builder(plan)
        (target_dir / "guests").mkdir()
        try:
            (images / "control.elf").rename(target_dir / "guests" / "own.elf")
            assert guest_memory(builder(plan), 0)[RAM + 0x80000] == ord("t")
        finally:
            (target_dir / "guests" / "own.elf").unlink()
            (target_dir / "guests").rmdir()
