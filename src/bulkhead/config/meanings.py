# SPDX-License-Identifier: Apache-2.0
"""What each key of a system file means, in a sentence: for editors (the JSON Schema) and the manual.

By model and key, as files spell it. tests/config/test_meanings.py holds it to the models: no key without a
meaning, no meaning without a key.
"""

from __future__ import annotations

MEANINGS: dict[str, dict[str, str]] = {
    "System": {
        "bulkhead": "Version of the file format: 1.",
        "name": "Name of the system; its results are in build/run/NAME.",
        "platform": "Name of a platform, or path of a platform file, relative to this file.",
        "hypervisor": "Resources and settings of the hypervisor itself.",
        "isolation": "How caches and DRAM banks are divided.",
        "regulation": "How budgets of best-effort domains follow the load.",
        "domains": "The domains of the system.",
        "broker": "The domain that copies packets of flows; needed if there are flows.",
        "brokers": "Several of them, by name, in place of `broker`: each serves its own domains.",
        "flows": "Packets that domains may send to each other.",
        "chains": "Requests to servers, with their answers, and how long they take at most together.",
        "run": "How `bulkhead run` runs the system if the command does not say otherwise.",
        "expect": "Expectations that a good run meets, by domain.",
    },
    "Hypervisor": {
        "llc": "Part of the last-level cache for the hypervisor's own memory.",
        "banks": "DRAM banks for the hypervisor's own memory.",
        "memory": "Size of the hypervisor's memory. Default: what it needs, at least 8 MiB.",
        "tables": "Memory for stage-2 tables of regions with a `spec`.",
        "console": "Which domain gets typed input.",
        "scheduler": "How VCPUs share a core. `fixed-priority`: the most urgent one runs, and VCPUs of "
        "equal priority take turns.",
        "slice": "Time slice of VCPUs of equal priority on a shared core, from 10 us to 10 s.",
    },
    "Console": {"default": "Domain that gets typed input first. Default: the first domain with a console."},
    "Tables": {"colors": "Colors of the last-level cache that only these tables use."},
    "Isolation": {
        "llc": "What divides the last-level cache. `auto`: MPAM where the platform has it, else coloring.",
        "color_l1": "Also use color bits that divide the L1 data cache: more and smaller colors.",
        "banks": "Whether DRAM banks are divided by coloring.",
        "premap": "Domains whose memory is mapped at the start, not at the first access. `auto`: real-time "
        "domains.",
    },
    "Regulation": {
        "policy": "Regulator of best-effort budgets; `none` and `static` do not change them.",
        "interval": "Time between two decisions of the regulator.",
        "threshold": "Load that the regulator aims for: a utilization, a bandwidth, or a share of time "
        "(`dynamic-delay`, whose default is 5 %).",
        "step": "Largest relative change of the budgets in one interval; `adaptive`: it grows with the "
        "distance from the threshold.",
        "hold": "Change of the budgets below the threshold while no domain is stopped.",
        "horizon": "`dynamic-delay`: time over which the account of delay accumulates.",
        "delay": "`dynamic-delay`: delay of a line beside a core of another cluster.",
        "cluster_delay": "`dynamic-delay`: delay of a line beside a core of the same cluster.",
        "least": "`dynamic-delay`: smallest bandwidth at which a core delays the others all the time.",
        "devices": "Devices of best-effort domains whose rate a dynamic policy changes, as it changes "
        "budgets of cores. Each is behind a regulator (`qos` in the platform file); `device_rates` is its "
        "rate at the start [50 MB/s].",
        "floor": "Least budget of a regulated core or device [1 MB/s, or the least that the regulator of "
        "each device can hold and the platform's `memory_budget.smallest_budget`].",
        "ceiling": "Largest traffic of all regulated cores and devices together.",
        "saturation": "Traffic of the memory that the limits of the other cores must stay below; regulated "
        "cores share the rest.",
        "samples": "Keep a sample of each interval, for `trace`.",
        "reclaim": "Lend budget that a core does not need to others in the same period.",
        "overcommit": "Allow budgets that are together more than the memory guarantees.",
    },
    "Domain": {
        "name": "Name of the domain, unique.",
        "criticality": "`rt`: the domain is real-time and is protected; `best-effort`: the domain may be "
        "limited.",
        "cpus": "Physical cores, one VCPU on each. Domains that name the same core share it.",
        "priority": "Priority on shared cores: 0 is the highest, and domains of equal priority take turns.",
        "cpu": "Budget of CPU time of each VCPU on a shared core.",
        "image": "Program and data with which the domain starts.",
        "memory": "Regions of guest-physical memory.",
        "llc": "Part of the last-level cache.",
        "banks": "DRAM banks.",
        "bandwidth": "Budget or share of memory bandwidth.",
        "console": "Whether the domain has a console.",
        "params": "Whole numbers that bare-metal guests read by name. A program of the tool has names of "
        "its own, and another name is an error.",
        "devices": "Devices of the platform that the domain is given.",
        "disks": "Contents of emulated disks, by device: `debian`, or a file, which a run does not change. "
        "Default: an empty disk.",
        "device_rates": "Rates of devices that master memory, by device: reads and writes of memory "
        "together. A device behind a regulator (`qos` in the platform file) is limited to it; of another "
        "device, admission uses it if the platform file has none.",
        "dma": "`trusted`: the domain may have devices whose accesses to memory nothing confines.",
        "manager": "The domain may stop and restart other domains, and change their budgets.",
        "pmu": "The guest has performance monitors: the counters that the hypervisor does not need.",
        "virtual_partids": "Number of MPAM partitions that the guest may choose from; 0: it sees no MPAM.",
        "socket": "The domain has a socket device even without a flow, for flows that a manager adds.",
        "socket_transport": "How the guest finds its socket device: as virtio-mmio, or as a function of a "
        "virtual PCI root.",
        "socket_pool": "Part of the domain's memory that its socket device, and so the broker, reaches; "
        "`auto`: as large as its flows need. The guest's driver must keep queues and buffers there. Default: "
        "the broker reaches all of the domain's memory.",
        "restart": "Whether the domain starts again after a crash.",
        "maintenance": "Whether the guest or EL2 executes TLB and instruction-cache maintenance that "
        "affects other cores.",
        "faults": "Result of an access to an unmapped address: the `end` of the domain, or an `abort` in "
        "the guest.",
        "firmware": "Functions of the board's firmware that the guest may call by SMC.",
        "table_placement": "Where stage-2 tables of regions without a `spec` are: in RAM, or on the chip.",
        "workload": "Program that replaces the image on the simulated machine.",
    },
    "Image": {
        "elf": "ELF file of a bare-metal program.",
        "raw": "File whose bytes are put into memory at `at`.",
        "kernel": "Linux kernel image, which may be compressed; `linux:debian` is fetched.",
        "at": "Address of a raw file, or the lowest one of a relocatable ELF file.",
        "entry": "Address of the first instruction. Default: `at` of a raw file.",
        "initrd": "RAM disk of a kernel; the tool makes `busybox`.",
        "cmdline": "Command line in the device tree.",
        "device_tree": "Flattened device tree instead of the one that the tool makes.",
        "device_tree_at": "Address of the device tree. Default: the end of the first region.",
        "files": "More files that are in memory when the domain starts.",
    },
    "File": {"file": "File whose bytes are put into memory.", "at": "Address of the first byte."},
    "Region": {
        "at": "Guest-physical address of the region, a multiple of 4 KiB.",
        "size": "Size of the region, a multiple of 4 KiB.",
        "spec": "Largest cost of a translation, which decides where the stage-2 tables of the region are.",
        "flash": "File that the guest reads here and cannot write, or `erased`.",
        "programmable": "The guest erases and programs the flash by commands.",
    },
    "Calls": {"first": "First function of the range.", "last": "Last function of the range."},
    "SocketPool": {
        "size": "Size of the pool. Default (`auto`): queues and receive buffers of the driver, and packets "
        "that the domain may have sent along its flows."
    },
    "CpuTime": {"budget": "CPU time in each period.", "period": "Period of the budget, 100 us to 1 h."},
    "Llc": {
        "colors": "Numbers of colors.",
        "share": "Share of the cache; the planner chooses colors or portions.",
        "size": "Size of the part, instead of a share.",
        "portions": "Bitmap of MPAM cache portions, for experiments.",
        "shared": "Whether other domains with `shared` may name the same portions.",
        "max": "MPAM: largest share of the cache's capacity.",
        "soft": "MPAM: the maximum may be exceeded while no other partition needs the capacity.",
        "min": "MPAM: capacity that others do not replace.",
        "associativity": "MPAM: largest part of each set's ways that the domain may fill.",
    },
    "Banks": {
        "colors": "Numbers of bank colors.",
        "share": "Share of the banks, rounded up to whole colors.",
    },
    "Bandwidth": {
        "min": "MPAM: share below which the domain's requests are preferred.",
        "max": "Share of the bandwidth that the domain may use.",
        "hard": "The domain stops at its maximum, instead of losing preference.",
        "priority": "MPAM: priority of requests; 0 is the most urgent.",
        "portions": "MPAM: bitmap of bandwidth portions, for experiments.",
        "stride": "MPAM: share in proportion to 1 / stride.",
        "window": "MPAM: accounting window, in whole microseconds.",
        "budget": "Bandwidth that the domain may use in each period.",
        "read": "Budget of reads, together with `write`.",
        "write": "Budget of writes, together with `read`.",
        "events": "Budget as a number of memory events in each period.",
        "read_events": "Budget of read events, together with `write_events`.",
        "write_events": "Budget of write events, together with `read_events`.",
        "per": "Whether all VCPUs of the domain draw from one budget, or each has its own.",
        "period": "Period of the budget, 1 us to 1 h.",
        "counts": "Events that are counted: refills, write-backs, each of them, or their sum.",
        "slack": "With `counts: sum`: fewer events than this exceed the budget; at most 1/32 of it.",
        "accesses": "Second budget, of bus accesses: also counts what the guest maps past the caches.",
        "instructions": "Budget in instructions where no memory event can be counted, as on the emulator.",
    },
    "DomainConsole": {
        "present": "The domain has a console.",
        "raw": "Only this domain uses the terminal, and its bytes pass unchanged.",
    },
    "Broker": {
        "domains": "Domains whose sockets this one of several `brokers` serves; each domain has one broker.",
        "cpu": "Core of the broker; `auto`: a free one.",
        "engine": "Engine that copies: the broker's core (`cpu-copy`), a DMA engine that the hypervisor "
        "programs (`zdma`), or one that the broker programs, by its name in the platform file.",
        "dma": "`trusted`: accepts an engine that the broker programs and no IOMMU confines, although it "
        "reaches all memory.",
        "copy_up_to": "Largest packet size of flows that the core copies although there is a DMA engine.",
        "wait": "Event for which the broker waits between transfers.",
        "chunk": "Largest transfer; after each transfer the broker chooses the next one.",
        "rate": "Bandwidth of copying; `auto`: the smallest with which all deadlines are met.",
        "llc": "Part of the last-level cache. Default: the colors that `hypervisor.llc` names, else `auto`.",
        "banks": "DRAM banks.",
        "stamps": "Measure the duration of each part of a packet's path.",
        "samples": "The broker records each packet that it delivers, for `bulkhead trace`.",
    },
    "Flow": {
        "name": "Name of the flow, unique.",
        "from": "Domain that sends.",
        "to": "Domain that receives, or several of a multicast flow: each receives each packet.",
        "port": "Port at the receiver.",
        "size": "Largest packet.",
        "period": "Shortest time between two packets.",
        "deadline": "Longest time from sending a packet to the notification of the receiver.",
        "transfers": "Number of transfers of a packet, if its buffers need more than one for each chunk.",
        "connections": "Largest number of connections at the same time.",
        "back": "Payload in the other direction of the same connections.",
    },
    "WayBack": {
        "size": "Largest packet.",
        "period": "Shortest time between two packets.",
        "deadline": "Longest time from sending to notification.",
        "transfers": "Number of transfers of a packet.",
    },
    "Chain": {
        "name": "Name of the chain, unique.",
        "request": "Flow from the client to the server.",
        "answer": "Flow from the server to the client. Default: the way back of `request`.",
        "deadline": "Longest time from the client's sending of a request to the arrival of the answer.",
        "client_time": "Longest time of the client's core for sending a request plus that for taking an "
        "answer, with EL2's work meanwhile.",
        "client_lines": "Most events of the client's bandwidth budget for a request, EL2's included; needed "
        "with a budget.",
        "server_time": "Longest time of the server's core for a request, with EL2's work meanwhile, without "
        "waiting for the device.",
        "server_lines": "Most events of the server's bandwidth budget for a request, EL2's included; needed "
        "with a budget.",
        "device": "Device of the server that a request uses.",
    },
    "ChainDevice": {
        "name": "Name of the device, one of the server's.",
        "latency": "Longest time for a request besides the transfer of its bytes.",
        "bytes": "Most bytes that a request moves.",
        "rate": "Lowest rate at which the device moves them.",
    },
    "Run": {
        "icount": "Time is derived from counted instructions, so each run is the same.",
        "for": "Guest time to run. Default: until all domains end.",
        "for_on_machine": "Guest time on the simulated machine. Default: `for`.",
    },
    "Expectation": {
        "state": "State in which the domain may be at the end, besides running.",
        "ready": "The domain reports that it is ready: at any time (`true`), or by this guest time.",
        "throttled": "Whether its budget stopped it in at least one period.",
        "slowdown": "Largest slowdown against its run alone, with `--solo`.",
        "release_delay": "Longest release delay in the task's own report.",
        "report": "Numbers that its last report must have.",
        "line": "Text that a line of its console must have.",
        "within": "Guest time by which that line must have been printed.",
        "no_line": "Text that no line of its console may have.",
    },
}
