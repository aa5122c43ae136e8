/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Generated from schema/manifest.yaml by `python -m bulkhead.schema header`: change that file, not this one.
 * The binary structures that the tool and the hypervisor share. Little-endian, naturally aligned, no
 * hidden padding; the assertions at the end fail the build of whoever sees another layout.
 */
/* clang-format off */
#ifndef BULKHEAD_LAYOUT_H
#define BULKHEAD_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 of the canonical text of the layout. */
#define BH_LAYOUT_HASH 0x3F93F11Du
#define BH_LAYOUT_VERSION 2u

#define BH_MANIFEST_MAGIC 0x314D4842u /* "BHM1" */
#define BH_STATUS_MAGIC 0x31534842u /* "BHS1" */
#define BH_PACKAGE_MAGIC 0x504B4842u /* "BHKP" */
#define BH_PACKAGE_VERSION 1u
#define BH_PACKAGE_DESCRIPTOR_OFFSET 64u /* in the hypervisor's image: behind the arm64 Image header */
#define BH_PAGE_BYTES 4096u
#define BH_MAPPED_LIMIT 0x4000000000ull /* EL2 maps devices at their physical addresses below this, its own memory above */
#define BH_GICV3_DISTRIBUTOR_BYTES 0x10000u
#define BH_REDISTRIBUTOR_BYTES 0x20000u /* of a core; twice as much where the controller has virtual LPIs */
#define BH_REDISTRIBUTOR_SGI_FRAME 0x10000u /* in it: registers of private interrupts */
#define BH_GICV2_DISTRIBUTOR_BYTES 0x1000u
#define BH_GICV2_INTERFACE_BYTES 0x2000u /* of CPUs: the physical one and the virtual one */
#define BH_GICV2_HYPERVISOR_BYTES 0x1000u /* GICH */
#define BH_FIRST_PERIPHERAL_INTID 16u /* private ones of peripherals; below them those that software generates */
#define BH_FIRST_SHARED_INTID 32u
#define BH_FIRST_SPECIAL_INTID 1020u /* from here on an acknowledgement says why there is no interrupt */
#define BH_CONSOLE_PAUSE_NS 250000u /* from the start of a call that moves characters to the next call */
#define BH_MPAM_READ_INTERVAL_NS 2000000u /* between two reads, each of one monitor, which bounds the interrupt latency */
#define BH_SMMU_STEP_INTERVAL_NS 500000u /* between two steps that read the events of an SMMU */
#define BH_MAX_CORES 8u
#define BH_MAX_DOMAINS 8u
#define BH_MAX_VCPUS 32u
#define BH_MAX_SEGMENTS 64u
#define BH_MAX_IMAGES 64u
#define BH_MAX_IRQS 64u
#define BH_MAX_RAM 8u
#define BH_MAX_INTID 288u /* shared interrupts that a guest can have are below this */
#define BH_MAX_DEVICES 32u
#define BH_MAX_DEVICE_REGULATORS 4u /* of the interconnect, in front of devices of domains */
#define BH_MAX_RESETS 32u /* devices that EL2 can reset */
#define BH_MAX_RESET_PAGES 2u /* with their reset registers */
#define BH_MAX_RESET_HOLD_NS 10000u /* that a device is held in reset, with interrupts off */
#define BH_MAX_CALLS 64u /* ranges of firmware's functions, of all domains */
#define BH_VIRTUAL_TIMER_INTID 27u /* private interrupts of a guest's own timers, physically and virtually */
#define BH_PHYSICAL_TIMER_INTID 30u
#define BH_GUEST_PMU_INTID 23u /* of the monitors of a guest with the flag `pmu`, virtually */
#define BH_MAX_COLOR_SETS 32u
#define BH_MAX_TABLE_FRAMES 128u /* of memory for stage-2 tables with a specification: colored and on the chip together */
#define BH_MAX_FLOWS 32u
#define BH_FLOW_CONNECTIONS 16u /* of a flow at a time, unless it says how many, and of one that a manager adds */
#define BH_MAX_BROKERS 2u /* each with its own domains */
#define BH_MAX_FLOW_GROUPS 16u /* multicast flows */
#define BH_FIRST_GROUP_CID 256u /* CID of multicast flow 0, to which its sender connects */
#define BH_MOST_FLOW_CONNECTIONS 128u
#define BH_MOST_CHUNK_BYTES 1048576u /* of a transfer between domains */
#define BH_BROKER_WINDOW 0x4000000000ull /* where the broker finds physical address 0: memory of domains with a socket, and no other */
#define BH_MAX_BANDWIDTH_POINTS 16u /* of the curve of the memory's utilization */
#define BH_MAX_BANDWIDTH_ROWS 64u /* of the table of measured rates */
#define BH_MEMORY_UTILIZATION_ONE 900000000000000ull /* a utilization of 1: thirds and decimal fractions of it are whole numbers */
#define BH_MAX_MPAM_COMPONENTS 4u
#define BH_MPAM_PAGE_BYTES 0x10000u /* that a component's registers may take */
#define BH_MAX_MPAM_INSTANCES 16u /* of all components together */
#define BH_MAX_MPAM_PARTID 1023u /* settings of all PARTIDs are written, whether somebody has them or not */
#define BH_MAX_MPAM_SETTINGS 256u
#define BH_MAX_MPAM_WORDS 512u /* of bitmaps of portions */
#define BH_SMMU_BYTES 0x20000u /* registers of an SMMU: of an SMMUv3 two pages of 64 KiB, of an SMMUv2 32 pages of 4 KiB */
#define BH_MAX_STREAMS 64u /* of devices of all domains, at the SMMU */
#define BH_MAX_STREAM_BITS 15u /* stream ids below 2^15 can be translated */
#define BH_SMMU_GICV2_BITS 31u /* of a device's addresses beside a GICv2, whose registers for guests are above */
#define BH_PCI_BUS_BYTES 0x100000u /* configuration space of a bus (ECAM): 4 KiB for each of 32 devices with 8 functions */
#define BH_MAX_FUNCTIONS 16u /* PCI functions of all domains */
#define BH_MAX_BRIDGES 8u /* PCI bridges with domains' functions behind them */
#define BH_PCI_WINDOW_BYTES 0x100000u /* granularity and alignment of a bridge's window */
#define BH_PCI_BARS 6u /* of a function */
#define BH_ITS_BYTES 0x20000u /* registers of an ITS: a frame of 64 KiB to control it, and one that devices write to */
#define BH_ITS_FRAME_BYTES 0x10000u
#define BH_LPI_PENDING_BYTES 0x10000u /* memory of a core's redistributor for pending message interrupts, and its alignment */
#define BH_FIRST_LPI 8192u /* INTIDs from here on are message interrupts */
#define BH_MAX_MESSAGES 32u /* message interrupts of a function */
#define BH_GUEST_LPIS 64u /* message interrupts of a domain */
#define BH_MAX_MPAM_VIRTUAL 32u /* virtual PARTIDs that the architecture has registers for */
#define BH_MAX_MPAM_MONITORS 64u /* whose values are published */
#define BH_MPAM_DUMP_FRAMES 16u /* of registers that were read back */
#define BH_COLOR_SET_WORDS 4u /* 256 colors: LLC color bits and bank bits together */
#define BH_MAX_MANIFEST_BYTES 65536u
#define BH_NAME_BYTES 32u
#define BH_ALL_DOMAINS 0xFFFFFFFFu /* "none" where a domain index is expected */
#define BH_UNLIMITED_EVENTS 0xFFFFFFFFFFFFFFFFull /* of a core that is only counted */
#define BH_HYPERCALL_COUNT 0x8600FF00u
#define BH_HYPERCALL_UID 0x8600FF01u
#define BH_HYPERCALL_REVISION 0x8600FF03u
#define BH_HYPERCALL_OWN_EXITS 0xC6000010u
#define BH_HYPERCALL_DOMAIN_STATE 0xC6000000u
#define BH_HYPERCALL_DOMAIN_STOP 0xC6000001u
#define BH_HYPERCALL_DOMAIN_RESTART 0xC6000002u
#define BH_HYPERCALL_MACHINE_END 0xC6000003u
#define BH_HYPERCALL_BUDGET_READ 0xC6000004u
#define BH_HYPERCALL_BUDGET_CHANGE 0xC6000005u
#define BH_HYPERCALL_SAMPLE_READ 0xC6000006u
#define BH_HYPERCALL_SAMPLES_STORE 0xC6000007u
#define BH_HYPERCALL_REGULATION_READ 0xC6000008u
#define BH_HYPERCALL_REGULATION_CHANGE 0xC6000009u
#define BH_REGULATION_WORDS 17u /* of a manifest_regulation */
#define BH_HYPERCALL_FLOW_ADD 0xC600000Au
#define BH_HYPERCALL_FLOW_TEST 0xC600000Bu
#define BH_HYPERCALL_FLOW_REMOVE 0xC600000Cu
#define BH_HYPERCALL_PATH_COST_READ 0xC600000Du
#define BH_HYPERCALL_BROKER_OPEN 0xC6000020u
#define BH_HYPERCALL_BROKER_TELL 0xC6000021u
#define BH_HYPERCALL_BROKER_COPY 0xC6000022u
#define BH_HYPERCALL_BROKER_COSTS 0xC6000023u
#define BH_SAMPLE_FRAMES 8u /* of a core's ring */
#define BH_HYPERCALL_OWN_COUNT 19u /* without the three queries of the calling convention */
#define BH_HYPERCALL_MAJOR 1u
#define BH_HYPERCALL_MINOR 3u
#define BH_HYPERCALL_UID_0 0x6B6C7562u /* 62756c6b-6865-6164-8000-000000000001: "bulkhead" */
#define BH_HYPERCALL_UID_1 0x64616568u
#define BH_HYPERCALL_UID_2 0x80u
#define BH_HYPERCALL_UID_3 0x1000000u

enum bh_gic_version {
    BH_GIC_VERSION_GICV2 = 2,
    BH_GIC_VERSION_GICV3 = 3,
};
#define BH_GIC_VERSION_COUNT 4u /* highest + 1 */

enum bh_smmu_version {
    BH_SMMU_VERSION_NONE = 0,
    BH_SMMU_VERSION_SMMUV2 = 2,
    BH_SMMU_VERSION_SMMUV3 = 3,
};
#define BH_SMMU_VERSION_COUNT 4u /* highest + 1 */

enum bh_scheduler {
    BH_SCHEDULER_FIXED_PRIORITY = 0,
    BH_SCHEDULER_ROUND_ROBIN = 1,
};
#define BH_SCHEDULER_COUNT 2u /* highest + 1 */

enum bh_vcpu_state {
    BH_VCPU_STATE_RESET = 0,
    BH_VCPU_STATE_READY = 1,
    BH_VCPU_STATE_RUNNING = 2,
    BH_VCPU_STATE_RECHARGE = 3,
    BH_VCPU_STATE_PAUSED = 4,
};
#define BH_VCPU_STATE_COUNT 5u /* highest + 1 */

enum bh_uart_type {
    BH_UART_TYPE_PL011 = 1,
    BH_UART_TYPE_CADENCE = 2,
    BH_UART_TYPE_IMX = 3,
};
#define BH_UART_TYPE_COUNT 4u /* highest + 1 */

enum bh_psci_method {
    BH_PSCI_METHOD_NONE = 0,
    BH_PSCI_METHOD_SMC = 1,
};
#define BH_PSCI_METHOD_COUNT 2u /* highest + 1 */

enum bh_domain_flag {
    BH_DOMAIN_FLAG_REALTIME = 1,
    BH_DOMAIN_FLAG_PREMAP = 2,
    BH_DOMAIN_FLAG_CONSOLE = 4,
    BH_DOMAIN_FLAG_MANAGER = 8,
    BH_DOMAIN_FLAG_RESTART_ON_FAILURE = 16,
    BH_DOMAIN_FLAG_BUDGET = 32,
    BH_DOMAIN_FLAG_PMU = 64,
    BH_DOMAIN_FLAG_RECLAIM = 128,
    BH_DOMAIN_FLAG_CONSOLE_RAW = 256,
    BH_DOMAIN_FLAG_OWN_ATTRIBUTES = 512,
    BH_DOMAIN_FLAG_TRANSLATIONS_TRAPPED = 1024,
    BH_DOMAIN_FLAG_CACHES_TRAPPED = 2048,
    BH_DOMAIN_FLAG_FAULTS_ABORT = 4096,
};
#define BH_DOMAIN_FLAG_COUNT 4097u /* highest + 1 */

enum bh_function_flag { /* Flags of a PCI function. */
    BH_FUNCTION_FLAG_MULTIFUNCTION = 1, /* its device has several functions */
    BH_FUNCTION_FLAG_ISOLATED = 2, /* EL2 lets its ACS send requests to other functions of its device upstream */
};
#define BH_FUNCTION_FLAG_COUNT 3u /* highest + 1 */

enum bh_table_memory { /* Where a domain's stage-2 tables are. */
    BH_TABLE_MEMORY_POOL = 0, /* in the hypervisor's pool */
    BH_TABLE_MEMORY_COLORED = 1, /* those of marked segments in colored memory that only tables use, the others in the pool */
    BH_TABLE_MEMORY_ON_CHIP = 2, /* all of them in on-chip memory */
};
#define BH_TABLE_MEMORY_COUNT 3u /* highest + 1 */

enum bh_segment_flag { /* Flags of a segment. */
    BH_SEGMENT_FLAG_TABLES_PLACED = 1, /* the stage-2 tables of the segment are in the domain's table_memory */
    BH_SEGMENT_FLAG_READ_ONLY = 2, /* the guest cannot write it */
    BH_SEGMENT_FLAG_PROGRAMMABLE = 4, /* it takes commands of NOR flash; read_only, aligned to its size, and alone in 2 MiB */
    BH_SEGMENT_FLAG_SOCKET_POOL = 8, /* the broker reaches these segments of the domain, which follow each other, and no others */
};
#define BH_SEGMENT_FLAG_COUNT 9u /* highest + 1 */

enum bh_image_flag {
    BH_IMAGE_FLAG_IN_PLACE = 1, /* already where the domain's memory is: nothing to copy */
};
#define BH_IMAGE_FLAG_COUNT 2u /* highest + 1 */

enum bh_budget_counts { /* Which events a budget counts. */
    BH_BUDGET_COUNTS_REFILLS = 0, /* refills of the last cache level that the core shares, or a stand-in */
    BH_BUDGET_COUNTS_WRITEBACKS = 1, /* lines written back from that level */
    BH_BUDGET_COUNTS_EACH = 2, /* both, with a budget for each */
    BH_BUDGET_COUNTS_SUM = 3, /* both, with one budget for their sum */
    BH_BUDGET_COUNTS_ACCESSES = 4, /* refills, and accesses of the bus with a second budget */
};
#define BH_BUDGET_COUNTS_COUNT 5u /* highest + 1 */

enum bh_regulation_policy {
    BH_REGULATION_POLICY_FIXED = 0,
    BH_REGULATION_POLICY_DYNAMIC = 1,
    BH_REGULATION_POLICY_DYNAMIC_BANDWIDTH = 2,
    BH_REGULATION_POLICY_DYNAMIC_DELAY = 3,
    BH_REGULATION_POLICY_DYNAMIC_TURNS = 4,
    BH_REGULATION_POLICY_DYNAMIC_PHASES = 5,
};
#define BH_REGULATION_POLICY_COUNT 6u /* highest + 1 */

enum bh_regulation_hold {
    BH_REGULATION_HOLD_KEEP = 0,
    BH_REGULATION_HOLD_DECREASE = 1,
};
#define BH_REGULATION_HOLD_COUNT 2u /* highest + 1 */

enum bh_broker_engine {
    BH_BROKER_ENGINE_CPU_COPY = 0, /* own: a device of the broker, which programs it */
    BH_BROKER_ENGINE_ZDMA = 1, /* own: a device of the broker, which programs it */
    BH_BROKER_ENGINE_OWN = 2, /* own: a device of the broker, which programs it */
};
#define BH_BROKER_ENGINE_COUNT 3u /* highest + 1 */

enum bh_own_engine {
    BH_OWN_ENGINE_NONE = 0, /* kinds of engines that the broker can program (its parameter `engine`) */
    BH_OWN_ENGINE_ZDMA = 1, /* kinds of engines that the broker can program (its parameter `engine`) */
    BH_OWN_ENGINE_EDU = 2, /* kinds of engines that the broker can program (its parameter `engine`) */
};
#define BH_OWN_ENGINE_COUNT 3u /* highest + 1 */

enum bh_socket_failure { /* Why a socket device has asked its driver for a reset. */
    BH_SOCKET_FAILURE_NONE = 0,
    BH_SOCKET_FAILURE_QUEUE = 1, /* a queue that the driver made ready is invalid, or outside of the memory that the device reaches */
    BH_SOCKET_FAILURE_BROKER = 2, /* the broker found invalid input in a queue, or bytes outside of that memory; or there is no broker any more */
};
#define BH_SOCKET_FAILURE_COUNT 3u /* highest + 1 */

enum bh_mpam_resource {
    BH_MPAM_RESOURCE_CACHE = 0, /* what a resource instance is of */
    BH_MPAM_RESOURCE_MEMORY = 1, /* what a resource instance is of */
};
#define BH_MPAM_RESOURCE_COUNT 2u /* highest + 1 */

enum bh_mpam_offer { /* What it offers beside widths and counts. */
    BH_MPAM_OFFER_CMAX = 1,
    BH_MPAM_OFFER_CMAX_SOFT = 2,
    BH_MPAM_OFFER_CMIN = 4,
    BH_MPAM_OFFER_MBW_MIN = 8,
    BH_MPAM_OFFER_MBW_MAX = 16,
    BH_MPAM_OFFER_PROPORTIONAL = 32,
    BH_MPAM_OFFER_WINDOW = 64,
    BH_MPAM_OFFER_INTERNAL_ZERO_IS_LOW = 128,
    BH_MPAM_OFFER_DOWNSTREAM_ZERO_IS_LOW = 256,
    BH_MPAM_OFFER_STORAGE_CAPTURE = 512,
    BH_MPAM_OFFER_BANDWIDTH_CAPTURE = 1024,
    BH_MPAM_OFFER_BY_DIRECTION = 2048,
    BH_MPAM_OFFER_NARROWING = 4096,
};
#define BH_MPAM_OFFER_COUNT 4097u /* highest + 1 */

enum bh_mpam_state { /* Whether requests carry PARTIDs, and why not. */
    BH_MPAM_STATE_ABSENT = 0, /* the cores have none */
    BH_MPAM_STATE_UNASKED = 1, /* the manifest has no components: everybody is in partition 0 */
    BH_MPAM_STATE_FIRMWARE = 2, /* the first access was undefined: firmware keeps it, and nothing is partitioned */
    BH_MPAM_STATE_ENABLED = 3,
};
#define BH_MPAM_STATE_COUNT 4u /* highest + 1 */

enum bh_mpam_monitor_kind {
    BH_MPAM_MONITOR_KIND_STORAGE = 0,
    BH_MPAM_MONITOR_KIND_BANDWIDTH = 1,
};
#define BH_MPAM_MONITOR_KIND_COUNT 2u /* highest + 1 */

enum bh_mpam_monitor_flag {
    BH_MPAM_MONITOR_FLAG_NEVER_READ = 1,
    BH_MPAM_MONITOR_FLAG_NOT_READY = 2,
    BH_MPAM_MONITOR_FLAG_WRAPPED = 4,
};
#define BH_MPAM_MONITOR_FLAG_COUNT 5u /* highest + 1 */

enum bh_flow_model {
    BH_FLOW_MODEL_PUBLISHED = 0, /* of the analysis (core/flow.h) */
    BH_FLOW_MODEL_SINGLE_THREAD = 1, /* of the analysis (core/flow.h) */
};
#define BH_FLOW_MODEL_COUNT 2u /* highest + 1 */

enum bh_flow_verdict {
    BH_FLOW_VERDICT_GOES_ON = 0,
    BH_FLOW_VERDICT_ADMITTED = 1,
    BH_FLOW_VERDICT_OVERLOADED = 2,
    BH_FLOW_VERDICT_LATE = 3,
    BH_FLOW_VERDICT_UNDECIDED = 4,
};
#define BH_FLOW_VERDICT_COUNT 5u /* highest + 1 */

enum bh_flow_state {
    BH_FLOW_STATE_NONE = 0, /* closed: its connections still hear of it */
    BH_FLOW_STATE_OPEN = 1, /* closed: its connections still hear of it */
    BH_FLOW_STATE_CLOSED = 2, /* closed: its connections still hear of it */
};
#define BH_FLOW_STATE_COUNT 3u /* highest + 1 */

enum bh_phase {
    BH_PHASE_BOOT = 0,
    BH_PHASE_STARTED = 1,
    BH_PHASE_ENDED = 2,
    BH_PHASE_REFUSED = 3,
    BH_PHASE_PANICKED = 4,
};
#define BH_PHASE_COUNT 5u /* highest + 1 */

enum bh_end_reason {
    BH_END_REASON_NONE = 0,
    BH_END_REASON_ALL_DOMAINS_ENDED = 1,
    BH_END_REASON_RUN_LIMIT = 2,
    BH_END_REASON_MANAGER_REQUEST = 3,
};
#define BH_END_REASON_COUNT 4u /* highest + 1 */

enum bh_domain_state {
    BH_DOMAIN_STATE_ABSENT = 0,
    BH_DOMAIN_STATE_RUNNING = 1,
    BH_DOMAIN_STATE_STOPPED = 2,
    BH_DOMAIN_STATE_CRASHED = 3,
    BH_DOMAIN_STATE_RESTARTING = 4,
};
#define BH_DOMAIN_STATE_COUNT 5u /* highest + 1 */

enum bh_hypercall_error {
    BH_HYPERCALL_ERROR_NONE = 0, /* the call is done */
    BH_HYPERCALL_ERROR_NOT_SUPPORTED = 1, /* there is no such call for the caller */
    BH_HYPERCALL_ERROR_INVALID_PARAMETERS = 2, /* no such domain, or a value out of range */
    BH_HYPERCALL_ERROR_NOT_LOADABLE = 3, /* the domain's images were loaded in place, so that nothing can load them again */
    BH_HYPERCALL_ERROR_NO_BUDGET = 4, /* the domain has none */
    BH_HYPERCALL_ERROR_NO_SAMPLE = 5, /* there is no newer sample, or the core never has one */
    BH_HYPERCALL_ERROR_NO_REGULATION = 6, /* the system has no regulator */
    BH_HYPERCALL_ERROR_NO_FLOWS = 7, /* the system has no broker */
    BH_HYPERCALL_ERROR_FLOW_BUSY = 8, /* a flow is being tested, or one like it still ends */
    BH_HYPERCALL_ERROR_FLOW_ROOM = 9, /* there are as many flows as there can be */
    BH_HYPERCALL_ERROR_FLOW_FIXED = 10, /* the fixed parts of the path are longer than a deadline or a period */
    BH_HYPERCALL_ERROR_NOT_ADMITTED = 11, /* the memory does not sustain it beside what others may ask of it */
};
#define BH_HYPERCALL_ERROR_COUNT 12u /* highest + 1 */

enum bh_domain_end { /* Why a domain is not running any more, or why its last life ended. */
    BH_DOMAIN_END_NONE = 0,
    BH_DOMAIN_END_SYSTEM_OFF = 1, /* PSCI SYSTEM_OFF */
    BH_DOMAIN_END_SYSTEM_RESET = 2, /* PSCI SYSTEM_RESET */
    BH_DOMAIN_END_STAGE2_DATA_ABORT = 3, /* access to an address that it does not own */
    BH_DOMAIN_END_STAGE2_INSTRUCTION_ABORT = 4,
    BH_DOMAIN_END_UNDECODABLE_ACCESS = 5, /* device access without a valid syndrome (ISV = 0) */
    BH_DOMAIN_END_BAD_DEVICE_ACCESS = 6, /* size or register that the device does not have */
    BH_DOMAIN_END_UNEXPECTED_EXCEPTION = 7,
    BH_DOMAIN_END_SERROR = 8,
    BH_DOMAIN_END_EXTERNAL_ABORT = 9,
    BH_DOMAIN_END_MANAGER_REQUEST = 10,
};
#define BH_DOMAIN_END_COUNT 11u /* highest + 1 */

enum bh_manifest_error { /* Why a manifest was refused; `refusal_offset` is the place of the record or field. */
    BH_MANIFEST_ERROR_NONE = 0,
    BH_MANIFEST_ERROR_TRUNCATED = 1, /* shorter than its header or than it says */
    BH_MANIFEST_ERROR_MAGIC = 2,
    BH_MANIFEST_ERROR_VERSION = 3,
    BH_MANIFEST_ERROR_LAYOUT = 4, /* the tool and the hypervisor are of different builds */
    BH_MANIFEST_ERROR_SIZE = 5,
    BH_MANIFEST_ERROR_CHECKSUM = 6,
    BH_MANIFEST_ERROR_TABLE = 7, /* a table lies outside, is misaligned, or holds too many records */
    BH_MANIFEST_ERROR_PLATFORM = 8, /* a device address, interrupt number or type that cannot be */
    BH_MANIFEST_ERROR_COLOR_BITS = 9,
    BH_MANIFEST_ERROR_CPU = 10, /* none, too many, or the same one twice */
    BH_MANIFEST_ERROR_RAM = 11, /* misaligned, wrapping, or overlapping */
    BH_MANIFEST_ERROR_COLOR_SET = 12, /* empty, or with colors that the address bits cannot make */
    BH_MANIFEST_ERROR_POOL = 13, /* the hypervisor's memory is not in RAM, misaligned, or too small */
    BH_MANIFEST_ERROR_CONSOLE = 14,
    BH_MANIFEST_ERROR_DOMAIN = 15, /* name, flags, or indexes into the tables */
    BH_MANIFEST_ERROR_VCPU = 16, /* wrong domain, unknown core, or one twice in a domain */
    BH_MANIFEST_ERROR_SEGMENT = 17, /* misaligned, empty, not in RAM, or outside the guest's address space */
    BH_MANIFEST_ERROR_SEGMENT_OVERLAP = 18, /* two segments of a domain at the same guest address */
    BH_MANIFEST_ERROR_FRAME_SHARED = 19, /* a frame with two owners */
    BH_MANIFEST_ERROR_IMAGE = 20, /* not in the package or not in the domain's memory */
    BH_MANIFEST_ERROR_IRQ = 21,
    BH_MANIFEST_ERROR_DEVICE = 22,
    BH_MANIFEST_ERROR_LOAD_AREA = 23, /* the package lies on frames that somebody owns */
    BH_MANIFEST_ERROR_HARDWARE = 24, /* the manifest is for another board or interrupt controller */
    BH_MANIFEST_ERROR_POOL_EXHAUSTED = 25, /* the tables do not fit into the pool */
    BH_MANIFEST_ERROR_CORE_MISSING = 26, /* a core of the manifest did not start */
    BH_MANIFEST_ERROR_DEVICE_TREE = 27, /* the tree contradicts itself, or has more pieces of memory than can be held */
    BH_MANIFEST_ERROR_BOARD_MEMORY = 28, /* the board does not have the memory of the pool or of a segment */
    BH_MANIFEST_ERROR_BOARD_RESERVED = 29, /* a frame of the pool or of a segment is kept by the firmware */
    BH_MANIFEST_ERROR_BOARD_CORE = 30, /* the board does not have that core */
    BH_MANIFEST_ERROR_BOARD_PSCI = 31, /* the firmware does not serve PSCI, or not by the manifest's instruction */
    BH_MANIFEST_ERROR_BUDGET = 32, /* events or period out of range, no event, or no overflow interrupt of a core, for `pmu` too */
    BH_MANIFEST_ERROR_COUNTER_MISSING = 33, /* a core has too few event counters for a budget, or not its event */
    BH_MANIFEST_ERROR_SCHEDULER = 34, /* unknown, or a slice out of range */
    BH_MANIFEST_ERROR_REGULATION = 35, /* parameters out of range, or cores whose budgets cannot be regulated */
    BH_MANIFEST_ERROR_NOT_IN_IMAGE = 36, /* flows, a budget, regulation, monitors, a shared core, MPAM or calls to firmware, and the image is one of space only */
    BH_MANIFEST_ERROR_FLOW = 37, /* ends, port, sizes or times that cannot be; a socket, or a broker, that is missing */
    BH_MANIFEST_ERROR_BANDWIDTH = 38, /* what the memory sustains is out of range, or less than what the budgets ask of it; or a device's rate is out of range */
    BH_MANIFEST_ERROR_MPAM = 39, /* components, PARTIDs or settings that cannot be, or that the components' registers contradict */
    BH_MANIFEST_ERROR_TABLES = 40, /* memory for stage-2 tables that cannot be, or that a domain asks for and nobody has */
    BH_MANIFEST_ERROR_CALL = 41, /* a function of firmware that no domain may call, or a domain with some that shares a core */
    BH_MANIFEST_ERROR_IOMMU = 42, /* an SMMU or streams that cannot be, or an SMMU that lacks something or does not answer */
    BH_MANIFEST_ERROR_PCI = 43, /* PCI functions that cannot be, or that are not what the manifest says */
    BH_MANIFEST_ERROR_ITS = 44, /* an ITS that cannot be, or that lacks something or does not answer */
};
#define BH_MANIFEST_ERROR_COUNT 45u /* highest + 1 */

enum bh_exit_reason { /* Every way into EL2 has a counter, per core. */
    BH_EXIT_REASON_HVC = 0, /* HVC of a guest */
    BH_EXIT_REASON_SMC = 1, /* SMC of a guest */
    BH_EXIT_REASON_WFX = 2, /* WFI or WFE */
    BH_EXIT_REASON_ID_REGISTER = 3, /* read of an ID register */
    BH_EXIT_REASON_PMU_REGISTER = 4, /* access to a performance monitor */
    BH_EXIT_REASON_SGI_REGISTER = 5, /* interrupt to other cores by a system register */
    BH_EXIT_REASON_DEBUG_REGISTER = 6, /* access to a debug register */
    BH_EXIT_REASON_OTHER_REGISTER = 7, /* answered with an undefined-instruction exception */
    BH_EXIT_REASON_GICD_ACCESS = 8, /* access to the distributor */
    BH_EXIT_REASON_GICR_ACCESS = 9, /* access to a redistributor */
    BH_EXIT_REASON_UART_ACCESS = 10, /* access to the UART */
    BH_EXIT_REASON_LAZY_MAP = 11, /* first access to memory that was not mapped at the start */
    BH_EXIT_REASON_STAGE2_FAULT = 12, /* access that stage 2 does not allow */
    BH_EXIT_REASON_FP_TRAP = 13, /* trapped use of floating point or SVE */
    BH_EXIT_REASON_UNEXPECTED = 14, /* exception that EL2 does not expect */
    BH_EXIT_REASON_SERROR = 15, /* asynchronous external abort */
    BH_EXIT_REASON_IRQ_TIMER = 16, /* the guest's own timers */
    BH_EXIT_REASON_IRQ_DEVICE = 17, /* shared interrupt that is passed through */
    BH_EXIT_REASON_IRQ_IPI = 18, /* interrupt from another core of the hypervisor */
    BH_EXIT_REASON_IRQ_MAINTENANCE = 19, /* maintenance interrupt of the interrupt controller */
    BH_EXIT_REASON_IRQ_CONSOLE = 20, /* interrupt of the UART */
    BH_EXIT_REASON_IRQ_HYPERVISOR_TIMER = 21, /* the hypervisor's timer */
    BH_EXIT_REASON_IRQ_SPURIOUS = 22, /* acknowledgement without an interrupt */
    BH_EXIT_REASON_IRQ_UNEXPECTED = 23, /* interrupt that nobody has */
    BH_EXIT_REASON_CACHE_SET_WAY = 24, /* cache maintenance by set and way */
    BH_EXIT_REASON_IRQ_OVERFLOW = 25, /* an event counter of a budget */
    BH_EXIT_REASON_SOCKET_ACCESS = 26, /* access to the socket device */
    BH_EXIT_REASON_TLB_MAINTENANCE = 27, /* trapped TLB maintenance, executed on this core alone */
    BH_EXIT_REASON_TLB_BROADCAST = 28, /* trapped TLB maintenance, executed on all cores */
    BH_EXIT_REASON_CACHE_MAINTENANCE = 29, /* trapped maintenance of instruction caches, executed on this core alone */
    BH_EXIT_REASON_CACHE_BROADCAST = 30, /* trapped maintenance of instruction caches, executed on all cores */
    BH_EXIT_REASON_FLASH_ACCESS = 31, /* commands of flash, and reads of its answers */
    BH_EXIT_REASON_PCI_ACCESS = 32, /* access to configuration space of PCI */
    BH_EXIT_REASON_ITS_ACCESS = 33, /* access to the ITS */
};
#define BH_EXIT_REASON_COUNT 34u /* highest + 1 */

enum bh_path_part { /* Parts of a packet's path (core/path_costs.h). */
    BH_PATH_PART_TRANSPORT = 0, /* a driver's notification: from its trap to the bell */
    BH_PATH_PART_PARSE = 1, /* a packet: its descriptors, its header, its flow, its place there */
    BH_PATH_PART_FIND_EARLIEST = 2, /* for each domain with a socket: which packet comes next */
    BH_PATH_PART_PROGRAM_DMA = 3, /* what is transferred, from where to where */
    BH_PATH_PART_ENGINE = 4, /* from there to the next choice, without `finalize` and the bytes at their rate */
    BH_PATH_PART_FINALIZE = 5, /* a transfer that is done; who hears of it */
    BH_PATH_PART_NOTIFY = 6, /* from the raised line to the receiver's read of its device */
    BH_PATH_PART_WAKE = 7, /* from a notification to the look of a broker that slept */
    BH_PATH_PART_INTERRUPT = 8, /* an interrupt for EL2's own work, on any core: console, budget */
};
#define BH_PATH_PART_COUNT 9u /* highest + 1 */

struct table_ref { /* Where a table of records is. */
    uint32_t offset; /* from the start of the manifest */
    uint32_t count; /* number of records */
};

struct package_descriptor { /* In the hypervisor's image, where the builder fills it in. */
    uint32_t magic; /* package_magic */
    uint32_t version; /* package_version */
    uint64_t manifest_offset; /* from the load address, a multiple of 4096 */
    uint64_t manifest_bytes; /* size of the manifest */
    uint64_t package_bytes; /* of image, manifest and all images in the load area */
};

struct manifest_platform { /* The board. */
    uint32_t gic_version; /* gic_version */
    uint32_t uart_type; /* uart_type */
    uint32_t psci_method; /* psci_method */
    uint32_t uart_irq; /* INTID */
    uint64_t gicd_pa; /* distributor */
    uint64_t gicr_pa; /* redistributors of all cores of the chip, in any order; 0 on v2 */
    uint64_t gicr_bytes; /* size of all redistributors */
    uint64_t gicc_pa; /* CPU interface (v2); 0 on v3 */
    uint64_t gich_pa; /* hypervisor interface (v2); 0 on v3 */
    uint64_t gicv_pa; /* virtual CPU interface (v2); 0 on v3 */
    uint64_t messages_pa; /* registers that turn writes into interrupts: ITS (v3), v2m frame (v2); 0: none */
    uint64_t messages_bytes; /* size of these registers */
    uint64_t uart_pa; /* registers of the UART */
    uint32_t uart_clock_hz; /* clock of the UART */
    uint32_t cnthp_irq; /* INTID of the EL2 physical timer */
    uint32_t cntv_irq; /* INTID of the virtual timer, virtual_timer_intid */
    uint32_t cntp_irq; /* INTID of the physical timer, physical_timer_intid */
    uint32_t maintenance_irq; /* INTID of the maintenance interrupt */
    uint32_t traffic_event; /* PMU event that budgets count; 0: there are no budgets */
    uint32_t overflow_backup_events; /* events until a second counter overflows; 0: there is none */
    uint32_t writeback_event; /* PMU event of lines written back; 0: not counted */
    uint32_t access_event; /* PMU event that accesses past the caches cause, too; 0: not counted */
    uint32_t s2fwb; /* 1: each core has FEAT_S2FWB, and stage 2 decides how guests' memory is cached */
    uint64_t color_bits; /* address bits that make a color; 0: memory is not colored */
    uint64_t utilization_pa; /* page of the memory controller's profiling counters; 0: none, and the next fields are 0 */
    uint32_t utilization_busy; /* offset of the counter of busy cycles, a register of 32 bits */
    uint32_t utilization_cycles; /* offset of the counter of all cycles */
    uint32_t utilization_bits; /* width of both counters, at most 32 */
    uint32_t utilization_control; /* offset of the control register */
    uint32_t utilization_clear; /* value that is written to the control register first */
    uint32_t utilization_enable; /* value that is written to the control register next */
    uint64_t sram_pa; /* on-chip memory for the rings of samples, which nobody else may use */
    uint64_t sram_bytes; /* 0: there is none */
    uint32_t broadcast_events; /* events of a budget for an invalidation of translations or of a line of instructions that EL2 sends to all cores */
    uint32_t broadcast_icache_events; /* the same for an invalidation of all instruction caches */
};

struct manifest_hypervisor { /* The hypervisor's own resources and settings. */
    uint64_t pool_pa; /* first frame of the hypervisor's memory */
    uint64_t pool_bytes; /* size of image, tables, stacks and buffers */
    uint32_t pool_color_set; /* index into color_sets */
    uint32_t console_core; /* index into cpus: the core that drains the UART and takes its interrupt */
    uint32_t console_domain; /* domain that gets typed input first, or all_domains */
    uint32_t scheduler; /* scheduler of cores that VCPUs share */
    uint64_t slice_ns; /* time after which a VCPU of equal priority runs */
    uint64_t run_for_ns; /* time after which the machine stops; 0: never */
};

struct manifest_tables { /* Memory for stage-2 tables of domains with a specification (docs/design/mxu.md). All zero without any. */
    uint64_t on_chip_pa; /* first of contiguous frames */
    uint64_t on_chip_bytes; /* 0: there is none */
    uint64_t colored_pa; /* first frame, as of a segment */
    uint64_t colored_bytes; /* 0: there is none */
    uint32_t colored_set; /* index into color_sets */
    uint32_t on_chip_cached; /* 1: walks through tables on the chip use the caches */
};

struct manifest_regulation { /* Regulator of cores' budgets (core/regulator.h). Without members there is none, and all is zero. */
    uint32_t policy; /* regulation_policy */
    uint32_t hold; /* regulation_hold */
    uint32_t threshold; /* of utilization, or of delay, in 1/65536 */
    uint32_t step; /* in 1/65536; 0: adaptive, or that of dynamic_bandwidth */
    uint32_t members; /* mask of the cores (indexes into cpus) that are counted */
    uint32_t regulated; /* mask of those members, and of devices, whose budgets change */
    uint32_t store_samples; /* 1: samples are stored */
    uint32_t horizon_intervals; /* horizon of dynamic_delay */
    uint64_t interval_ns; /* time between two steps */
    uint64_t bandwidth_threshold_events; /* threshold in events of an interval */
    uint64_t floor_events; /* least budget of a core or a device in an interval */
    uint64_t ceiling_events; /* largest budget of all regulated cores and devices in an interval */
    uint64_t saturation_events; /* bandwidth of saturation in events of an interval; 0: not known */
    uint64_t budget_events[8]; /* by core, then by device: first budget if it is regulated, else limit, or unlimited_events */
};

struct manifest_delays { /* How much longer an event of the other cores waits while this core moves all that it can, for the policy dynamic_delay. */
    uint32_t event_ps[8]; /* by core, then by device */
};

struct manifest_flow_costs { /* Costs in ns of the parts of a packet's path (core/flow.h), for flows that are added while the system runs. */
    uint32_t hypervisor_call_min; /* shortest call of EL2 */
    uint32_t hypervisor_call_max; /* longest call of EL2 */
    uint32_t transport_min; /* shortest notification */
    uint32_t transport_max; /* longest notification */
    uint32_t parse_max; /* parsing of a packet */
    uint32_t queue_lock_max; /* lock of a queue */
    uint32_t queue_insert_max; /* insertion into a queue */
    uint32_t find_place_max; /* search for the place, for each packet in the queue */
    uint32_t queue_remove_max; /* removal from a queue */
    uint32_t find_earliest_max; /* choice of the earliest packet, for each domain */
    uint32_t program_dma_max; /* programming of a transfer */
    uint32_t finalize_max; /* end of a transfer */
    uint32_t dma_interrupt_max; /* interrupt of the engine */
    uint32_t notify_max; /* interrupt at the receiver */
    uint32_t wake_max; /* time until a sleeping broker looks at its queues */
    uint32_t copy_max; /* of a transfer that the broker's core copies, where an engine copies others */
    uint32_t copied_bytes; /* flows of at most this packet size are copied by the core; 0: all are copied the same way */
    uint32_t end_interrupts_max; /* the largest `interrupted_ns` of the broker's domains */
    uint32_t broker_interrupts_burst; /* the same on the broker's core: in t ns they take this and the share of t */
    uint32_t broker_interrupts_share; /* in 1/65536 */
    uint32_t reserved;
    uint32_t model; /* flow_model: which of these parts exist, and how they are analyzed */
};

struct manifest_broker { /* A broker, which copies packets of the flows between its domains. All zero without flows. */
    uint32_t domain; /* index of the broker's own domain */
    uint32_t chunk_bytes; /* of a transfer, at most */
    uint64_t bytes_per_s; /* of all transfers; 0: no limit */
    uint64_t patience_ns; /* time after its deadline for which a packet waits for a receive buffer */
    uint32_t engine; /* broker_engine; with cpu_copy the fields of the engine are zero, with own those of its channel */
    uint32_t engine_irq; /* INTID of its channel, a shared interrupt */
    uint64_t engine_pa; /* page of its channel's registers */
    uint64_t qos_pa; /* page of the regulator before it; 0: none */
    uint32_t qos_rate; /* setting of that regulator, 1 to 4095 */
    uint32_t stamps; /* 1: EL2 measures the parts of packets' paths */
    uint32_t run_bytes; /* memory of domains is contiguous for the engine in pieces of this size; 0: as for the guest */
    uint32_t reserved;
    struct manifest_flow_costs costs; /* costs of the path */
};

struct manifest_bandwidth { /* What the memory sustains, for budgets that managers change (core/budget_admission.h). All zero if it is not known. */
    uint32_t event_bytes; /* bytes for an event of a budget */
    uint32_t smallest_events; /* smallest budget that works; a smaller one counts as this */
    uint32_t access_bytes; /* bytes for an event of a budget of accesses; 0: no more than an event */
    uint32_t accesses_are_all; /* 1: refills and write-backs are among the accesses */
    uint64_t limit_bytes_per_s; /* of all budgets together; 0: no limit is tested */
    uint64_t shortest_period_ns; /* shortest period of a budget that works, and that rows refer to; 0 without a curve */
    uint64_t broker_bytes_per_s; /* in each direction, with the share of devices; 0 without a curve */
    uint64_t broker_full_bytes_per_s; /* rate at which the broker alone keeps the memory busy; 0 without a curve */
};

struct manifest_device_regulators { /* Regulators in front of devices of domains: rates in 4096ths of a transaction in each clock cycle of the interconnect, 1 to 4095; 0 without a regulator. In masks and budgets of the regulation, device number i is behind the cores, at place cpus.count + i. */
    uint64_t page_0; /* page of the regulator's registers; 0: none */
    uint64_t page_1; /* of the second one */
    uint64_t page_2; /* of the third one */
    uint64_t page_3; /* of the fourth one */
    uint32_t reads[4]; /* rates of reads, by number of the regulator */
    uint32_t writes[4]; /* rates of writes */
    uint32_t unit_events[4]; /* events per s of one unit of both rates together; 0: the rates are constant, else the regulator of cores changes them (core/regulated_device.h) */
    uint32_t most[4]; /* largest rate that the regulator sets; 0 for constant rates */
};

struct manifest_reset_pages { /* Pages of the chip's registers that hold devices in reset. */
    uint64_t page_0; /* physical address of a page; 0: none */
    uint64_t page_1; /* of the second one */
};

struct manifest_mpam { /* MPAM (core/mpam_settings.h). Without components everybody is in partition 0, and all is zero. */
    uint64_t page_0; /* registers of the first component */
    uint64_t page_1; /* of the second; 0: there is none */
    uint64_t page_2; /* of the third */
    uint64_t page_3; /* of the fourth */
    uint32_t partid_max; /* of the cores (MPAMIDR_EL1); the components have as many, or more */
    uint32_t pmg_max; /* of the cores */
    uint32_t virtual_partids; /* entries of MPAMVPM<n>_EL2; 0: none */
    uint32_t firmware_allows; /* 0: not known; EL2 tries, and reports a refusal */
    uint32_t partid; /* the hypervisor's own */
    uint32_t pmg; /* the hypervisor's own */
};

struct manifest_smmu { /* The SMMU that EL2 drives, also if no domain has a device behind it. All zero if the board has none. */
    uint64_t pa; /* registers */
    uint32_t stream_bits; /* width of its stream ids; it has as many, or more */
    uint32_t event_irq; /* INTID of refused accesses: of the event queue (SMMUv3), of all faults (SMMUv2) */
    uint32_t error_irq; /* INTID of global errors; an SMMUv2 has one interrupt for both */
    uint32_t version; /* smmu_version */
};

struct manifest_pci { /* The PCI host bridge. All zero if the board has none that EL2 drives. */
    uint64_t config_pa; /* configuration space of bus 0 (ECAM) */
    uint64_t config_bytes; /* size of that of bus 0 and of the following buses up to the last one that EL2 uses */
    uint64_t others_pa; /* configuration space of the other buses; 0: there is none */
    uint64_t others_bytes; /* its size */
};

struct manifest_its { /* The ITS, which turns writes of functions into message interrupts. All zero if the board has none that EL2 drives. */
    uint64_t pa; /* registers */
    uint64_t pending_pa; /* memory that nobody has: lpi_pending_bytes for each core, aligned to as much */
    uint64_t pending_bytes; /* its size */
};

struct manifest_header { /* The manifest begins with it. */
    uint32_t magic; /* manifest_magic */
    uint32_t version; /* version of this file */
    uint32_t layout_hash; /* CRC-32 of the canonical layout: catches a tool and a hypervisor of different builds */
    uint32_t total_bytes; /* size of the manifest */
    uint32_t crc32; /* IEEE CRC-32 of the whole manifest with this field as zero */
    uint32_t reserved;
    struct manifest_platform platform; /* the board */
    struct manifest_hypervisor hypervisor; /* the hypervisor's own resources */
    struct manifest_tables tables; /* memory for stage-2 tables */
    struct manifest_regulation regulation; /* the regulator */
    struct manifest_delays delays; /* delays that cores cause */
    struct manifest_broker broker; /* broker 0 */
    struct manifest_broker second_broker; /* broker 1; all zero: there is one broker at most */
    struct manifest_bandwidth bandwidth; /* what the memory sustains */
    struct manifest_device_regulators device_regulators; /* what devices of domains may move */
    struct manifest_reset_pages reset_pages; /* registers that reset devices */
    struct manifest_mpam mpam; /* MPAM */
    struct manifest_smmu smmu; /* the SMMU */
    struct manifest_pci pci; /* the PCI host bridge */
    struct manifest_its its; /* the ITS */
    struct table_ref cpus; /* cores of the platform */
    struct table_ref ram; /* RAM of the platform */
    struct table_ref color_sets; /* sets of colors */
    struct table_ref domains; /* domains, in the order of the system file */
    struct table_ref vcpus; /* VCPUs of all domains */
    struct table_ref segments; /* memory of all domains */
    struct table_ref images; /* images of all domains */
    struct table_ref irqs; /* interrupts of all domains */
    struct table_ref devices; /* devices of all domains */
    struct table_ref calls; /* calls to firmware of all domains */
    struct table_ref flows; /* flows */
    struct table_ref bandwidth_curve; /* utilization of the memory in the worst case; empty: only the limit is tested */
    struct table_ref bandwidth_table; /* measured rates, where utilizations do not add up */
    struct table_ref mpam_components; /* in the order of manifest_mpam's pages */
    struct table_ref mpam_instances; /* of all components; those of one component in the order of their numbers */
    struct table_ref mpam_settings; /* ascending by component, instance, PARTID */
    struct table_ref mpam_words; /* bitmaps of the settings */
    struct table_ref streams; /* streams of all domains */
    struct table_ref functions; /* PCI functions of all domains */
    struct table_ref bridges; /* PCI bridges with these functions behind them */
    struct table_ref resets; /* devices that EL2 can reset */
};

struct manifest_reset { /* A device that EL2 resets at its own start, and when its domain has stopped. */
    uint32_t domain; /* index of its domain; all_domains if no domain has it */
    uint32_t page; /* number in manifest_reset_pages */
    uint32_t offset; /* of the register in the page, a multiple of 4 */
    uint32_t mask; /* bits of the device in the register */
    uint32_t held; /* their value that holds it in reset: all ones of the mask, or 0 */
    uint32_t hold_ns; /* how long it is held, 1 to max_reset_hold_ns */
};

struct manifest_bandwidth_point { /* A point of the curve of utilization, for a core that moves this rate in each direction. */
    uint64_t bytes_per_s; /* rate of the core */
    uint64_t utilization; /* in parts of memory_utilization_one */
};

struct manifest_bandwidth_row { /* A measured rate of the broker beside cores that keep budgets of this size. */
    uint32_t cores; /* at most; 0: any number */
    uint32_t refills; /* of each core in the shortest period, at most */
    uint64_t bytes_per_s; /* rate of the broker */
};

struct manifest_mpam_component { /* A memory-system component. */
    uint32_t version; /* as in MPAMF_AIDR: 0x10 is 1.0 */
    uint32_t instance_count; /* number of its resource instances */
    uint32_t error_irq; /* a shared interrupt; 0: EL2 looks for errors when it reads monitors */
    uint32_t overflow_irq; /* not enabled, since EL2 sums up values; no domain gets it */
    uint64_t not_ready_ns; /* time for which a monitor is not ready after a change */
    uint32_t intpartid_max; /* with mpam_offer narrowing */
    uint32_t reserved;
};

struct manifest_mpam_instance { /* What a resource instance offers by the platform file. Its ID registers must say the same. */
    uint32_t resource; /* mpam_resource */
    uint32_t offers; /* mpam_offer */
    uint32_t cache_portions; /* portions of the cache */
    uint32_t capacity_bits; /* width of fractions of capacity */
    uint32_t associativity_bits; /* width of fractions of associativity */
    uint32_t bandwidth_bits; /* width of fractions of bandwidth */
    uint32_t bandwidth_portions; /* portions of bandwidth */
    uint32_t internal_bits; /* width of the internal priority */
    uint32_t downstream_bits; /* width of the downstream priority */
    uint32_t storage_monitors; /* number of storage monitors */
    uint32_t bandwidth_monitors; /* number of bandwidth monitors */
    uint32_t bandwidth_value_bits; /* of a monitor: 31, 44 or 63; 0: there is none */
};

struct manifest_mpam_setting { /* What a partition asks of an instance. A PARTID without a row has no limit; a PARTID without an owner has the hypervisor's settings. */
    uint32_t component; /* index into mpam_components */
    uint32_t instance; /* number in the component */
    uint32_t partid; /* PARTID of the partition */
    uint32_t asked; /* mpam_control (core/mpam_settings.h); fields of other controls are not used */
    uint32_t cmax_part; /* maximum of capacity: cmax_part / cmax_of */
    uint32_t cmax_of; /* divisor */
    uint32_t cmin_part; /* minimum of capacity */
    uint32_t cmin_of; /* divisor */
    uint32_t associativity_part; /* largest part of the ways */
    uint32_t associativity_of; /* divisor */
    uint32_t mbw_min_part; /* minimum of bandwidth */
    uint32_t mbw_min_of; /* divisor */
    uint32_t mbw_max_part; /* maximum of bandwidth */
    uint32_t mbw_max_of; /* divisor */
    uint32_t stride; /* proportional stride */
    uint32_t internal_priority; /* a larger number is more urgent */
    uint32_t downstream_priority; /* a larger number is more urgent */
    uint32_t window_us; /* accounting window */
    uint32_t first_word; /* of its bitmaps in mpam_words: first the cache's portions, then those of bandwidth */
    uint32_t cache_words; /* words of cache portions; portions beyond are not set */
    uint32_t bandwidth_words; /* words of bandwidth portions */
    uint32_t reserved;
};

struct manifest_mpam_word { /* A word of a setting's bitmaps. */
    uint32_t bits; /* portion n of a bitmap is bit n % 32 of its word n / 32 */
    uint32_t reserved;
};

struct manifest_stream { /* A stream of a domain's device: the domain is mapped from the start (flag `premap`). */
    uint32_t domain; /* index of the domain */
    uint32_t stream; /* stream id at the SMMU */
};

struct manifest_bridge { /* A PCI bridge on bus 0 with functions of domains behind it. Its ACS keeps them apart from all others. */
    uint32_t requester; /* its requester id: device number in bits 7 to 3, function number below */
    uint32_t id; /* vendor, and device in the upper half, as its first register has them */
    uint32_t bus; /* number of the bus behind it */
    uint32_t reserved;
    uint64_t memory_pa; /* its window: the addresses that it passes on, a multiple of pci_window_bytes */
    uint64_t memory_bytes; /* size of the window, a multiple of pci_window_bytes */
};

struct manifest_function { /* A PCI function of a domain, on bus 0 or behind a bridge of `bridges`. The registers behind its BARs are rows of `devices`, and its requester id is a row of `streams`. */
    uint32_t domain; /* index of the domain */
    uint32_t requester; /* its requester id: bus, device number in bits 7 to 3, function number below */
    uint32_t guest_slot; /* device number on bus 0 where its guest sees it, as function 0 */
    uint32_t id; /* vendor, and device in the upper half, as its first register has them */
    uint32_t pin; /* interrupt pin, as its register has it: 1 is INTA; 0: none */
    uint32_t bar_kinds; /* four bits for each BAR, as bits 3 to 0 of its register */
    uint32_t messages; /* message interrupts (MSI-X) that its guest sees, at most max_messages; 0: none */
    uint32_t flags; /* function_flag */
    uint64_t bar_pa[6]; /* where EL2 places each BAR; a BAR of 64 bits also uses the next number */
    uint64_t bar_bytes[6]; /* size of each BAR; 0: the function has no memory there */
};

struct manifest_cpu { /* A core of the platform. */
    uint64_t mpidr; /* affinity fields only */
    uint32_t pmu_irq; /* INTID of its performance monitors: private (23), or its own line; 0: not connected */
    uint32_t reserved;
};

struct manifest_ram { /* A range of RAM. */
    uint64_t pa; /* first address */
    uint64_t bytes; /* size */
};

struct color_set_record { /* A set of colors. */
    uint64_t word[4]; /* bit c % 64 of word c / 64: color c */
};

struct manifest_domain { /* A domain. Its rows of other tables follow each other. */
    char name[32]; /* name in the system file */
    uint64_t entry_ipa; /* address of the first instruction */
    uint64_t boot_argument; /* x0 of VCPU 0 at entry: address of the device tree */
    uint32_t color_set; /* index of the promised set; segments are what is mapped */
    uint32_t flags; /* domain_flag */
    uint32_t first_vcpu; /* index into vcpus */
    uint32_t vcpu_count; /* number of VCPUs */
    uint32_t first_segment; /* index into segments */
    uint32_t segment_count; /* number of segments */
    uint32_t first_image; /* index into images */
    uint32_t image_count; /* number of images */
    uint32_t first_irq; /* index into irqs */
    uint32_t irq_count; /* number of interrupts */
    uint32_t first_device; /* index into devices */
    uint32_t device_count; /* number of devices */
    uint32_t first_call; /* index into calls */
    uint32_t call_count; /* number of ranges */
    uint64_t budget_events; /* with the flag `budget`: events in each period; else this and the next fields are zero */
    uint64_t budget_period_ns; /* period of the budget */
    uint64_t budget_chunk_events; /* of one draw from the budget that VCPUs share; 0: each VCPU has its own budget */
    uint64_t budget_second_events; /* second budget, of budget_counts each and accesses */
    uint64_t budget_slack_events; /* of budget_counts sum: by how much it may be exceeded */
    uint32_t budget_counts; /* budget_counts */
    uint32_t priority; /* of its VCPUs on a shared core; 0 is the highest */
    uint64_t cpu_budget_ns; /* CPU time of each VCPU on a shared core in each period; 0: no limit */
    uint64_t cpu_period_ns; /* period of that budget */
    uint64_t socket_ipa; /* registers of its socket device; 0: none. The broker has its interrupt only */
    uint64_t socket_root_ipa; /* configuration space of the virtual PCI root with the socket device; 0: it is behind the MMIO transport */
    uint32_t socket_cid; /* context id of the socket device */
    uint32_t socket_irq; /* INTID of the socket device */
    uint32_t mpam_partid; /* its partition, or the first of those that its guest numbers from 0 on */
    uint32_t mpam_virtual; /* PARTIDs that its guest may use; 0: one partition, and the guest sees no MPAM */
    uint32_t mpam_pmg; /* its performance monitoring group */
    uint32_t table_memory; /* table_memory */
    uint32_t socket_broker; /* number of the broker that serves its socket device, or that it is; 0 if neither */
    uint32_t interrupted_ns; /* longest time by which EL2's own interrupts delay it as an end of a flow */
};

struct manifest_vcpu { /* A VCPU. */
    uint32_t domain; /* index of the domain */
    uint32_t core; /* index into cpus */
};

struct manifest_segment { /* Memory of a domain: [ipa, ipa + bytes) is backed by the granules at or after `pa`, in address order, whose color is in the set. A granule has 2^(lowest color bit) bytes. With color_bits = 0 the segment is contiguous. */
    uint64_t ipa; /* guest-physical address */
    uint64_t bytes; /* size */
    uint64_t pa; /* first granule: aligned to a granule, its color in the set */
    uint32_t color_set; /* index into color_sets */
    uint32_t flags; /* segment_flag */
};

struct manifest_image { /* Bytes that are copied into a domain's memory before it starts. */
    uint64_t offset; /* of the source, from the load address of the package; a multiple of 4096 */
    uint64_t bytes; /* a multiple of 16, with zeros after the source's end */
    uint64_t ipa; /* destination, a multiple of 16 */
    uint32_t flags; /* image_flag */
    uint32_t reserved;
};

struct manifest_irq { /* A shared interrupt that is passed through, with the same number for the guest. */
    uint32_t intid; /* number */
    uint32_t vcpu; /* index in the domain of the VCPU that is its first target */
};

struct manifest_device { /* Registers that are passed through. */
    uint64_t ipa; /* guest-physical address */
    uint64_t pa; /* physical address */
    uint64_t bytes; /* size */
};

struct manifest_call { /* A range of firmware's functions that a domain may call by SMC. */
    uint32_t first; /* first function */
    uint32_t last; /* last function */
};

struct manifest_flow { /* A flow between domains. */
    uint32_t source; /* index of the domain that sends */
    uint32_t destination; /* index of the domain that receives */
    uint32_t port; /* at the destination */
    uint32_t packet_bytes; /* payload, at most */
    uint64_t period_ns; /* shortest time between two packets */
    uint64_t deadline_ns; /* until the destination is notified */
    uint32_t transfers; /* of a packet, at most; 0: one for each chunk */
    uint32_t connections; /* at a time, 1 to most_flow_connections; 0 for the way back of another flow */
    uint32_t answers; /* 1 + number of the earlier flow whose way back this is; 0: a flow of its own */
    uint32_t group; /* 1 + number of the multicast flow of which this is one receiver's part; 0: none */
};

struct status_domain { /* A domain. */
    uint32_t state; /* domain_state */
    uint8_t end; /* domain_end of the last end; a restart leaves it */
    uint8_t socket_failure; /* why its socket device has asked the driver for a reset: socket_failure of the latest time */
    uint16_t socket_failures; /* how often that was, at most 65535 */
    uint64_t vttbr; /* VTTBR_EL2 */
    uint64_t vtcr; /* VTCR_EL2 */
    uint64_t started_at; /* start of its latest life */
    uint64_t ended_at; /* end of its latest life */
    uint64_t fault_pc; /* address of the instruction that ended it */
    uint64_t fault_syndrome; /* ESR_EL2 of the fault */
    uint64_t fault_address; /* guest-physical address of the fault, if it has one */
    uint32_t restarts; /* restarts since the machine's start */
    uint32_t unheard_ticks; /* at the machine's end: time since the first notification of its socket that the broker had not heard; 2^32 - 1: at least that */
};

struct status_regulation { /* The regulator, as of its last step. All zero without one. */
    uint64_t samples; /* steps of the regulator */
    uint64_t missed; /* intervals without a step */
    uint64_t given_up; /* missed intervals in which a core was late */
    uint64_t unusable; /* samples without the load that the policy needs */
    uint64_t changes; /* changes of the parameters */
    uint64_t global_events; /* global budget of the regulated cores in an interval (G) */
    uint64_t global_sum_events; /* sum of G over all steps */
    uint64_t global_min_events; /* least G of a step */
    uint64_t global_max_events; /* largest G of a step */
    uint64_t load_sum; /* sum of the load over all steps, in 1/65536 (utilization, or traffic / threshold) */
    uint32_t load_min; /* least load of a step, in 1/65536 */
    uint32_t load_max; /* largest load of a step, in 1/65536 */
};

struct status_flow { /* A flow between domains. Times are ticks of the counter. */
    uint64_t packets; /* delivered packets with payload */
    uint64_t bytes; /* delivered payload */
    uint64_t control_packets; /* delivered packets without payload */
    uint32_t misses; /* packets, with or without payload, delivered after their deadline, counted from their release; 2^32 - 1: at least that */
    uint32_t replaced_misses; /* misses of closed flows whose place this flow has taken, likewise */
    uint64_t latency_max_ticks; /* longest time from release to notification */
    uint64_t latency_sum_ticks; /* sum of these times */
    uint64_t lost; /* packets on their way when one end was reset, and control packets that waited too long */
    uint64_t refused; /* connections and packets that the flow does not allow */
    uint32_t state; /* flow_state */
    uint32_t unread; /* multicast: 1 + bytes that this receiver has not taken, at most 2^32 - 1; 0: it has no connection */
    uint16_t source; /* index of the domain that sends */
    uint16_t destination; /* index of the domain that receives */
    uint32_t port; /* port at the destination */
    uint32_t packet_bytes; /* largest payload of a packet */
    uint32_t latency_min_ticks; /* shortest time from release to notification, at most 2^32 - 1 */
    uint64_t period_ns; /* shortest time between two packets */
    uint64_t deadline_ns; /* deadline of a packet */
};

struct status_system { /* Page 0: the whole system. */
    uint32_t magic; /* status_magic */
    uint32_t version; /* version of the layout */
    uint32_t phase; /* phase; the observer starts to count at the store of `started` */
    uint32_t end_reason; /* end_reason */
    uint32_t refusal; /* manifest_error, in the phase `refused` */
    uint32_t refusal_offset; /* offset of the offending field in the manifest */
    uint32_t core_count; /* cores of the platform */
    uint32_t domain_count; /* domains of the manifest */
    uint64_t counter_hz; /* frequency of the counter */
    uint64_t started_at; /* when all images were loaded and all cores ready */
    uint64_t ended_at; /* end of the run */
    uint64_t ttbr0_el2; /* TTBR0_EL2 */
    uint64_t pool_frames; /* frames of the hypervisor's pool */
    uint64_t pool_used; /* used frames of the pool */
    uint32_t failed_transfers[2]; /* by broker: transfers of its engine that failed */
    uint32_t transfer_ticks[2]; /* by broker, at the machine's end: time since the start of its engine's transfer that was under way; 2^32 - 1: at least that */
    struct status_regulation regulation; /* the regulator */
    uint32_t mpam_frame; /* number in the pool of the frame with status_mpam; 0: the manifest has no components */
    uint32_t smmu_frame; /* number in the pool of the frame with status_smmu; 0: the manifest has no SMMU */
    struct status_domain domains[8]; /* by index */
    struct status_flow flows[32]; /* by number */
};

struct status_budget { /* The budget of a VCPU, as of its last period. All zero without one. */
    uint64_t events; /* all events, of both budgets */
    uint64_t periods; /* periods that have ended */
    uint64_t late_periods; /* periods that ended in the same call as a later one */
    uint64_t throttled_periods; /* periods in which the budget stopped the VCPU */
    uint64_t throttled_ticks; /* time for which the budget stopped it */
    uint64_t overshoot_periods; /* periods with more events than the budget */
    uint64_t overshoot_events; /* events beyond the budget in all periods */
    uint64_t overshoot_max_events; /* most events beyond the budget in a period */
    uint64_t period_max_events; /* most events of a period; of the first budget if there are two */
    uint64_t second_events; /* events of the second budget (budget_counts each, accesses) */
    uint64_t second_max_events; /* most events of the second budget in a period */
    uint64_t limit_events; /* budget of the latest period */
    uint64_t period_ticks; /* length of the latest period */
    uint64_t changes; /* changes of budget or period by managers */
    uint64_t limit_intervals; /* of a regulated core: intervals that have ended */
    uint64_t limit_sum_events; /* of a regulated core: sum of its budgets at the ends of intervals */
    uint64_t limit_min_events; /* of a regulated core: least of these budgets */
    uint64_t limit_max_events; /* of a regulated core: largest of these budgets */
    uint64_t given_events; /* with the flag `reclaim`: events lent to others */
    uint64_t drawn_events; /* with the flag `reclaim`: events borrowed from others */
    uint64_t violations; /* with the flag `reclaim`: periods without the guaranteed events */
    uint64_t shortfall_events; /* with the flag `reclaim`: events that were missing in these periods */
};

struct status_device_limit { /* The budgets of a regulated device, at the steps of the regulator. All zero without one. */
    uint64_t limit_events; /* budget of the latest interval */
    uint64_t limit_sum_events; /* sum of its budgets over all steps */
    uint64_t limit_min_events; /* least of these budgets */
    uint64_t limit_max_events; /* largest of these budgets */
    uint32_t rate; /* rate in the registers */
    uint32_t changes; /* times that the rate changed */
};

struct status_sample { /* A sample: one for each period of a core's budget, in a ring (core/sample_ring.h). */
    uint64_t time; /* end of the period */
    uint16_t domain; /* index of the domain */
    uint16_t vcpu; /* index in the domain */
    int32_t carried; /* by the policy: delay in its account (1/1024 interval), or which of its phases */
    uint64_t events; /* events of the period */
    uint64_t budget; /* events of the next period */
    uint64_t throttled_ticks; /* time for which the budget stopped the VCPU in the period */
    uint64_t period_ticks; /* length of the next period */
    uint64_t global_events; /* G of the regulator; 0: there is none */
    uint32_t utilization; /* utilization of the memory in 1/65536; 0: there is no regulator */
    uint32_t device_events; /* budgets of regulated devices together in the next interval */
};

struct packet_sample { /* A packet that the broker delivered, in a ring as of core/sample_ring.h in the broker's memory. Times are values of the counter. */
    uint64_t release; /* when its sender could have it in its queue at the earliest */
    uint64_t begun; /* when its first transfer was chosen; without payload: when it was delivered */
    uint64_t delivered; /* when it was delivered, before the receiver is notified */
    uint32_t flow; /* number of the flow, or of the way back, that it belongs to */
    uint32_t bytes; /* payload; 0: a control packet */
};

struct status_vcpu { /* A VCPU that shares its core with others. */
    uint32_t domain; /* index of the domain */
    uint32_t vcpu; /* index in the domain */
    uint32_t state; /* vcpu_state */
    uint32_t priority; /* 0 is the highest */
    uint64_t dispatches; /* times that the core's registers became the VCPU's */
    uint64_t blocks; /* WFI, and calls that mean it */
    uint64_t run_ticks; /* time on the core, EL2's work for it included, up to its last exit from the core */
    uint64_t entered_at; /* when it was entered last; 0: it does not run */
    uint64_t out_of_order; /* dispatches while a VCPU of higher priority was ready */
    uint64_t periods_due; /* periods that have ended by the clock, in all its lives */
    uint64_t cpu_periods; /* periods of its CPU time */
    uint64_t cpu_throttled_periods; /* periods in which its CPU time was spent */
    uint64_t cpu_max_ticks; /* most CPU time in a period */
    uint64_t releases; /* events that made it the most urgent VCPU */
    uint64_t release_sum_ticks; /* sum of the times from such an event to its first instruction */
    uint64_t release_max_ticks; /* longest of these times */
    struct status_budget budget; /* its budget */
};

struct status_path_cost { /* A part of the path of packets, in ticks of the counter. */
    uint64_t count; /* measured times */
    uint64_t min; /* shortest time */
    uint64_t max; /* longest time */
    uint64_t sum; /* sum of the times */
    uint32_t histogram[64]; /* number of times in each bucket; four buckets for each power of two */
};

struct status_path_costs { /* The parts of the path of packets on one core: a frame of the pool for each core. */
    struct status_path_cost parts[9]; /* by path_part */
};

struct status_mpam_monitor { /* What a monitor of an MPAM component has counted for a partition. */
    uint8_t component; /* index into mpam_components */
    uint8_t instance; /* number in the component */
    uint8_t kind; /* mpam_monitor_kind */
    uint8_t flags; /* mpam_monitor_flag */
    uint16_t partid; /* PARTID of the partition */
    uint16_t owner; /* index of a domain, or 0xFFFF: the hypervisor */
    uint64_t bytes; /* stored at the last read, or moved since the start */
    uint64_t most_bytes; /* largest value of a read; for bandwidth the most moved between two reads */
};

struct status_mpam_register { /* A register of an MPAM component that was read back, with the selection it was read for. */
    uint8_t component; /* index into mpam_components */
    uint8_t instance; /* selected instance */
    uint16_t partid; /* selected PARTID */
    uint32_t offset; /* of the register in the feature page */
    uint32_t value; /* value that was read */
    uint32_t reserved;
};

struct status_mpam { /* MPAM: a frame of the pool. */
    uint32_t state; /* mpam_state */
    uint32_t version; /* ID_AA64PFR0_EL1.MPAM and MPAM_frac of the cores, four bits each */
    uint32_t partid_max; /* PARTID_MAX of MPAMIDR_EL1 */
    uint32_t pmg_max; /* PMG_MAX of MPAMIDR_EL1 */
    uint64_t start_ticks; /* time that the setup of the components took on the first core */
    uint64_t writes; /* writes to components at the start */
    uint64_t reads; /* reads of monitors, each in an interrupt of the console core */
    uint64_t read_sum_ticks; /* sum of the times of these reads */
    uint64_t read_max_ticks; /* longest of these times */
    uint64_t errors[16]; /* errors of components, by error code (MPAMF_ESR) */
    uint64_t error_interrupts; /* error interrupts */
    uint32_t last_error; /* MPAMF_ESR of the last error */
    uint32_t last_component; /* component of the last error */
    uint64_t dump_frame; /* number in the pool of the first frame with status_mpam_register; 0: none */
    uint32_t dump_count; /* registers that were read back */
    uint32_t dump_left_out; /* registers for which there was no room */
    uint64_t dump_at; /* when the registers were read back */
    uint32_t monitor_count; /* monitors in use */
    uint32_t without_monitor; /* partitions for which there was no monitor */
    struct status_mpam_monitor monitors[64]; /* values of monitors */
};

struct status_smmu { /* The SMMU: a frame of the pool. */
    uint64_t refused[8]; /* refused accesses of each domain's devices, by index */
    uint64_t nobody; /* refused accesses of streams that no domain has */
    uint64_t other; /* refused accesses of domains' devices for which a table or an entry could not be read */
    uint64_t overflows; /* times that events were lost because the queue was full, or a fault was recorded already */
    uint64_t global_errors; /* global errors, except those that were active already */
    uint64_t interrupts; /* interrupts of the SMMU */
    uint64_t unanswered; /* times that the SMMU did not answer within 0.1 ms */
    uint32_t last_type; /* type of the last event (IHI 0070, 7.3); of an SMMUv2, bits of a fault status register */
    uint32_t last_stream; /* its stream id */
    uint64_t last_address; /* its input address */
    uint32_t last_error; /* last global errors: bits of SMMU_GERROR (SMMUv3) or SMMU_sGFSR (SMMUv2) */
    uint32_t reserved;
};

struct status_core { /* A core: page 1 + its index. */
    uint32_t magic; /* status_magic */
    uint32_t core; /* index of the core */
    uint32_t domain; /* index of its domain; all_domains if VCPUs share the core */
    uint32_t vcpu; /* index in the domain */
    uint32_t idle; /* 1: no guest runs here any more */
    uint32_t shared_count; /* VCPUs that share the core; 0: it has one VCPU */
    uint64_t entered_at; /* first entry to a guest */
    uint64_t exits[40]; /* exits from guests, by exit_reason */
    uint64_t injected; /* virtual interrupts made pending */
    uint64_t list_register_full; /* times that a virtual interrupt had to wait for a list register */
    struct status_budget budget; /* its budget; zero if VCPUs share the core */
    uint64_t samples_pa; /* its ring of samples: on the chip, or from this frame of the pool on, in the order of the pool's frames */
    uint64_t samples_bytes; /* size of the ring; 0: none */
    uint64_t switches; /* switches from one VCPU to another */
    uint64_t paths_frame; /* number in the pool of the frame with its status_path_costs; 0: nothing is measured */
    struct status_vcpu shared[8]; /* VCPUs that share the core */
    struct status_device_limit devices[4]; /* of core 0: regulated devices, by number of the regulator in front of them */
};

/* Registers and on-chip memory that EL2 keeps: a row of the table below. */
struct bh_region {
    uint32_t pa_offset; /* of the u64 in the manifest's header with the address; 0 there: none */
    uint32_t bytes_offset; /* of the u64 there with the size; 0: it is `bytes` */
    uint64_t bytes;
    uint64_t guest_bytes; /* what a guest finds at the same guest-physical address */
    uint64_t guest_bytes_per_core;
    uint32_t gic_version; /* the only one of the interrupt controller that has it; 0: any */
    uint32_t mapped; /* 1: EL2 maps it at its physical address */
};
#define BH_REGION_COUNT 30u
#define BH_REGION_ROWS \
    {(uint32_t)offsetof(struct manifest_header, platform.uart_pa), (uint32_t)0, 0x1000u, 0x1000u, 0x0u, 0u, 1u}, /* uart */ \
    {(uint32_t)offsetof(struct manifest_header, platform.gicd_pa), (uint32_t)0, 0x10000u, 0x10000u, 0x0u, 3u, 1u}, /* gicv3_distributor */ \
    {(uint32_t)offsetof(struct manifest_header, platform.gicr_pa), (uint32_t)offsetof(struct manifest_header, platform.gicr_bytes), 0x0u, 0x0u, 0x20000u, 3u, 1u}, /* redistributors */ \
    {(uint32_t)offsetof(struct manifest_header, platform.gicd_pa), (uint32_t)0, 0x1000u, 0x1000u, 0x0u, 2u, 1u}, /* gicv2_distributor */ \
    {(uint32_t)offsetof(struct manifest_header, platform.gicc_pa), (uint32_t)0, 0x2000u, 0x2000u, 0x0u, 2u, 1u}, /* cpu_interface */ \
    {(uint32_t)offsetof(struct manifest_header, platform.gich_pa), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 2u, 1u}, /* hypervisor_interface */ \
    {(uint32_t)offsetof(struct manifest_header, platform.gicv_pa), (uint32_t)0, 0x2000u, 0x0u, 0x0u, 2u, 0u}, /* virtual_cpu_interface */ \
    {(uint32_t)offsetof(struct manifest_header, platform.messages_pa), (uint32_t)offsetof(struct manifest_header, platform.messages_bytes), 0x0u, 0x0u, 0x0u, 0u, 0u}, /* message_interrupts */ \
    {(uint32_t)offsetof(struct manifest_header, platform.utilization_pa), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* dram_counters */ \
    {(uint32_t)offsetof(struct manifest_header, platform.sram_pa), (uint32_t)offsetof(struct manifest_header, platform.sram_bytes), 0x0u, 0x0u, 0x0u, 0u, 0u}, /* on_chip_memory */ \
    {(uint32_t)offsetof(struct manifest_header, tables.on_chip_pa), (uint32_t)offsetof(struct manifest_header, tables.on_chip_bytes), 0x0u, 0x0u, 0x0u, 0u, 0u}, /* table_memory */ \
    {(uint32_t)offsetof(struct manifest_header, broker.engine_pa), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* engine */ \
    {(uint32_t)offsetof(struct manifest_header, broker.qos_pa), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* engine_regulator */ \
    {(uint32_t)offsetof(struct manifest_header, second_broker.engine_pa), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* second_engine */ \
    {(uint32_t)offsetof(struct manifest_header, second_broker.qos_pa), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* second_engine_regulator */ \
    {(uint32_t)offsetof(struct manifest_header, device_regulators.page_0), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* device_regulator_0 */ \
    {(uint32_t)offsetof(struct manifest_header, device_regulators.page_1), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* device_regulator_1 */ \
    {(uint32_t)offsetof(struct manifest_header, device_regulators.page_2), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* device_regulator_2 */ \
    {(uint32_t)offsetof(struct manifest_header, device_regulators.page_3), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* device_regulator_3 */ \
    {(uint32_t)offsetof(struct manifest_header, reset_pages.page_0), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* reset_registers_0 */ \
    {(uint32_t)offsetof(struct manifest_header, reset_pages.page_1), (uint32_t)0, 0x1000u, 0x0u, 0x0u, 0u, 1u}, /* reset_registers_1 */ \
    {(uint32_t)offsetof(struct manifest_header, mpam.page_0), (uint32_t)0, 0x10000u, 0x0u, 0x0u, 0u, 1u}, /* mpam_component_0 */ \
    {(uint32_t)offsetof(struct manifest_header, mpam.page_1), (uint32_t)0, 0x10000u, 0x0u, 0x0u, 0u, 1u}, /* mpam_component_1 */ \
    {(uint32_t)offsetof(struct manifest_header, mpam.page_2), (uint32_t)0, 0x10000u, 0x0u, 0x0u, 0u, 1u}, /* mpam_component_2 */ \
    {(uint32_t)offsetof(struct manifest_header, mpam.page_3), (uint32_t)0, 0x10000u, 0x0u, 0x0u, 0u, 1u}, /* mpam_component_3 */ \
    {(uint32_t)offsetof(struct manifest_header, smmu.pa), (uint32_t)0, 0x20000u, 0x0u, 0x0u, 0u, 1u}, /* smmu */ \
    {(uint32_t)offsetof(struct manifest_header, pci.config_pa), (uint32_t)offsetof(struct manifest_header, pci.config_bytes), 0x0u, 0x100000u, 0x0u, 0u, 1u}, /* pci_config */ \
    {(uint32_t)offsetof(struct manifest_header, its.pa), (uint32_t)0, 0x20000u, 0x20000u, 0x0u, 0u, 1u}, /* its */ \
    {(uint32_t)offsetof(struct manifest_header, its.pending_pa), (uint32_t)offsetof(struct manifest_header, its.pending_bytes), 0x0u, 0x0u, 0x0u, 0u, 1u}, /* lpi_pending */ \
    {(uint32_t)offsetof(struct manifest_header, pci.others_pa), (uint32_t)offsetof(struct manifest_header, pci.others_bytes), 0x0u, 0x0u, 0x0u, 0u, 0u}, /* pci_other_buses */

#ifdef __cplusplus
#define BH_LAYOUT_ASSERT(condition, text) static_assert(condition, text)
#else
#define BH_LAYOUT_ASSERT(condition, text) _Static_assert(condition, text)
#endif

BH_LAYOUT_ASSERT(sizeof(struct table_ref) == 8u, "size of table_ref");
BH_LAYOUT_ASSERT(offsetof(struct table_ref, offset) == 0u, "table_ref.offset");
BH_LAYOUT_ASSERT(offsetof(struct table_ref, count) == 4u, "table_ref.count");

BH_LAYOUT_ASSERT(sizeof(struct package_descriptor) == 32u, "size of package_descriptor");
BH_LAYOUT_ASSERT(offsetof(struct package_descriptor, magic) == 0u, "package_descriptor.magic");
BH_LAYOUT_ASSERT(offsetof(struct package_descriptor, version) == 4u, "package_descriptor.version");
BH_LAYOUT_ASSERT(offsetof(struct package_descriptor, manifest_offset) == 8u, "package_descriptor.manifest_offset");
BH_LAYOUT_ASSERT(offsetof(struct package_descriptor, manifest_bytes) == 16u, "package_descriptor.manifest_bytes");
BH_LAYOUT_ASSERT(offsetof(struct package_descriptor, package_bytes) == 24u, "package_descriptor.package_bytes");

BH_LAYOUT_ASSERT(sizeof(struct manifest_platform) == 192u, "size of manifest_platform");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gic_version) == 0u, "manifest_platform.gic_version");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, uart_type) == 4u, "manifest_platform.uart_type");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, psci_method) == 8u, "manifest_platform.psci_method");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, uart_irq) == 12u, "manifest_platform.uart_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicd_pa) == 16u, "manifest_platform.gicd_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicr_pa) == 24u, "manifest_platform.gicr_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicr_bytes) == 32u, "manifest_platform.gicr_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicc_pa) == 40u, "manifest_platform.gicc_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gich_pa) == 48u, "manifest_platform.gich_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicv_pa) == 56u, "manifest_platform.gicv_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, messages_pa) == 64u, "manifest_platform.messages_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, messages_bytes) == 72u, "manifest_platform.messages_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, uart_pa) == 80u, "manifest_platform.uart_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, uart_clock_hz) == 88u, "manifest_platform.uart_clock_hz");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, cnthp_irq) == 92u, "manifest_platform.cnthp_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, cntv_irq) == 96u, "manifest_platform.cntv_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, cntp_irq) == 100u, "manifest_platform.cntp_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, maintenance_irq) == 104u, "manifest_platform.maintenance_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, traffic_event) == 108u, "manifest_platform.traffic_event");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, overflow_backup_events) == 112u, "manifest_platform.overflow_backup_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, writeback_event) == 116u, "manifest_platform.writeback_event");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, access_event) == 120u, "manifest_platform.access_event");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, s2fwb) == 124u, "manifest_platform.s2fwb");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, color_bits) == 128u, "manifest_platform.color_bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, utilization_pa) == 136u, "manifest_platform.utilization_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, utilization_busy) == 144u, "manifest_platform.utilization_busy");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, utilization_cycles) == 148u, "manifest_platform.utilization_cycles");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, utilization_bits) == 152u, "manifest_platform.utilization_bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, utilization_control) == 156u, "manifest_platform.utilization_control");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, utilization_clear) == 160u, "manifest_platform.utilization_clear");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, utilization_enable) == 164u, "manifest_platform.utilization_enable");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, sram_pa) == 168u, "manifest_platform.sram_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, sram_bytes) == 176u, "manifest_platform.sram_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, broadcast_events) == 184u, "manifest_platform.broadcast_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, broadcast_icache_events) == 188u, "manifest_platform.broadcast_icache_events");

BH_LAYOUT_ASSERT(sizeof(struct manifest_hypervisor) == 48u, "size of manifest_hypervisor");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, pool_pa) == 0u, "manifest_hypervisor.pool_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, pool_bytes) == 8u, "manifest_hypervisor.pool_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, pool_color_set) == 16u, "manifest_hypervisor.pool_color_set");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, console_core) == 20u, "manifest_hypervisor.console_core");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, console_domain) == 24u, "manifest_hypervisor.console_domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, scheduler) == 28u, "manifest_hypervisor.scheduler");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, slice_ns) == 32u, "manifest_hypervisor.slice_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, run_for_ns) == 40u, "manifest_hypervisor.run_for_ns");

BH_LAYOUT_ASSERT(sizeof(struct manifest_tables) == 40u, "size of manifest_tables");
BH_LAYOUT_ASSERT(offsetof(struct manifest_tables, on_chip_pa) == 0u, "manifest_tables.on_chip_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_tables, on_chip_bytes) == 8u, "manifest_tables.on_chip_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_tables, colored_pa) == 16u, "manifest_tables.colored_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_tables, colored_bytes) == 24u, "manifest_tables.colored_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_tables, colored_set) == 32u, "manifest_tables.colored_set");
BH_LAYOUT_ASSERT(offsetof(struct manifest_tables, on_chip_cached) == 36u, "manifest_tables.on_chip_cached");

BH_LAYOUT_ASSERT(sizeof(struct manifest_regulation) == 136u, "size of manifest_regulation");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, policy) == 0u, "manifest_regulation.policy");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, hold) == 4u, "manifest_regulation.hold");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, threshold) == 8u, "manifest_regulation.threshold");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, step) == 12u, "manifest_regulation.step");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, members) == 16u, "manifest_regulation.members");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, regulated) == 20u, "manifest_regulation.regulated");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, store_samples) == 24u, "manifest_regulation.store_samples");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, horizon_intervals) == 28u, "manifest_regulation.horizon_intervals");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, interval_ns) == 32u, "manifest_regulation.interval_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, bandwidth_threshold_events) == 40u, "manifest_regulation.bandwidth_threshold_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, floor_events) == 48u, "manifest_regulation.floor_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, ceiling_events) == 56u, "manifest_regulation.ceiling_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, saturation_events) == 64u, "manifest_regulation.saturation_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_regulation, budget_events) == 72u, "manifest_regulation.budget_events");

BH_LAYOUT_ASSERT(sizeof(struct manifest_delays) == 32u, "size of manifest_delays");
BH_LAYOUT_ASSERT(offsetof(struct manifest_delays, event_ps) == 0u, "manifest_delays.event_ps");

BH_LAYOUT_ASSERT(sizeof(struct manifest_flow_costs) == 88u, "size of manifest_flow_costs");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, hypervisor_call_min) == 0u, "manifest_flow_costs.hypervisor_call_min");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, hypervisor_call_max) == 4u, "manifest_flow_costs.hypervisor_call_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, transport_min) == 8u, "manifest_flow_costs.transport_min");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, transport_max) == 12u, "manifest_flow_costs.transport_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, parse_max) == 16u, "manifest_flow_costs.parse_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, queue_lock_max) == 20u, "manifest_flow_costs.queue_lock_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, queue_insert_max) == 24u, "manifest_flow_costs.queue_insert_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, find_place_max) == 28u, "manifest_flow_costs.find_place_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, queue_remove_max) == 32u, "manifest_flow_costs.queue_remove_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, find_earliest_max) == 36u, "manifest_flow_costs.find_earliest_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, program_dma_max) == 40u, "manifest_flow_costs.program_dma_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, finalize_max) == 44u, "manifest_flow_costs.finalize_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, dma_interrupt_max) == 48u, "manifest_flow_costs.dma_interrupt_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, notify_max) == 52u, "manifest_flow_costs.notify_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, wake_max) == 56u, "manifest_flow_costs.wake_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, copy_max) == 60u, "manifest_flow_costs.copy_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, copied_bytes) == 64u, "manifest_flow_costs.copied_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, end_interrupts_max) == 68u, "manifest_flow_costs.end_interrupts_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, broker_interrupts_burst) == 72u, "manifest_flow_costs.broker_interrupts_burst");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, broker_interrupts_share) == 76u, "manifest_flow_costs.broker_interrupts_share");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, reserved) == 80u, "manifest_flow_costs.reserved");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow_costs, model) == 84u, "manifest_flow_costs.model");

BH_LAYOUT_ASSERT(sizeof(struct manifest_broker) == 152u, "size of manifest_broker");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, domain) == 0u, "manifest_broker.domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, chunk_bytes) == 4u, "manifest_broker.chunk_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, bytes_per_s) == 8u, "manifest_broker.bytes_per_s");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, patience_ns) == 16u, "manifest_broker.patience_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, engine) == 24u, "manifest_broker.engine");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, engine_irq) == 28u, "manifest_broker.engine_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, engine_pa) == 32u, "manifest_broker.engine_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, qos_pa) == 40u, "manifest_broker.qos_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, qos_rate) == 48u, "manifest_broker.qos_rate");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, stamps) == 52u, "manifest_broker.stamps");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, run_bytes) == 56u, "manifest_broker.run_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, reserved) == 60u, "manifest_broker.reserved");
BH_LAYOUT_ASSERT(offsetof(struct manifest_broker, costs) == 64u, "manifest_broker.costs");

BH_LAYOUT_ASSERT(sizeof(struct manifest_bandwidth) == 48u, "size of manifest_bandwidth");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth, event_bytes) == 0u, "manifest_bandwidth.event_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth, smallest_events) == 4u, "manifest_bandwidth.smallest_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth, access_bytes) == 8u, "manifest_bandwidth.access_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth, accesses_are_all) == 12u, "manifest_bandwidth.accesses_are_all");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth, limit_bytes_per_s) == 16u, "manifest_bandwidth.limit_bytes_per_s");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth, shortest_period_ns) == 24u, "manifest_bandwidth.shortest_period_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth, broker_bytes_per_s) == 32u, "manifest_bandwidth.broker_bytes_per_s");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth, broker_full_bytes_per_s) == 40u, "manifest_bandwidth.broker_full_bytes_per_s");

BH_LAYOUT_ASSERT(sizeof(struct manifest_device_regulators) == 96u, "size of manifest_device_regulators");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device_regulators, page_0) == 0u, "manifest_device_regulators.page_0");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device_regulators, page_1) == 8u, "manifest_device_regulators.page_1");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device_regulators, page_2) == 16u, "manifest_device_regulators.page_2");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device_regulators, page_3) == 24u, "manifest_device_regulators.page_3");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device_regulators, reads) == 32u, "manifest_device_regulators.reads");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device_regulators, writes) == 48u, "manifest_device_regulators.writes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device_regulators, unit_events) == 64u, "manifest_device_regulators.unit_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device_regulators, most) == 80u, "manifest_device_regulators.most");

BH_LAYOUT_ASSERT(sizeof(struct manifest_reset_pages) == 16u, "size of manifest_reset_pages");
BH_LAYOUT_ASSERT(offsetof(struct manifest_reset_pages, page_0) == 0u, "manifest_reset_pages.page_0");
BH_LAYOUT_ASSERT(offsetof(struct manifest_reset_pages, page_1) == 8u, "manifest_reset_pages.page_1");

BH_LAYOUT_ASSERT(sizeof(struct manifest_mpam) == 56u, "size of manifest_mpam");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, page_0) == 0u, "manifest_mpam.page_0");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, page_1) == 8u, "manifest_mpam.page_1");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, page_2) == 16u, "manifest_mpam.page_2");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, page_3) == 24u, "manifest_mpam.page_3");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, partid_max) == 32u, "manifest_mpam.partid_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, pmg_max) == 36u, "manifest_mpam.pmg_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, virtual_partids) == 40u, "manifest_mpam.virtual_partids");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, firmware_allows) == 44u, "manifest_mpam.firmware_allows");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, partid) == 48u, "manifest_mpam.partid");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam, pmg) == 52u, "manifest_mpam.pmg");

BH_LAYOUT_ASSERT(sizeof(struct manifest_smmu) == 24u, "size of manifest_smmu");
BH_LAYOUT_ASSERT(offsetof(struct manifest_smmu, pa) == 0u, "manifest_smmu.pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_smmu, stream_bits) == 8u, "manifest_smmu.stream_bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_smmu, event_irq) == 12u, "manifest_smmu.event_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_smmu, error_irq) == 16u, "manifest_smmu.error_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_smmu, version) == 20u, "manifest_smmu.version");

BH_LAYOUT_ASSERT(sizeof(struct manifest_pci) == 32u, "size of manifest_pci");
BH_LAYOUT_ASSERT(offsetof(struct manifest_pci, config_pa) == 0u, "manifest_pci.config_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_pci, config_bytes) == 8u, "manifest_pci.config_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_pci, others_pa) == 16u, "manifest_pci.others_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_pci, others_bytes) == 24u, "manifest_pci.others_bytes");

BH_LAYOUT_ASSERT(sizeof(struct manifest_its) == 24u, "size of manifest_its");
BH_LAYOUT_ASSERT(offsetof(struct manifest_its, pa) == 0u, "manifest_its.pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_its, pending_pa) == 8u, "manifest_its.pending_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_its, pending_bytes) == 16u, "manifest_its.pending_bytes");

BH_LAYOUT_ASSERT(sizeof(struct manifest_header) == 1240u, "size of manifest_header");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, magic) == 0u, "manifest_header.magic");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, version) == 4u, "manifest_header.version");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, layout_hash) == 8u, "manifest_header.layout_hash");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, total_bytes) == 12u, "manifest_header.total_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, crc32) == 16u, "manifest_header.crc32");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, reserved) == 20u, "manifest_header.reserved");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, platform) == 24u, "manifest_header.platform");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, hypervisor) == 216u, "manifest_header.hypervisor");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, tables) == 264u, "manifest_header.tables");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, regulation) == 304u, "manifest_header.regulation");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, delays) == 440u, "manifest_header.delays");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, broker) == 472u, "manifest_header.broker");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, second_broker) == 624u, "manifest_header.second_broker");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, bandwidth) == 776u, "manifest_header.bandwidth");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, device_regulators) == 824u, "manifest_header.device_regulators");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, reset_pages) == 920u, "manifest_header.reset_pages");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, mpam) == 936u, "manifest_header.mpam");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, smmu) == 992u, "manifest_header.smmu");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, pci) == 1016u, "manifest_header.pci");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, its) == 1048u, "manifest_header.its");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, cpus) == 1072u, "manifest_header.cpus");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, ram) == 1080u, "manifest_header.ram");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, color_sets) == 1088u, "manifest_header.color_sets");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, domains) == 1096u, "manifest_header.domains");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, vcpus) == 1104u, "manifest_header.vcpus");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, segments) == 1112u, "manifest_header.segments");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, images) == 1120u, "manifest_header.images");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, irqs) == 1128u, "manifest_header.irqs");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, devices) == 1136u, "manifest_header.devices");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, calls) == 1144u, "manifest_header.calls");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, flows) == 1152u, "manifest_header.flows");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, bandwidth_curve) == 1160u, "manifest_header.bandwidth_curve");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, bandwidth_table) == 1168u, "manifest_header.bandwidth_table");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, mpam_components) == 1176u, "manifest_header.mpam_components");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, mpam_instances) == 1184u, "manifest_header.mpam_instances");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, mpam_settings) == 1192u, "manifest_header.mpam_settings");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, mpam_words) == 1200u, "manifest_header.mpam_words");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, streams) == 1208u, "manifest_header.streams");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, functions) == 1216u, "manifest_header.functions");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, bridges) == 1224u, "manifest_header.bridges");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, resets) == 1232u, "manifest_header.resets");

BH_LAYOUT_ASSERT(sizeof(struct manifest_reset) == 24u, "size of manifest_reset");
BH_LAYOUT_ASSERT(offsetof(struct manifest_reset, domain) == 0u, "manifest_reset.domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_reset, page) == 4u, "manifest_reset.page");
BH_LAYOUT_ASSERT(offsetof(struct manifest_reset, offset) == 8u, "manifest_reset.offset");
BH_LAYOUT_ASSERT(offsetof(struct manifest_reset, mask) == 12u, "manifest_reset.mask");
BH_LAYOUT_ASSERT(offsetof(struct manifest_reset, held) == 16u, "manifest_reset.held");
BH_LAYOUT_ASSERT(offsetof(struct manifest_reset, hold_ns) == 20u, "manifest_reset.hold_ns");

BH_LAYOUT_ASSERT(sizeof(struct manifest_bandwidth_point) == 16u, "size of manifest_bandwidth_point");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth_point, bytes_per_s) == 0u, "manifest_bandwidth_point.bytes_per_s");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth_point, utilization) == 8u, "manifest_bandwidth_point.utilization");

BH_LAYOUT_ASSERT(sizeof(struct manifest_bandwidth_row) == 16u, "size of manifest_bandwidth_row");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth_row, cores) == 0u, "manifest_bandwidth_row.cores");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth_row, refills) == 4u, "manifest_bandwidth_row.refills");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bandwidth_row, bytes_per_s) == 8u, "manifest_bandwidth_row.bytes_per_s");

BH_LAYOUT_ASSERT(sizeof(struct manifest_mpam_component) == 32u, "size of manifest_mpam_component");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_component, version) == 0u, "manifest_mpam_component.version");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_component, instance_count) == 4u, "manifest_mpam_component.instance_count");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_component, error_irq) == 8u, "manifest_mpam_component.error_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_component, overflow_irq) == 12u, "manifest_mpam_component.overflow_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_component, not_ready_ns) == 16u, "manifest_mpam_component.not_ready_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_component, intpartid_max) == 24u, "manifest_mpam_component.intpartid_max");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_component, reserved) == 28u, "manifest_mpam_component.reserved");

BH_LAYOUT_ASSERT(sizeof(struct manifest_mpam_instance) == 48u, "size of manifest_mpam_instance");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, resource) == 0u, "manifest_mpam_instance.resource");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, offers) == 4u, "manifest_mpam_instance.offers");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, cache_portions) == 8u, "manifest_mpam_instance.cache_portions");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, capacity_bits) == 12u, "manifest_mpam_instance.capacity_bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, associativity_bits) == 16u, "manifest_mpam_instance.associativity_bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, bandwidth_bits) == 20u, "manifest_mpam_instance.bandwidth_bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, bandwidth_portions) == 24u, "manifest_mpam_instance.bandwidth_portions");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, internal_bits) == 28u, "manifest_mpam_instance.internal_bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, downstream_bits) == 32u, "manifest_mpam_instance.downstream_bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, storage_monitors) == 36u, "manifest_mpam_instance.storage_monitors");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, bandwidth_monitors) == 40u, "manifest_mpam_instance.bandwidth_monitors");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_instance, bandwidth_value_bits) == 44u, "manifest_mpam_instance.bandwidth_value_bits");

BH_LAYOUT_ASSERT(sizeof(struct manifest_mpam_setting) == 88u, "size of manifest_mpam_setting");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, component) == 0u, "manifest_mpam_setting.component");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, instance) == 4u, "manifest_mpam_setting.instance");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, partid) == 8u, "manifest_mpam_setting.partid");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, asked) == 12u, "manifest_mpam_setting.asked");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, cmax_part) == 16u, "manifest_mpam_setting.cmax_part");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, cmax_of) == 20u, "manifest_mpam_setting.cmax_of");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, cmin_part) == 24u, "manifest_mpam_setting.cmin_part");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, cmin_of) == 28u, "manifest_mpam_setting.cmin_of");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, associativity_part) == 32u, "manifest_mpam_setting.associativity_part");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, associativity_of) == 36u, "manifest_mpam_setting.associativity_of");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, mbw_min_part) == 40u, "manifest_mpam_setting.mbw_min_part");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, mbw_min_of) == 44u, "manifest_mpam_setting.mbw_min_of");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, mbw_max_part) == 48u, "manifest_mpam_setting.mbw_max_part");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, mbw_max_of) == 52u, "manifest_mpam_setting.mbw_max_of");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, stride) == 56u, "manifest_mpam_setting.stride");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, internal_priority) == 60u, "manifest_mpam_setting.internal_priority");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, downstream_priority) == 64u, "manifest_mpam_setting.downstream_priority");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, window_us) == 68u, "manifest_mpam_setting.window_us");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, first_word) == 72u, "manifest_mpam_setting.first_word");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, cache_words) == 76u, "manifest_mpam_setting.cache_words");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, bandwidth_words) == 80u, "manifest_mpam_setting.bandwidth_words");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_setting, reserved) == 84u, "manifest_mpam_setting.reserved");

BH_LAYOUT_ASSERT(sizeof(struct manifest_mpam_word) == 8u, "size of manifest_mpam_word");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_word, bits) == 0u, "manifest_mpam_word.bits");
BH_LAYOUT_ASSERT(offsetof(struct manifest_mpam_word, reserved) == 4u, "manifest_mpam_word.reserved");

BH_LAYOUT_ASSERT(sizeof(struct manifest_stream) == 8u, "size of manifest_stream");
BH_LAYOUT_ASSERT(offsetof(struct manifest_stream, domain) == 0u, "manifest_stream.domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_stream, stream) == 4u, "manifest_stream.stream");

BH_LAYOUT_ASSERT(sizeof(struct manifest_bridge) == 32u, "size of manifest_bridge");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bridge, requester) == 0u, "manifest_bridge.requester");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bridge, id) == 4u, "manifest_bridge.id");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bridge, bus) == 8u, "manifest_bridge.bus");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bridge, reserved) == 12u, "manifest_bridge.reserved");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bridge, memory_pa) == 16u, "manifest_bridge.memory_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_bridge, memory_bytes) == 24u, "manifest_bridge.memory_bytes");

BH_LAYOUT_ASSERT(sizeof(struct manifest_function) == 128u, "size of manifest_function");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, domain) == 0u, "manifest_function.domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, requester) == 4u, "manifest_function.requester");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, guest_slot) == 8u, "manifest_function.guest_slot");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, id) == 12u, "manifest_function.id");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, pin) == 16u, "manifest_function.pin");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, bar_kinds) == 20u, "manifest_function.bar_kinds");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, messages) == 24u, "manifest_function.messages");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, flags) == 28u, "manifest_function.flags");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, bar_pa) == 32u, "manifest_function.bar_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_function, bar_bytes) == 80u, "manifest_function.bar_bytes");

BH_LAYOUT_ASSERT(sizeof(struct manifest_cpu) == 16u, "size of manifest_cpu");
BH_LAYOUT_ASSERT(offsetof(struct manifest_cpu, mpidr) == 0u, "manifest_cpu.mpidr");
BH_LAYOUT_ASSERT(offsetof(struct manifest_cpu, pmu_irq) == 8u, "manifest_cpu.pmu_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_cpu, reserved) == 12u, "manifest_cpu.reserved");

BH_LAYOUT_ASSERT(sizeof(struct manifest_ram) == 16u, "size of manifest_ram");
BH_LAYOUT_ASSERT(offsetof(struct manifest_ram, pa) == 0u, "manifest_ram.pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_ram, bytes) == 8u, "manifest_ram.bytes");

BH_LAYOUT_ASSERT(sizeof(struct color_set_record) == 32u, "size of color_set_record");
BH_LAYOUT_ASSERT(offsetof(struct color_set_record, word) == 0u, "color_set_record.word");

BH_LAYOUT_ASSERT(sizeof(struct manifest_domain) == 216u, "size of manifest_domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, name) == 0u, "manifest_domain.name");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, entry_ipa) == 32u, "manifest_domain.entry_ipa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, boot_argument) == 40u, "manifest_domain.boot_argument");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, color_set) == 48u, "manifest_domain.color_set");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, flags) == 52u, "manifest_domain.flags");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, first_vcpu) == 56u, "manifest_domain.first_vcpu");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, vcpu_count) == 60u, "manifest_domain.vcpu_count");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, first_segment) == 64u, "manifest_domain.first_segment");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, segment_count) == 68u, "manifest_domain.segment_count");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, first_image) == 72u, "manifest_domain.first_image");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, image_count) == 76u, "manifest_domain.image_count");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, first_irq) == 80u, "manifest_domain.first_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, irq_count) == 84u, "manifest_domain.irq_count");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, first_device) == 88u, "manifest_domain.first_device");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, device_count) == 92u, "manifest_domain.device_count");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, first_call) == 96u, "manifest_domain.first_call");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, call_count) == 100u, "manifest_domain.call_count");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, budget_events) == 104u, "manifest_domain.budget_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, budget_period_ns) == 112u, "manifest_domain.budget_period_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, budget_chunk_events) == 120u, "manifest_domain.budget_chunk_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, budget_second_events) == 128u, "manifest_domain.budget_second_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, budget_slack_events) == 136u, "manifest_domain.budget_slack_events");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, budget_counts) == 144u, "manifest_domain.budget_counts");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, priority) == 148u, "manifest_domain.priority");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, cpu_budget_ns) == 152u, "manifest_domain.cpu_budget_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, cpu_period_ns) == 160u, "manifest_domain.cpu_period_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, socket_ipa) == 168u, "manifest_domain.socket_ipa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, socket_root_ipa) == 176u, "manifest_domain.socket_root_ipa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, socket_cid) == 184u, "manifest_domain.socket_cid");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, socket_irq) == 188u, "manifest_domain.socket_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, mpam_partid) == 192u, "manifest_domain.mpam_partid");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, mpam_virtual) == 196u, "manifest_domain.mpam_virtual");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, mpam_pmg) == 200u, "manifest_domain.mpam_pmg");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, table_memory) == 204u, "manifest_domain.table_memory");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, socket_broker) == 208u, "manifest_domain.socket_broker");
BH_LAYOUT_ASSERT(offsetof(struct manifest_domain, interrupted_ns) == 212u, "manifest_domain.interrupted_ns");

BH_LAYOUT_ASSERT(sizeof(struct manifest_vcpu) == 8u, "size of manifest_vcpu");
BH_LAYOUT_ASSERT(offsetof(struct manifest_vcpu, domain) == 0u, "manifest_vcpu.domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_vcpu, core) == 4u, "manifest_vcpu.core");

BH_LAYOUT_ASSERT(sizeof(struct manifest_segment) == 32u, "size of manifest_segment");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, ipa) == 0u, "manifest_segment.ipa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, bytes) == 8u, "manifest_segment.bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, pa) == 16u, "manifest_segment.pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, color_set) == 24u, "manifest_segment.color_set");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, flags) == 28u, "manifest_segment.flags");

BH_LAYOUT_ASSERT(sizeof(struct manifest_image) == 32u, "size of manifest_image");
BH_LAYOUT_ASSERT(offsetof(struct manifest_image, offset) == 0u, "manifest_image.offset");
BH_LAYOUT_ASSERT(offsetof(struct manifest_image, bytes) == 8u, "manifest_image.bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_image, ipa) == 16u, "manifest_image.ipa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_image, flags) == 24u, "manifest_image.flags");
BH_LAYOUT_ASSERT(offsetof(struct manifest_image, reserved) == 28u, "manifest_image.reserved");

BH_LAYOUT_ASSERT(sizeof(struct manifest_irq) == 8u, "size of manifest_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_irq, intid) == 0u, "manifest_irq.intid");
BH_LAYOUT_ASSERT(offsetof(struct manifest_irq, vcpu) == 4u, "manifest_irq.vcpu");

BH_LAYOUT_ASSERT(sizeof(struct manifest_device) == 24u, "size of manifest_device");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device, ipa) == 0u, "manifest_device.ipa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device, pa) == 8u, "manifest_device.pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_device, bytes) == 16u, "manifest_device.bytes");

BH_LAYOUT_ASSERT(sizeof(struct manifest_call) == 8u, "size of manifest_call");
BH_LAYOUT_ASSERT(offsetof(struct manifest_call, first) == 0u, "manifest_call.first");
BH_LAYOUT_ASSERT(offsetof(struct manifest_call, last) == 4u, "manifest_call.last");

BH_LAYOUT_ASSERT(sizeof(struct manifest_flow) == 48u, "size of manifest_flow");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, source) == 0u, "manifest_flow.source");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, destination) == 4u, "manifest_flow.destination");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, port) == 8u, "manifest_flow.port");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, packet_bytes) == 12u, "manifest_flow.packet_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, period_ns) == 16u, "manifest_flow.period_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, deadline_ns) == 24u, "manifest_flow.deadline_ns");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, transfers) == 32u, "manifest_flow.transfers");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, connections) == 36u, "manifest_flow.connections");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, answers) == 40u, "manifest_flow.answers");
BH_LAYOUT_ASSERT(offsetof(struct manifest_flow, group) == 44u, "manifest_flow.group");

BH_LAYOUT_ASSERT(sizeof(struct status_domain) == 72u, "size of status_domain");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, state) == 0u, "status_domain.state");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, end) == 4u, "status_domain.end");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, socket_failure) == 5u, "status_domain.socket_failure");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, socket_failures) == 6u, "status_domain.socket_failures");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, vttbr) == 8u, "status_domain.vttbr");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, vtcr) == 16u, "status_domain.vtcr");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, started_at) == 24u, "status_domain.started_at");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, ended_at) == 32u, "status_domain.ended_at");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, fault_pc) == 40u, "status_domain.fault_pc");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, fault_syndrome) == 48u, "status_domain.fault_syndrome");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, fault_address) == 56u, "status_domain.fault_address");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, restarts) == 64u, "status_domain.restarts");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, unheard_ticks) == 68u, "status_domain.unheard_ticks");

BH_LAYOUT_ASSERT(sizeof(struct status_regulation) == 88u, "size of status_regulation");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, samples) == 0u, "status_regulation.samples");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, missed) == 8u, "status_regulation.missed");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, given_up) == 16u, "status_regulation.given_up");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, unusable) == 24u, "status_regulation.unusable");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, changes) == 32u, "status_regulation.changes");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, global_events) == 40u, "status_regulation.global_events");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, global_sum_events) == 48u, "status_regulation.global_sum_events");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, global_min_events) == 56u, "status_regulation.global_min_events");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, global_max_events) == 64u, "status_regulation.global_max_events");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, load_sum) == 72u, "status_regulation.load_sum");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, load_min) == 80u, "status_regulation.load_min");
BH_LAYOUT_ASSERT(offsetof(struct status_regulation, load_max) == 84u, "status_regulation.load_max");

BH_LAYOUT_ASSERT(sizeof(struct status_flow) == 104u, "size of status_flow");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, packets) == 0u, "status_flow.packets");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, bytes) == 8u, "status_flow.bytes");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, control_packets) == 16u, "status_flow.control_packets");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, misses) == 24u, "status_flow.misses");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, replaced_misses) == 28u, "status_flow.replaced_misses");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, latency_max_ticks) == 32u, "status_flow.latency_max_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, latency_sum_ticks) == 40u, "status_flow.latency_sum_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, lost) == 48u, "status_flow.lost");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, refused) == 56u, "status_flow.refused");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, state) == 64u, "status_flow.state");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, unread) == 68u, "status_flow.unread");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, source) == 72u, "status_flow.source");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, destination) == 74u, "status_flow.destination");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, port) == 76u, "status_flow.port");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, packet_bytes) == 80u, "status_flow.packet_bytes");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, latency_min_ticks) == 84u, "status_flow.latency_min_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, period_ns) == 88u, "status_flow.period_ns");
BH_LAYOUT_ASSERT(offsetof(struct status_flow, deadline_ns) == 96u, "status_flow.deadline_ns");

BH_LAYOUT_ASSERT(sizeof(struct status_system) == 4096u, "size of status_system");
BH_LAYOUT_ASSERT(offsetof(struct status_system, magic) == 0u, "status_system.magic");
BH_LAYOUT_ASSERT(offsetof(struct status_system, version) == 4u, "status_system.version");
BH_LAYOUT_ASSERT(offsetof(struct status_system, phase) == 8u, "status_system.phase");
BH_LAYOUT_ASSERT(offsetof(struct status_system, end_reason) == 12u, "status_system.end_reason");
BH_LAYOUT_ASSERT(offsetof(struct status_system, refusal) == 16u, "status_system.refusal");
BH_LAYOUT_ASSERT(offsetof(struct status_system, refusal_offset) == 20u, "status_system.refusal_offset");
BH_LAYOUT_ASSERT(offsetof(struct status_system, core_count) == 24u, "status_system.core_count");
BH_LAYOUT_ASSERT(offsetof(struct status_system, domain_count) == 28u, "status_system.domain_count");
BH_LAYOUT_ASSERT(offsetof(struct status_system, counter_hz) == 32u, "status_system.counter_hz");
BH_LAYOUT_ASSERT(offsetof(struct status_system, started_at) == 40u, "status_system.started_at");
BH_LAYOUT_ASSERT(offsetof(struct status_system, ended_at) == 48u, "status_system.ended_at");
BH_LAYOUT_ASSERT(offsetof(struct status_system, ttbr0_el2) == 56u, "status_system.ttbr0_el2");
BH_LAYOUT_ASSERT(offsetof(struct status_system, pool_frames) == 64u, "status_system.pool_frames");
BH_LAYOUT_ASSERT(offsetof(struct status_system, pool_used) == 72u, "status_system.pool_used");
BH_LAYOUT_ASSERT(offsetof(struct status_system, failed_transfers) == 80u, "status_system.failed_transfers");
BH_LAYOUT_ASSERT(offsetof(struct status_system, transfer_ticks) == 88u, "status_system.transfer_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_system, regulation) == 96u, "status_system.regulation");
BH_LAYOUT_ASSERT(offsetof(struct status_system, mpam_frame) == 184u, "status_system.mpam_frame");
BH_LAYOUT_ASSERT(offsetof(struct status_system, smmu_frame) == 188u, "status_system.smmu_frame");
BH_LAYOUT_ASSERT(offsetof(struct status_system, domains) == 192u, "status_system.domains");
BH_LAYOUT_ASSERT(offsetof(struct status_system, flows) == 768u, "status_system.flows");

BH_LAYOUT_ASSERT(sizeof(struct status_budget) == 176u, "size of status_budget");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, events) == 0u, "status_budget.events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, periods) == 8u, "status_budget.periods");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, late_periods) == 16u, "status_budget.late_periods");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, throttled_periods) == 24u, "status_budget.throttled_periods");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, throttled_ticks) == 32u, "status_budget.throttled_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, overshoot_periods) == 40u, "status_budget.overshoot_periods");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, overshoot_events) == 48u, "status_budget.overshoot_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, overshoot_max_events) == 56u, "status_budget.overshoot_max_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, period_max_events) == 64u, "status_budget.period_max_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, second_events) == 72u, "status_budget.second_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, second_max_events) == 80u, "status_budget.second_max_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, limit_events) == 88u, "status_budget.limit_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, period_ticks) == 96u, "status_budget.period_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, changes) == 104u, "status_budget.changes");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, limit_intervals) == 112u, "status_budget.limit_intervals");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, limit_sum_events) == 120u, "status_budget.limit_sum_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, limit_min_events) == 128u, "status_budget.limit_min_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, limit_max_events) == 136u, "status_budget.limit_max_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, given_events) == 144u, "status_budget.given_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, drawn_events) == 152u, "status_budget.drawn_events");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, violations) == 160u, "status_budget.violations");
BH_LAYOUT_ASSERT(offsetof(struct status_budget, shortfall_events) == 168u, "status_budget.shortfall_events");

BH_LAYOUT_ASSERT(sizeof(struct status_device_limit) == 40u, "size of status_device_limit");
BH_LAYOUT_ASSERT(offsetof(struct status_device_limit, limit_events) == 0u, "status_device_limit.limit_events");
BH_LAYOUT_ASSERT(offsetof(struct status_device_limit, limit_sum_events) == 8u, "status_device_limit.limit_sum_events");
BH_LAYOUT_ASSERT(offsetof(struct status_device_limit, limit_min_events) == 16u, "status_device_limit.limit_min_events");
BH_LAYOUT_ASSERT(offsetof(struct status_device_limit, limit_max_events) == 24u, "status_device_limit.limit_max_events");
BH_LAYOUT_ASSERT(offsetof(struct status_device_limit, rate) == 32u, "status_device_limit.rate");
BH_LAYOUT_ASSERT(offsetof(struct status_device_limit, changes) == 36u, "status_device_limit.changes");

BH_LAYOUT_ASSERT(sizeof(struct status_sample) == 64u, "size of status_sample");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, time) == 0u, "status_sample.time");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, domain) == 8u, "status_sample.domain");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, vcpu) == 10u, "status_sample.vcpu");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, carried) == 12u, "status_sample.carried");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, events) == 16u, "status_sample.events");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, budget) == 24u, "status_sample.budget");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, throttled_ticks) == 32u, "status_sample.throttled_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, period_ticks) == 40u, "status_sample.period_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, global_events) == 48u, "status_sample.global_events");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, utilization) == 56u, "status_sample.utilization");
BH_LAYOUT_ASSERT(offsetof(struct status_sample, device_events) == 60u, "status_sample.device_events");

BH_LAYOUT_ASSERT(sizeof(struct packet_sample) == 32u, "size of packet_sample");
BH_LAYOUT_ASSERT(offsetof(struct packet_sample, release) == 0u, "packet_sample.release");
BH_LAYOUT_ASSERT(offsetof(struct packet_sample, begun) == 8u, "packet_sample.begun");
BH_LAYOUT_ASSERT(offsetof(struct packet_sample, delivered) == 16u, "packet_sample.delivered");
BH_LAYOUT_ASSERT(offsetof(struct packet_sample, flow) == 24u, "packet_sample.flow");
BH_LAYOUT_ASSERT(offsetof(struct packet_sample, bytes) == 28u, "packet_sample.bytes");

BH_LAYOUT_ASSERT(sizeof(struct status_vcpu) == 288u, "size of status_vcpu");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, domain) == 0u, "status_vcpu.domain");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, vcpu) == 4u, "status_vcpu.vcpu");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, state) == 8u, "status_vcpu.state");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, priority) == 12u, "status_vcpu.priority");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, dispatches) == 16u, "status_vcpu.dispatches");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, blocks) == 24u, "status_vcpu.blocks");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, run_ticks) == 32u, "status_vcpu.run_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, entered_at) == 40u, "status_vcpu.entered_at");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, out_of_order) == 48u, "status_vcpu.out_of_order");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, periods_due) == 56u, "status_vcpu.periods_due");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, cpu_periods) == 64u, "status_vcpu.cpu_periods");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, cpu_throttled_periods) == 72u, "status_vcpu.cpu_throttled_periods");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, cpu_max_ticks) == 80u, "status_vcpu.cpu_max_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, releases) == 88u, "status_vcpu.releases");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, release_sum_ticks) == 96u, "status_vcpu.release_sum_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, release_max_ticks) == 104u, "status_vcpu.release_max_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_vcpu, budget) == 112u, "status_vcpu.budget");

BH_LAYOUT_ASSERT(sizeof(struct status_path_cost) == 288u, "size of status_path_cost");
BH_LAYOUT_ASSERT(offsetof(struct status_path_cost, count) == 0u, "status_path_cost.count");
BH_LAYOUT_ASSERT(offsetof(struct status_path_cost, min) == 8u, "status_path_cost.min");
BH_LAYOUT_ASSERT(offsetof(struct status_path_cost, max) == 16u, "status_path_cost.max");
BH_LAYOUT_ASSERT(offsetof(struct status_path_cost, sum) == 24u, "status_path_cost.sum");
BH_LAYOUT_ASSERT(offsetof(struct status_path_cost, histogram) == 32u, "status_path_cost.histogram");

BH_LAYOUT_ASSERT(sizeof(struct status_path_costs) == 2592u, "size of status_path_costs");
BH_LAYOUT_ASSERT(offsetof(struct status_path_costs, parts) == 0u, "status_path_costs.parts");

BH_LAYOUT_ASSERT(sizeof(struct status_mpam_monitor) == 24u, "size of status_mpam_monitor");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_monitor, component) == 0u, "status_mpam_monitor.component");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_monitor, instance) == 1u, "status_mpam_monitor.instance");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_monitor, kind) == 2u, "status_mpam_monitor.kind");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_monitor, flags) == 3u, "status_mpam_monitor.flags");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_monitor, partid) == 4u, "status_mpam_monitor.partid");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_monitor, owner) == 6u, "status_mpam_monitor.owner");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_monitor, bytes) == 8u, "status_mpam_monitor.bytes");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_monitor, most_bytes) == 16u, "status_mpam_monitor.most_bytes");

BH_LAYOUT_ASSERT(sizeof(struct status_mpam_register) == 16u, "size of status_mpam_register");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_register, component) == 0u, "status_mpam_register.component");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_register, instance) == 1u, "status_mpam_register.instance");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_register, partid) == 2u, "status_mpam_register.partid");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_register, offset) == 4u, "status_mpam_register.offset");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_register, value) == 8u, "status_mpam_register.value");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam_register, reserved) == 12u, "status_mpam_register.reserved");

BH_LAYOUT_ASSERT(sizeof(struct status_mpam) == 1768u, "size of status_mpam");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, state) == 0u, "status_mpam.state");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, version) == 4u, "status_mpam.version");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, partid_max) == 8u, "status_mpam.partid_max");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, pmg_max) == 12u, "status_mpam.pmg_max");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, start_ticks) == 16u, "status_mpam.start_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, writes) == 24u, "status_mpam.writes");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, reads) == 32u, "status_mpam.reads");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, read_sum_ticks) == 40u, "status_mpam.read_sum_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, read_max_ticks) == 48u, "status_mpam.read_max_ticks");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, errors) == 56u, "status_mpam.errors");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, error_interrupts) == 184u, "status_mpam.error_interrupts");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, last_error) == 192u, "status_mpam.last_error");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, last_component) == 196u, "status_mpam.last_component");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, dump_frame) == 200u, "status_mpam.dump_frame");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, dump_count) == 208u, "status_mpam.dump_count");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, dump_left_out) == 212u, "status_mpam.dump_left_out");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, dump_at) == 216u, "status_mpam.dump_at");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, monitor_count) == 224u, "status_mpam.monitor_count");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, without_monitor) == 228u, "status_mpam.without_monitor");
BH_LAYOUT_ASSERT(offsetof(struct status_mpam, monitors) == 232u, "status_mpam.monitors");

BH_LAYOUT_ASSERT(sizeof(struct status_smmu) == 136u, "size of status_smmu");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, refused) == 0u, "status_smmu.refused");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, nobody) == 64u, "status_smmu.nobody");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, other) == 72u, "status_smmu.other");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, overflows) == 80u, "status_smmu.overflows");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, global_errors) == 88u, "status_smmu.global_errors");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, interrupts) == 96u, "status_smmu.interrupts");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, unanswered) == 104u, "status_smmu.unanswered");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, last_type) == 112u, "status_smmu.last_type");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, last_stream) == 116u, "status_smmu.last_stream");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, last_address) == 120u, "status_smmu.last_address");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, last_error) == 128u, "status_smmu.last_error");
BH_LAYOUT_ASSERT(offsetof(struct status_smmu, reserved) == 132u, "status_smmu.reserved");

BH_LAYOUT_ASSERT(sizeof(struct status_core) == 3040u, "size of status_core");
BH_LAYOUT_ASSERT(offsetof(struct status_core, magic) == 0u, "status_core.magic");
BH_LAYOUT_ASSERT(offsetof(struct status_core, core) == 4u, "status_core.core");
BH_LAYOUT_ASSERT(offsetof(struct status_core, domain) == 8u, "status_core.domain");
BH_LAYOUT_ASSERT(offsetof(struct status_core, vcpu) == 12u, "status_core.vcpu");
BH_LAYOUT_ASSERT(offsetof(struct status_core, idle) == 16u, "status_core.idle");
BH_LAYOUT_ASSERT(offsetof(struct status_core, shared_count) == 20u, "status_core.shared_count");
BH_LAYOUT_ASSERT(offsetof(struct status_core, entered_at) == 24u, "status_core.entered_at");
BH_LAYOUT_ASSERT(offsetof(struct status_core, exits) == 32u, "status_core.exits");
BH_LAYOUT_ASSERT(offsetof(struct status_core, injected) == 352u, "status_core.injected");
BH_LAYOUT_ASSERT(offsetof(struct status_core, list_register_full) == 360u, "status_core.list_register_full");
BH_LAYOUT_ASSERT(offsetof(struct status_core, budget) == 368u, "status_core.budget");
BH_LAYOUT_ASSERT(offsetof(struct status_core, samples_pa) == 544u, "status_core.samples_pa");
BH_LAYOUT_ASSERT(offsetof(struct status_core, samples_bytes) == 552u, "status_core.samples_bytes");
BH_LAYOUT_ASSERT(offsetof(struct status_core, switches) == 560u, "status_core.switches");
BH_LAYOUT_ASSERT(offsetof(struct status_core, paths_frame) == 568u, "status_core.paths_frame");
BH_LAYOUT_ASSERT(offsetof(struct status_core, shared) == 576u, "status_core.shared");
BH_LAYOUT_ASSERT(offsetof(struct status_core, devices) == 2880u, "status_core.devices");

#undef BH_LAYOUT_ASSERT

#endif /* BULKHEAD_LAYOUT_H */
