# SPDX-License-Identifier: Apache-2.0
"""Trees of files as two kernels mount them at /sys/fs/resctrl.

`before_mpam`: as Linux 6.1 on a server with two L3 of 20 portions, whose masks have no gaps, and bandwidth in
steps of 10 %; there is no `sparse_masks` (Documentation/x86/resctrl.rst of that version). `with_mpam`: as a
Linux whose driver has portions and maxima of MPAM (drivers/resctrl/mpam_resctrl.c), on one L3 of 32 portions
and memory whose fractions have 8 bits. Names in `schemata` are padded to the longest one.
"""

from __future__ import annotations

from pathlib import Path

MIB = 1 << 20


def _put(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def before_mpam(root: Path) -> Path:
    _put(
        root,
        {
            "info/L3/num_closids": "16\n",
            "info/L3/cbm_mask": "fffff\n",
            "info/L3/min_cbm_bits": "1\n",
            "info/L3/shareable_bits": "c0000\n",
            "info/L3/bit_usage": "0=XXSSSSSSSSSSSSSSSSSS;1=XXSSSSSSSSSSSSSSSSSS\n",
            "info/MB/num_closids": "8\n",
            "info/MB/min_bandwidth": "10\n",
            "info/MB/bandwidth_gran": "10\n",
            "info/MB/delay_linear": "1\n",
            "info/MB/thread_throttle_mode": "max\n",
            "info/L3_MON/num_rmids": "144\n",
            "info/L3_MON/mon_features": "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n",
            "info/L3_MON/max_threshold_occupancy": "163840\n",
            "info/last_cmd_status": "ok\n",
            "schemata": "    MB:0=100;1=100\n    L3:0=fffff;1=fffff\n",
            "size": f"    MB:0=100;1=100\n    L3:0={20 * MIB};1={20 * MIB}\n",
            "cpus": "ff\n",
            "cpus_list": "0-7\n",
            "mode": "shareable\n",
            "tasks": "1\n2\n",
            "mon_groups/.keep": "",
            "mon_data/mon_L3_00/llc_occupancy": f"{3 * MIB}\n",
            "mon_data/mon_L3_00/mbm_total_bytes": "123456\n",
            "mon_data/mon_L3_01/llc_occupancy": "Unavailable\n",
        },
    )
    return root


def with_mpam(root: Path, portions: int = 32) -> Path:
    mask = (1 << portions) - 1
    _put(
        root,
        {
            "info/L3/num_closids": "32\n",
            "info/L3/cbm_mask": f"{mask:x}\n",
            "info/L3/min_cbm_bits": "1\n",
            "info/L3/shareable_bits": f"{mask:x}\n",
            "info/L3/sparse_masks": "1\n",
            "info/L3/bit_usage": "0=" + "X" * portions + "\n",
            "info/MB/num_closids": "32\n",
            "info/MB/min_bandwidth": "0\n",
            "info/MB/bandwidth_gran": "1\n",
            "info/MB/delay_linear": "1\n",
            "info/L3_MON/num_rmids": "128\n",
            "info/L3_MON/mon_features": "llc_occupancy\n",
            "info/last_cmd_status": "ok\n",
            "schemata": f"MB:0=100\nL3:0={mask:x}\n",
            "size": f"MB:0=100\nL3:0={MIB}\n",
            "cpus": "f\n",
            "cpus_list": "0-3\n",
            "mode": "shareable\n",
            "tasks": "1\n",
            "mon_groups/.keep": "",
            "mon_data/mon_L3_00/llc_occupancy": f"{MIB // 2}\n",
        },
    )
    return root


def put_group(root: Path, name: str, schemata: str, cpus: str = "") -> None:
    _put(root, {f"{name}/schemata": schemata, f"{name}/cpus_list": cpus + "\n", f"{name}/tasks": ""})


def contents(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def count_bytes(root: Path, portions: int) -> None:
    """The kernel's own update: `size` of the default group follows its mask."""
    text = (root / "schemata").read_text()
    mask = int(next(line for line in text.splitlines() if line.startswith("L3")).partition("=")[2], 16)
    (root / "size").write_text(f"MB:0=100\nL3:0={MIB * mask.bit_count() // portions}\n")
