# SPDX-License-Identifier: Apache-2.0
"""Loads a domain's image as described in the system file: data with addresses, and the device tree.

Called by `build` for each domain. Finds files (the tool's own images, or paths relative to the system file),
selects the loader, and adds the domain's name to every error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from bulkhead.config.devices import Device
from bulkhead.config.named import PROGRAMS
from bulkhead.config.platform import Platform
from bulkhead.config.system import Domain
from bulkhead.env import paths
from bulkhead.images.modules import Module
from bulkhead.package.bare_metal import Program, elf_program, load_program, raw_program
from bulkhead.package.contents import flash_of, with_contents
from bulkhead.package.devicetree import (
    GuestBoard,
    PassedDevice,
    TreeConsole,
    TreeSocket,
    device_tree,
    own_device_tree,
)
from bulkhead.package.errors import NotHere, PackageError, located, missing, prefixed
from bulkhead.package.files import read_image
from bulkhead.package.linux import load_linux
from bulkhead.package.memory import LoadedMemory, LoadRegion, ram_of
from bulkhead.package.pci import functions_of, pci_tree, socket_root

KERNEL_DEBIAN = "linux:debian"
INITRD_BUSYBOX = "busybox"
ROOT_MODULES = ("crc32c_generic", "ext4")  # of a file system `root=`, with checksums by crc32c
HOSTED_PROGRAM = "hosted_guest_"  # of the build's targets: a program for the simulated machine
NOTHING_KNOWN = "neither a program nor a workload of the simulated machine (see `bulkhead workloads list`)"
SOCKET_PROGRAM = "bulkhead-socket"
DEFAULT_UART_CLOCK_HZ = 24_000_000  # as QEMU's `virt` clocks its PL011
_OWN_PROPERTIES = frozenset({"compatible", "phandle", "name"})


@dataclass(frozen=True)
class Surroundings:
    """Data that the images of all domains share."""

    platform: Platform
    base: Path  # directory of the system file
    target_dir: Path  # build tree of preset `target`
    seed: int
    system_name: str
    shared_cores: frozenset[int] = frozenset()  # those with VCPUs of several domains
    hosted: bool = False  # use programs for the simulated machine
    built: bool = True  # `target_dir` has all programs that exist
    fetch: bool = True  # fetch the tool's own kernel and RAM disk if they are not on this machine
    brokers: frozenset[str] = frozenset()  # names of the brokers' domains
    windows: tuple[LoadRegion, ...] = ()  # where a broker sees the memory of other domains
    cids: Mapping[str, int] = field(default_factory=dict)  # of domains with a socket
    flow_params: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # that the tool knows
    socket_pools: Mapping[str, LoadRegion] = field(default_factory=dict)  # of domains that have one


def load_domain(domain: Domain, memory: tuple[LoadRegion, ...], around: Surroundings) -> LoadedMemory:
    """The domain's images, placed. Raises PackageError with the domain's name, or NotHere if a file of the
    tool is not on this machine."""
    with prefixed(f"domain '{domain.name}'"):
        _check_params(domain)
        if around.hosted:
            _check_simulated(domain)
        load = _load_program if domain.image.kernel is None else _load_kernel
        return with_contents(load(domain, memory, around), domain, memory, around.base, fetch=around.fetch)


def _load_program(domain: Domain, memory: tuple[LoadRegion, ...], around: Surroundings) -> LoadedMemory:
    image = domain.image
    kind = "elf" if image.elf is not None else "raw" if image.raw is not None else "entry"
    tree = _device_tree(domain, memory, around, _own_tree(domain, around), None)
    with located("image", kind):
        path = _find_image(image.elf or image.raw, around)
        with prefixed(str(path)) if path is not None else nullcontext():
            if path is None:
                assert image.entry is not None
                program = Program((), image.entry)
            elif image.elf is not None:
                program = elf_program(path, memory, image.at, hosted=around.hosted)
            else:
                assert image.at is not None
                program = raw_program(path, image.at, image.entry)
            return load_program(program, memory, flash_of(domain), tree, image.device_tree_at)


def _load_kernel(domain: Domain, memory: tuple[LoadRegion, ...], around: Surroundings) -> LoadedMemory:
    image = domain.image
    assert image.kernel is not None
    own = _own_tree(domain, around)
    with located("image", "kernel"):
        kernel = _find_kernel(image.kernel, around)
        if domain.name in around.socket_pools:
            from bulkhead.package.socket_driver import check_pool

            check_pool(kernel)
    initrd = None
    if image.initrd is not None:
        with located("image", "initrd"):
            initrd = _read_initrd(image.initrd, around, image.kernel, _drivers_of(domain, around))
    with located("image", "kernel"):
        return load_linux(
            kernel,
            initrd,
            memory,
            lambda where: _device_tree(domain, memory, around, own, where),
            image.device_tree_at,
        )


def _check_simulated(domain: Domain) -> None:
    """Refuses images that the simulated machine cannot run: it runs programs in C only. Raises
    PackageError."""
    image = domain.image
    for key, what in (("kernel", "a kernel's binary"), ("raw", "a binary")):
        if getattr(image, key) is not None:
            with located("image", key):
                raise PackageError(f"the simulated machine runs only programs in C, not {what}")
    if image.elf is None:
        with located("image", "entry"):
            raise PackageError("the simulated machine runs only programs in C, and has no flash")


def _own_tree(domain: Domain, around: Surroundings) -> bytes | None:
    """The device tree of a file that replaces the generated one; None: there is no such file."""
    if domain.image.device_tree is None:
        return None
    path = around.base / domain.image.device_tree
    with located("image", "device_tree"), prefixed(str(path)):
        return own_device_tree(read_image(path), None, None)


def _device_tree(
    domain: Domain,
    memory: tuple[LoadRegion, ...],
    around: Surroundings,
    own: bytes | None,
    initrd: tuple[int, int] | None,
) -> bytes:
    """The user's device tree if there is one, else a generated tree of the domain."""
    if own is None:
        return device_tree(_board(domain, memory, around, initrd))
    return own_device_tree(own, domain.image.cmdline, initrd)


def _board(
    domain: Domain, memory: tuple[LoadRegion, ...], around: Surroundings, initrd: tuple[int, int] | None
) -> GuestBoard:
    platform = around.platform
    gic = platform.interrupt_controller
    uart = platform.uart
    assert gic is not None, "only boards that boot come here"
    assert uart is not None
    console = None
    if domain.console.present:
        console = TreeConsole(uart.at, uart.interrupt)
    socket = root = None
    if domain.name in around.cids and platform.socket is not None:
        if domain.socket_transport == "pci":
            root = socket_root(platform)
        else:
            socket = TreeSocket(platform.socket.at, platform.socket.interrupt)
    flash = domain.programmable
    pool = around.socket_pools.get(domain.name)
    return GuestBoard(
        memory=ram_of(memory, pool),
        cpus=len(domain.cpus),
        cpu_type=platform.cores.type,
        gicd=gic.distributor,
        gicr=gic.redistributors,
        gicc=gic.cpu_interface,
        entropy=f"{around.seed}/{around.system_name}/{domain.name}".encode(),
        console=console,
        socket=socket,
        windows=around.windows if domain.name in around.brokers else (),
        devices=_described_devices(domain, platform),
        pci=pci_tree(domain, platform, around.shared_cores),
        socket_root=root,
        socket_pool=pool,
        flash=None if flash is None else LoadRegion(flash.at, flash.size),
        pmu=domain.pmu,
        bus_clock_hz=uart.clock or DEFAULT_UART_CLOCK_HZ,
        cmdline=domain.image.cmdline,
        initrd=initrd,
        params={**around.flow_params.get(domain.name, {}), **domain.params},
    )


def _described_devices(domain: Domain, platform: Platform) -> tuple[PassedDevice, ...]:
    """The domain's devices that its guest can find in the device tree: those with `compatible`."""
    given = [platform.passable()[name] for name in domain.devices]
    return tuple(
        PassedDevice(d.name, d.compatible, d.at, d.size, d.interrupts)
        for d in given
        if isinstance(d, Device) and d.compatible
    )


def _check_params(domain: Domain) -> None:
    taken = sorted(_OWN_PROPERTIES & set(domain.params))
    if taken:
        with located("params", taken[0]):
            raise PackageError(
                f"params: {', '.join(taken)} cannot be used: the device tree itself needs these names"
            )


def _find_image(name: str | None, around: Surroundings) -> Path | None:
    return None if name is None else find_program(name, around)


def find_program(name: str, around: Surroundings) -> Path:
    """The program's file: a path relative to the system file, else one of the programs in guests/. Raises
    PackageError."""
    candidates = [around.base / name]
    own = Path(name).parts[:1] == (PROGRAMS,)
    if own:
        candidates.append(around.target_dir / name)
    found = next((path for path in candidates if path.is_file()), None)
    if found is None and own and not around.built:
        raise NotHere(f"the program '{name}' is not built")
    if found is None:
        raise missing(f"image '{name}' not found (tried {', '.join(map(str, candidates))})")
    return found


def _find_kernel(name: str, around: Surroundings) -> Path:
    if name == KERNEL_DEBIAN:
        from bulkhead.env.linux import kernel_is_here, linux_kernel

        if not around.fetch and not kernel_is_here():
            raise NotHere(f"the kernel '{name}' is not fetched yet")
        return linux_kernel()
    if ":" in name and not (around.base / name).exists():
        raise PackageError(f"kernel '{name}' is not known (allowed: {KERNEL_DEBIAN}, or a path)")
    return around.base / name


@dataclass(frozen=True)
class _Drivers:
    """What a RAM disk needs for the devices of its domain."""

    modules: tuple[str, ...]  # of the domain's kernel
    sockets: bool  # and the tool's program for sockets


def _drivers_of(domain: Domain, around: Surroundings) -> _Drivers:
    from bulkhead.package.socket_driver import MODULES

    transport = MODULES[domain.socket_transport]
    sockets = domain.name in around.cids
    functions = functions_of(domain, around.platform)
    of_functions = (module for function in functions for module in function.modules)
    words = (domain.image.cmdline or "").split()
    file_system = ROOT_MODULES if any(word.startswith("root=") for word in words) else ()
    return _Drivers((*(transport if sockets else ()), *of_functions, *file_system), sockets)


def _read_initrd(name: str, around: Surroundings, kernel: str, drivers: _Drivers) -> bytes:
    """Contents of a RAM disk of a domain with this kernel."""
    if name == INITRD_BUSYBOX:
        from bulkhead.env.linux import busybox_is_here, kernel_is_here

        modules_here = not drivers.modules or kernel != KERNEL_DEBIAN or kernel_is_here()
        if not around.fetch and not (busybox_is_here() and modules_here):
            raise NotHere(f"the contents of the RAM disk '{name}' are not fetched yet")
        return _driver_initrd(around, kernel, drivers) if drivers.modules else _busybox_initrd()
    path = around.base / name
    with prefixed(f"initrd {path}"):
        return read_image(path)


def _busybox_initrd() -> bytes:
    from bulkhead.env.linux import busybox
    from bulkhead.images.initrd import make_initrd

    return make_initrd(busybox().read_bytes(), _script("init"))


def _driver_initrd(around: Surroundings, kernel: str, drivers: _Drivers) -> bytes:
    """The tool's RAM disk with modules of the domain's kernel, and its program for sockets."""
    from bulkhead.package.socket_driver import modules_of, modules_of_debian

    own = kernel != KERNEL_DEBIAN
    wanted = drivers.modules
    modules = modules_of(_find_kernel(kernel, around), wanted) if own else modules_of_debian(wanted)
    files = {}
    if drivers.sockets:
        files[f"/bin/{SOCKET_PROGRAM}"] = find_program(f"guests/{SOCKET_PROGRAM}", around).read_bytes()
    return module_initrd(modules, files)


def module_initrd(modules: Iterable[Module], files: Mapping[str, bytes]) -> bytes:
    """The RAM disk of a Linux domain that loads modules: `busybox`, and an init that loads them.

    `modules`: those of the stock drivers, in load order. `files`: contents of further files, by path.
    """
    from bulkhead.env.linux import busybox
    from bulkhead.images.initrd import make_initrd

    extra = {f"/lib/modules/{module.name}": module.content for module in modules} | dict(files)
    extra["/etc/modules"] = "".join(f"/lib/modules/{module.name}\n" for module in modules).encode()
    extra["/init-shell"] = _script("init").encode()
    extra["/init-root"] = _script("init-root").encode()
    return make_initrd(busybox().read_bytes(), _script("init-modules"), extra)


def _script(name: str) -> str:
    return (paths.repository() / "guests" / "linux" / name).read_text(encoding="utf-8")
