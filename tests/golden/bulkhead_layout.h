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
#define BH_LAYOUT_HASH 0x8AC306DFu
#define BH_LAYOUT_VERSION 1u

#define BH_MANIFEST_MAGIC 0x314D4842u /* "BHM1" */
#define BH_STATUS_MAGIC 0x31534842u /* "BHS1" */
#define BH_PACKAGE_MAGIC 0x504B4842u /* "BHKP" */
#define BH_PACKAGE_VERSION 1u
#define BH_PACKAGE_DESCRIPTOR_OFFSET 64u /* in the hypervisor's image: behind the arm64 Image header */
#define BH_PAGE_BYTES 4096u
#define BH_MAX_CORES 8u
#define BH_MAX_DOMAINS 8u
#define BH_MAX_VCPUS 16u
#define BH_MAX_SEGMENTS 64u
#define BH_MAX_IMAGES 64u
#define BH_MAX_IRQS 64u
#define BH_MAX_RAM 8u
#define BH_MAX_INTID 288u /* shared interrupts that a guest can have are below this */
#define BH_MAX_DEVICES 32u
#define BH_VIRTUAL_TIMER_INTID 27u /* private interrupts of a guest's own timers, physically and virtually */
#define BH_PHYSICAL_TIMER_INTID 30u
#define BH_MAX_COLOR_SETS 32u
#define BH_COLOR_SET_WORDS 4u /* 256 colors: LLC color bits and bank bits together */
#define BH_MAX_MANIFEST_BYTES 65536u
#define BH_NAME_BYTES 32u
#define BH_ALL_DOMAINS 0xFFFFFFFFu /* "none" where a domain index is expected */
#define BH_HYPERCALL_COUNT 0x8600FF00u /* answer: how many of the calls below there are */
#define BH_HYPERCALL_UID 0x8600FF01u /* answer: the four words below */
#define BH_HYPERCALL_REVISION 0x8600FF03u /* answer: x0 major, x1 minor */
#define BH_HYPERCALL_OWN_EXITS 0xC6000010u /* x1 exit_reason. Answer: x1 how often the core that asks has left its guest for it */
#define BH_HYPERCALL_DOMAIN_STATE 0xC6000000u /* answer: x1 domain_state, x2 domain_end of the last end, x3 restarts */
#define BH_HYPERCALL_DOMAIN_STOP 0xC6000001u /* answer: x1 the domain_state that it had; one that has ended stays so */
#define BH_HYPERCALL_DOMAIN_RESTART 0xC6000002u /* whatever its state. Answer: x1 the domain_state that it had */
#define BH_HYPERCALL_MACHINE_END 0xC6000003u /* ends the run of all domains */
#define BH_HYPERCALL_OWN_COUNT 5u
#define BH_HYPERCALL_MAJOR 1u
#define BH_HYPERCALL_MINOR 0u
#define BH_HYPERCALL_UID_0 0x6B6C7562u /* 62756c6b-6865-6164-8000-000000000001: "bulkhead" */
#define BH_HYPERCALL_UID_1 0x64616568u
#define BH_HYPERCALL_UID_2 0x80u
#define BH_HYPERCALL_UID_3 0x1000000u

enum bh_gic_version {
    BH_GIC_VERSION_GICV2 = 2,
    BH_GIC_VERSION_GICV3 = 3,
};
#define BH_GIC_VERSION_COUNT 4u /* highest + 1 */

enum bh_uart_type {
    BH_UART_TYPE_PL011 = 1,
    BH_UART_TYPE_CADENCE = 2,
};
#define BH_UART_TYPE_COUNT 3u /* highest + 1 */

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
};
#define BH_DOMAIN_FLAG_COUNT 17u /* highest + 1 */

enum bh_image_flag {
    BH_IMAGE_FLAG_IN_PLACE = 1, /* already where the domain's memory is: nothing to copy */
};
#define BH_IMAGE_FLAG_COUNT 2u /* highest + 1 */

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
    BH_HYPERCALL_ERROR_NONE = 0,
    BH_HYPERCALL_ERROR_NOT_SUPPORTED = 1,
    BH_HYPERCALL_ERROR_INVALID_PARAMETERS = 2, /* no such domain */
    BH_HYPERCALL_ERROR_NOT_LOADABLE = 3, /* its images were loaded in place: there is nothing to load them from again */
};
#define BH_HYPERCALL_ERROR_COUNT 4u /* highest + 1 */

enum bh_domain_end {
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

enum bh_manifest_error {
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
    BH_MANIFEST_ERROR_VCPU = 16, /* wrong domain, unknown core, or a core used twice */
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
};
#define BH_MANIFEST_ERROR_COUNT 32u /* highest + 1 */

enum bh_exit_reason {
    BH_EXIT_REASON_HVC = 0,
    BH_EXIT_REASON_SMC = 1,
    BH_EXIT_REASON_WFX = 2,
    BH_EXIT_REASON_ID_REGISTER = 3,
    BH_EXIT_REASON_PMU_REGISTER = 4,
    BH_EXIT_REASON_SGI_REGISTER = 5,
    BH_EXIT_REASON_DEBUG_REGISTER = 6,
    BH_EXIT_REASON_OTHER_REGISTER = 7, /* answered with an undefined-instruction exception */
    BH_EXIT_REASON_GICD_ACCESS = 8,
    BH_EXIT_REASON_GICR_ACCESS = 9,
    BH_EXIT_REASON_UART_ACCESS = 10,
    BH_EXIT_REASON_LAZY_MAP = 11,
    BH_EXIT_REASON_STAGE2_FAULT = 12,
    BH_EXIT_REASON_FP_TRAP = 13,
    BH_EXIT_REASON_UNEXPECTED = 14,
    BH_EXIT_REASON_SERROR = 15,
    BH_EXIT_REASON_IRQ_TIMER = 16, /* the guest's own timers */
    BH_EXIT_REASON_IRQ_DEVICE = 17, /* pass-through SPI */
    BH_EXIT_REASON_IRQ_IPI = 18, /* from another core of the hypervisor */
    BH_EXIT_REASON_IRQ_MAINTENANCE = 19,
    BH_EXIT_REASON_IRQ_CONSOLE = 20,
    BH_EXIT_REASON_IRQ_HYPERVISOR_TIMER = 21,
    BH_EXIT_REASON_IRQ_SPURIOUS = 22,
    BH_EXIT_REASON_IRQ_UNEXPECTED = 23,
    BH_EXIT_REASON_CACHE_SET_WAY = 24,
};
#define BH_EXIT_REASON_COUNT 25u /* highest + 1 */

struct table_ref { /* where a table of records lies, from the start of the manifest */
    uint32_t offset;
    uint32_t count;
};

struct package_descriptor { /* patched by the builder in the hypervisor's image */
    uint32_t magic;
    uint32_t version;
    uint64_t manifest_offset; /* from the load address, a multiple of 4096 */
    uint64_t manifest_bytes;
    uint64_t package_bytes; /* of image, manifest and all images in the load area */
};

struct manifest_platform {
    uint32_t gic_version;
    uint32_t uart_type;
    uint32_t psci_method;
    uint32_t uart_irq;
    uint64_t gicd_pa; /* distributor, 64 KiB on v3, 4 KiB on v2 */
    uint64_t gicr_pa; /* redistributors (v3), 128 KiB a core in the order of `cpus`; 0 on v2 */
    uint64_t gicc_pa; /* CPU interface (v2); 0 on v3 */
    uint64_t gich_pa; /* hypervisor interface (v2) */
    uint64_t gicv_pa; /* virtual CPU interface (v2) */
    uint64_t uart_pa;
    uint32_t uart_clock_hz;
    uint32_t cnthp_irq; /* EL2 physical timer, 26 */
    uint32_t cntv_irq; /* virtual_timer_intid */
    uint32_t cntp_irq; /* physical_timer_intid */
    uint32_t maintenance_irq; /* 25 */
    uint32_t reserved;
    uint64_t color_bits; /* address bits that make a color; 0: memory is not colored */
};

struct manifest_hypervisor {
    uint64_t pool_pa; /* first frame of the hypervisor's memory */
    uint64_t pool_bytes; /* bytes of it, colored: image, tables, stacks, buffers */
    uint32_t pool_color_set; /* index into color_sets */
    uint32_t console_core; /* index into cpus: drains the UART and takes its interrupt */
    uint32_t console_domain; /* who gets typed input at first, or all_domains */
    uint32_t reserved;
    uint64_t run_for_ns; /* stop the machine after that much time from the start; 0: never */
};

struct manifest_header {
    uint32_t magic;
    uint32_t version;
    uint32_t layout_hash; /* CRC-32 of the canonical layout: catches a tool and a hypervisor of different builds */
    uint32_t total_bytes;
    uint32_t crc32; /* IEEE CRC-32 of the whole manifest with this field as zero */
    uint32_t reserved;
    struct manifest_platform platform;
    struct manifest_hypervisor hypervisor;
    struct table_ref cpus;
    struct table_ref ram;
    struct table_ref color_sets;
    struct table_ref domains;
    struct table_ref vcpus;
    struct table_ref segments;
    struct table_ref images;
    struct table_ref irqs;
    struct table_ref devices;
};

struct manifest_cpu {
    uint64_t mpidr; /* affinity fields only */
    uint32_t pmu_irq; /* its performance monitors': a private one (23), or its own line; 0: not connected */
    uint32_t reserved;
};

struct manifest_ram {
    uint64_t pa;
    uint64_t bytes;
};

struct color_set_record {
    uint64_t word[4]; /* bit c % 64 of word c / 64: color c */
};

struct manifest_domain {
    char name[32];
    uint64_t entry_ipa;
    uint64_t boot_argument; /* x0 of VCPU 0 at entry: IPA of the device tree */
    uint32_t color_set; /* what was promised (index); the segments are what is mapped */
    uint32_t flags;
    uint32_t first_vcpu;
    uint32_t vcpu_count;
    uint32_t first_segment;
    uint32_t segment_count;
    uint32_t first_image;
    uint32_t image_count;
    uint32_t first_irq;
    uint32_t irq_count;
    uint32_t first_device;
    uint32_t device_count;
};

struct manifest_vcpu {
    uint32_t domain;
    uint32_t core; /* index into cpus */
};

struct manifest_segment {
    uint64_t ipa;
    uint64_t bytes;
    uint64_t pa; /* of the first granule: aligned to a granule, its color in the set */
    uint32_t color_set;
    uint32_t reserved;
};

struct manifest_image {
    uint64_t offset; /* of the source, from the load address of the package; a multiple of 4096 */
    uint64_t bytes; /* a multiple of 16: zeros after the source's end */
    uint64_t ipa; /* a multiple of 16 */
    uint32_t flags;
    uint32_t reserved;
};

struct manifest_irq { /* pass-through SPI, same number for the guest */
    uint32_t intid;
    uint32_t vcpu; /* its first target: VCPU index in the domain */
};

struct manifest_device { /* pass-through registers */
    uint64_t ipa;
    uint64_t pa;
    uint64_t bytes;
};

struct status_domain {
    uint32_t state;
    uint32_t end; /* domain_end of the last end: a restart leaves it */
    uint64_t vttbr;
    uint64_t started_at; /* counter value */
    uint64_t ended_at;
    uint64_t fault_pc;
    uint64_t fault_syndrome; /* ESR_EL2 */
    uint64_t fault_address; /* guest-physical, where there is one */
    uint32_t restarts;
    uint32_t reserved;
};

struct status_system {
    uint32_t magic;
    uint32_t version;
    uint32_t phase; /* the observer starts to count at the store of `started` */
    uint32_t end_reason;
    uint32_t refusal; /* manifest_error, with phase refused */
    uint32_t refusal_offset; /* of the offending field in the manifest */
    uint32_t core_count;
    uint32_t domain_count;
    uint64_t counter_hz;
    uint64_t started_at; /* counter when all images were loaded and all cores ready */
    uint64_t ended_at;
    uint64_t ttbr0_el2;
    uint64_t pool_frames;
    uint64_t pool_used;
    struct status_domain domains[8];
};

struct status_core {
    uint32_t magic;
    uint32_t core;
    uint32_t domain;
    uint32_t vcpu;
    uint32_t idle; /* 1: no guest runs here any more */
    uint32_t reserved;
    uint64_t entered_at; /* counter at the first entry to a guest */
    uint64_t exits[32]; /* by exit_reason */
    uint64_t injected; /* virtual interrupts made pending */
    uint64_t list_register_full; /* times that a virtual interrupt had to wait */
};

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

BH_LAYOUT_ASSERT(sizeof(struct manifest_platform) == 96u, "size of manifest_platform");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gic_version) == 0u, "manifest_platform.gic_version");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, uart_type) == 4u, "manifest_platform.uart_type");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, psci_method) == 8u, "manifest_platform.psci_method");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, uart_irq) == 12u, "manifest_platform.uart_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicd_pa) == 16u, "manifest_platform.gicd_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicr_pa) == 24u, "manifest_platform.gicr_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicc_pa) == 32u, "manifest_platform.gicc_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gich_pa) == 40u, "manifest_platform.gich_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, gicv_pa) == 48u, "manifest_platform.gicv_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, uart_pa) == 56u, "manifest_platform.uart_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, uart_clock_hz) == 64u, "manifest_platform.uart_clock_hz");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, cnthp_irq) == 68u, "manifest_platform.cnthp_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, cntv_irq) == 72u, "manifest_platform.cntv_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, cntp_irq) == 76u, "manifest_platform.cntp_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, maintenance_irq) == 80u, "manifest_platform.maintenance_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, reserved) == 84u, "manifest_platform.reserved");
BH_LAYOUT_ASSERT(offsetof(struct manifest_platform, color_bits) == 88u, "manifest_platform.color_bits");

BH_LAYOUT_ASSERT(sizeof(struct manifest_hypervisor) == 40u, "size of manifest_hypervisor");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, pool_pa) == 0u, "manifest_hypervisor.pool_pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, pool_bytes) == 8u, "manifest_hypervisor.pool_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, pool_color_set) == 16u, "manifest_hypervisor.pool_color_set");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, console_core) == 20u, "manifest_hypervisor.console_core");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, console_domain) == 24u, "manifest_hypervisor.console_domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, reserved) == 28u, "manifest_hypervisor.reserved");
BH_LAYOUT_ASSERT(offsetof(struct manifest_hypervisor, run_for_ns) == 32u, "manifest_hypervisor.run_for_ns");

BH_LAYOUT_ASSERT(sizeof(struct manifest_header) == 232u, "size of manifest_header");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, magic) == 0u, "manifest_header.magic");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, version) == 4u, "manifest_header.version");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, layout_hash) == 8u, "manifest_header.layout_hash");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, total_bytes) == 12u, "manifest_header.total_bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, crc32) == 16u, "manifest_header.crc32");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, reserved) == 20u, "manifest_header.reserved");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, platform) == 24u, "manifest_header.platform");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, hypervisor) == 120u, "manifest_header.hypervisor");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, cpus) == 160u, "manifest_header.cpus");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, ram) == 168u, "manifest_header.ram");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, color_sets) == 176u, "manifest_header.color_sets");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, domains) == 184u, "manifest_header.domains");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, vcpus) == 192u, "manifest_header.vcpus");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, segments) == 200u, "manifest_header.segments");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, images) == 208u, "manifest_header.images");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, irqs) == 216u, "manifest_header.irqs");
BH_LAYOUT_ASSERT(offsetof(struct manifest_header, devices) == 224u, "manifest_header.devices");

BH_LAYOUT_ASSERT(sizeof(struct manifest_cpu) == 16u, "size of manifest_cpu");
BH_LAYOUT_ASSERT(offsetof(struct manifest_cpu, mpidr) == 0u, "manifest_cpu.mpidr");
BH_LAYOUT_ASSERT(offsetof(struct manifest_cpu, pmu_irq) == 8u, "manifest_cpu.pmu_irq");
BH_LAYOUT_ASSERT(offsetof(struct manifest_cpu, reserved) == 12u, "manifest_cpu.reserved");

BH_LAYOUT_ASSERT(sizeof(struct manifest_ram) == 16u, "size of manifest_ram");
BH_LAYOUT_ASSERT(offsetof(struct manifest_ram, pa) == 0u, "manifest_ram.pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_ram, bytes) == 8u, "manifest_ram.bytes");

BH_LAYOUT_ASSERT(sizeof(struct color_set_record) == 32u, "size of color_set_record");
BH_LAYOUT_ASSERT(offsetof(struct color_set_record, word) == 0u, "color_set_record.word");

BH_LAYOUT_ASSERT(sizeof(struct manifest_domain) == 96u, "size of manifest_domain");
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

BH_LAYOUT_ASSERT(sizeof(struct manifest_vcpu) == 8u, "size of manifest_vcpu");
BH_LAYOUT_ASSERT(offsetof(struct manifest_vcpu, domain) == 0u, "manifest_vcpu.domain");
BH_LAYOUT_ASSERT(offsetof(struct manifest_vcpu, core) == 4u, "manifest_vcpu.core");

BH_LAYOUT_ASSERT(sizeof(struct manifest_segment) == 32u, "size of manifest_segment");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, ipa) == 0u, "manifest_segment.ipa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, bytes) == 8u, "manifest_segment.bytes");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, pa) == 16u, "manifest_segment.pa");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, color_set) == 24u, "manifest_segment.color_set");
BH_LAYOUT_ASSERT(offsetof(struct manifest_segment, reserved) == 28u, "manifest_segment.reserved");

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

BH_LAYOUT_ASSERT(sizeof(struct status_domain) == 64u, "size of status_domain");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, state) == 0u, "status_domain.state");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, end) == 4u, "status_domain.end");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, vttbr) == 8u, "status_domain.vttbr");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, started_at) == 16u, "status_domain.started_at");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, ended_at) == 24u, "status_domain.ended_at");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, fault_pc) == 32u, "status_domain.fault_pc");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, fault_syndrome) == 40u, "status_domain.fault_syndrome");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, fault_address) == 48u, "status_domain.fault_address");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, restarts) == 56u, "status_domain.restarts");
BH_LAYOUT_ASSERT(offsetof(struct status_domain, reserved) == 60u, "status_domain.reserved");

BH_LAYOUT_ASSERT(sizeof(struct status_system) == 592u, "size of status_system");
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
BH_LAYOUT_ASSERT(offsetof(struct status_system, domains) == 80u, "status_system.domains");

BH_LAYOUT_ASSERT(sizeof(struct status_core) == 304u, "size of status_core");
BH_LAYOUT_ASSERT(offsetof(struct status_core, magic) == 0u, "status_core.magic");
BH_LAYOUT_ASSERT(offsetof(struct status_core, core) == 4u, "status_core.core");
BH_LAYOUT_ASSERT(offsetof(struct status_core, domain) == 8u, "status_core.domain");
BH_LAYOUT_ASSERT(offsetof(struct status_core, vcpu) == 12u, "status_core.vcpu");
BH_LAYOUT_ASSERT(offsetof(struct status_core, idle) == 16u, "status_core.idle");
BH_LAYOUT_ASSERT(offsetof(struct status_core, reserved) == 20u, "status_core.reserved");
BH_LAYOUT_ASSERT(offsetof(struct status_core, entered_at) == 24u, "status_core.entered_at");
BH_LAYOUT_ASSERT(offsetof(struct status_core, exits) == 32u, "status_core.exits");
BH_LAYOUT_ASSERT(offsetof(struct status_core, injected) == 288u, "status_core.injected");
BH_LAYOUT_ASSERT(offsetof(struct status_core, list_register_full) == 296u, "status_core.list_register_full");

#undef BH_LAYOUT_ASSERT

#endif /* BULKHEAD_LAYOUT_H */
