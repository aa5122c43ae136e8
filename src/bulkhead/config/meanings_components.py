# SPDX-License-Identifier: Apache-2.0
"""What each key of a file of components means, in a sentence: for editors (the JSON Schema) and the manual.

By model and key, as files spell it. tests/config/test_meanings.py holds it to the models.
"""

from __future__ import annotations

MEANINGS: dict[str, dict[str, str]] = {
    "ComponentSystem": {
        "bulkhead": "Version of the file format: 1.",
        "name": "Name of the system; its results are in build/run/NAME.",
        "platform": "Name of a platform, or path of a platform file, relative to this file.",
        "hardware": "Limits on the hardware that all components use together.",
        "components": "The components; memory manager and scheduler are added.",
        "run": "How `bulkhead run` runs the system if the command does not say otherwise.",
    },
    "Hardware": {
        "system_regions": "MPU: regions of each component that the kernel keeps. Default: 2.",
        "eviction": "MPU: how a miss chooses the dynamic region to evict. Default: `round-robin`.",
        "region": "MPU: largest dynamic region, a power of two. Default: any size.",
        "page": "MMU: largest TLB entry that is not locked, for comparisons. Default: any size.",
        "locked_entries": "MMU: TLB entries that may be locked. Default: all that can be.",
        "ocm": "MMU: on-chip memory for table nodes. Default: all.",
        "locked_ways": "MMU: ways of the L2 cache that are locked for table nodes. Default: 0.",
    },
    "Component": {
        "name": "Name of the component, unique, of at most 11 characters.",
        "image": "What is linked into the component: one of the three keys.",
        "params": "Numbers that replace the program's own values of the same name.",
        "spec": "What a miss in data and heap may cost; also of memory requested without a specification.",
        "stack": "Size of the stack. Default: the platform's.",
        "data": "Size of .data and .bss. Default: what the image has.",
        "heap": "Size of the heap of malloc(). Default: none.",
        "heap_spec": "Specification of the heap alone. Default: `spec`.",
        "memory": "Memory of the component besides code, data, stack and heap.",
        "period": "Period of the component's job. Default: it runs when called, or when no other runs.",
        "budget": "Time of a job with its misses; then it stops until the next release. Default: `period`.",
        "wcet": "Time of a job without misses. Default: not known, so that the budget includes the misses.",
        "phases": "MPU: parts of a job. Default: one part, which accesses everything.",
        "channels": "Components that it may call, at most four, without a ring.",
        "priority": "Priority; 0 is the most urgent. Default: a shorter period is more urgent.",
        "expect": "How the component has to be at the end of a run. Default: alive.",
        "controls": "Hardware that the component may control by system calls.",
    },
    "ComponentImage": {
        "elf": "Object or archive, relative to the file.",
        "source": "C files that are compiled for the board, relative to the file.",
        "app": "Application of microkernel/programs/apps.",
    },
    "Allocation": {
        "name": "Name by which the program finds the memory.",
        "at": "Address, a multiple of a frame. Default: any free place.",
        "size": "Size.",
        "spec": "What a miss in the translation or check of an access may cost. Default: best effort.",
        "rights": "Accesses that the component may make.",
        "shared": "All entries with this name, of all components, are the same memory. Not with `at`.",
    },
    "Phase": {
        "ranges": "Names of the memory that the part accesses, also `stack` and `heap`.",
        "changes": "Accesses to another range than the access before, at most.",
    },
    "ComponentRun": {
        "for": "Time to run, from the first release on. Default of `bulkhead run`: 1 s.",
    },
}
