// SPDX-License-Identifier: Apache-2.0
// Target `manifest`: manifest_check() on any bytes, and what the hypervisor builds from an accepted manifest.
// The envelope (magic, versions, size, checksum) is corrected, so that the bytes after it are tested; a first
// byte of 0xFF leaves the envelope as it is. Every stage-2 table, EL2's own tables and every load of an image
// must stay in the frames that the accepted manifest gives to their owner.
#include "input.h"
#include "require.h"

#include <stdatomic.h> // included first: lets C++ read the hypervisor's headers

#include "core/crc32.h"
#include "core/manifest.h"
#include "core/socket_reach.h"

#include <algorithm>
#include <memory>
#include <vector>

extern "C" {
#include "arch/hosted/fake_registers.h"
#include "boot/boot.h"
#include "memory/mmu.h"
#include "memory/placement.h"
#include "memory/pool.h"
#include "memory/stage2.h"
#include "memory/table_memory.h"
#include "memory/window.h"
#include "run/loader.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
}

namespace {

using namespace bulkhead_fuzz;

constexpr uint64_t package_bytes = 0x10000;
constexpr uint64_t load_address = 0x7F000000;
constexpr uint64_t pool_frames = 64; // the host's memory for the pool, whatever size the manifest states
constexpr uint64_t largest_reload = 0x100000;
constexpr uint64_t page = BH_PAGE_BYTES;
constexpr uint64_t output_bits = 0xFFFFFFFFF000;
constexpr uint64_t execute_never = UINT64_C(1) << 54;

// The owner of the image being loaded, to check the windows that are opened for it.
struct Loading {
    const manifest_header *manifest = nullptr;
    const manifest_domain *domain = nullptr;
};
Loading loading;

uint64_t memory_of(const manifest_header *manifest, const manifest_domain &domain)
{
    const manifest_segment *segments = manifest_segments(manifest) + domain.first_segment;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < domain.segment_count; i++) {
        bytes += segments[i].bytes;
    }
    return bytes;
}

// Counts a step for each KiB, and for each quarter of a KiB of an image, which the end of a page may cut in
// two on either side.
uint64_t most_reload_steps(const manifest_header *manifest, const manifest_domain &domain)
{
    const manifest_image *images = manifest_images(manifest) + domain.first_image;
    uint64_t steps = memory_of(manifest, domain) / 1024 + domain.segment_count;

    for (uint32_t i = 0; i < domain.image_count; i++) {
        steps += 18 * (images[i].bytes / page + 1);
    }
    return steps + 1;
}

bool range_has(const color_range &range, uint64_t bytes, uint64_t pa)
{
    return pa >= range.first.value && pa < color_end(&range, bytes).value &&
           (range.space.bits == 0 || color_set_has(range.set, color_of(range.space, paddr(pa))));
}

bool owns_frame(const manifest_header *manifest, const manifest_domain &domain, uint64_t pa)
{
    const manifest_segment *segments = manifest_segments(manifest) + domain.first_segment;

    return std::any_of(segments, segments + domain.segment_count, [&](const manifest_segment &segment) {
        return range_has(manifest_segment_range(manifest, &segment), segment.bytes, pa);
    });
}

bool owns_device(const manifest_header *manifest, const manifest_domain &domain, uint64_t pa)
{
    const manifest_device *devices = manifest_devices(manifest) + domain.first_device;

    return std::any_of(devices, devices + domain.device_count, [&](const manifest_device &device) {
        return pa >= device.pa && pa - device.pa < device.bytes;
    });
}

// Calls `visit(input, output, bytes, descriptor)` for every leaf below a root; of a block it visits, page by
// page, only the pages near its two ends.
template <typename Visit>
void each_leaf(const pool &pool, uint64_t table, unsigned level, uint64_t base, Visit visit)
{
    const auto *entries =
        static_cast<const uint64_t *>(pool_pointer(table_memory_holding(&pool, paddr(table)), paddr(table)));
    const unsigned shift = 12 + 9 * (3 - level);

    for (uint64_t i = 0; i < 512; i++) {
        const uint64_t descriptor = entries[i];
        const uint64_t input = base + (i << shift);
        if ((descriptor & 1) == 0) {
            continue;
        }
        if (level < 3 && (descriptor & 2) != 0) {
            each_leaf(pool, descriptor & output_bits, level + 1, input, visit);
        } else {
            require(level == 3 ? (descriptor & 2) != 0 : level > 0, "a leaf where none can be");
            visit(input, descriptor & output_bits, uint64_t{1} << shift, descriptor);
        }
    }
}

// MemAttr[3:0] that a leaf must have; HCR_EL2.FWB, if the platform has it, changes its meaning (T5).
uint64_t memory_type(const manifest_header *manifest, const manifest_domain &domain, bool device)
{
    if (device) {
        return 0x1;
    }
    if (manifest->platform.s2fwb == 0) {
        return 0xF;
    }
    return (domain.flags & BH_DOMAIN_FLAG_OWN_ATTRIBUTES) != 0 ? 0x7 : 0x6;
}

bool is_table_memory(const manifest_header *manifest, const manifest_domain &domain, uint64_t pa)
{
    color_range colored{};

    if (domain.table_memory == BH_TABLE_MEMORY_ON_CHIP) {
        return pa >= manifest->tables.on_chip_pa &&
               pa - manifest->tables.on_chip_pa < manifest->tables.on_chip_bytes;
    }
    return manifest_tables_range(manifest, &colored) &&
           range_has(colored, manifest->tables.colored_bytes, pa);
}

// Each table that walks of a marked segment read is where the manifest places it (X5).
void check_placed(const manifest_header *manifest, const manifest_domain &domain, const stage2 &stage2,
                  uint64_t ipa)
{
    uint64_t table = stage2.root.value;

    for (unsigned level = 1;; level++) {
        require(is_table_memory(manifest, domain, table), "a table is not in the memory for it");
        const auto *entries = static_cast<const uint64_t *>(
            pool_pointer(table_memory_holding(stage2.pool, paddr(table)), paddr(table)));
        const uint64_t descriptor = entries[ipa >> (12 + 9 * (3 - level)) & 511];
        if (level == 3 || (descriptor & 3) != 3) {
            return;
        }
        table = descriptor & output_bits;
    }
}

void check_stage2(const manifest_header *manifest, const manifest_domain &domain, const stage2 &stage2)
{
    const manifest_segment *segments = manifest_segments(manifest) + domain.first_segment;

    for (uint32_t i = 0; i < domain.segment_count; i++) {
        const bool whole = domain.table_memory == BH_TABLE_MEMORY_ON_CHIP;
        if (whole || (domain.table_memory == BH_TABLE_MEMORY_COLORED &&
                      (segments[i].flags & BH_SEGMENT_FLAG_TABLES_PLACED) != 0)) {
            check_placed(manifest, domain, stage2, segments[i].ipa);
            check_placed(manifest, domain, stage2, segments[i].ipa + segments[i].bytes - page);
        }
    }
    each_leaf(*stage2.pool, stage2.root.value, 1, 0,
              [&](uint64_t, uint64_t pa, uint64_t bytes, uint64_t descriptor) {
                  const bool device = (descriptor & execute_never) != 0;
                  for (uint64_t at : {pa, pa + bytes - page}) {
                      require(device ? owns_device(manifest, domain, at) : owns_frame(manifest, domain, at),
                              "a domain can reach a frame that it does not own");
                  }
                  require(
                      (descriptor >> 2 & 0xF) == memory_type(manifest, domain, device),
                      "stage 2 leaves to a guest what its memory is cached as, or takes it where it may not");
              });
}

// The broker reaches a domain's own segments: the marked ones and no others, if there are any (F8).
void check_reach(const manifest_header *manifest, const manifest_domain &domain)
{
    const manifest_segment *segments = manifest_segments(manifest);
    const socket_reach reach = socket_reach_of(manifest, &domain);

    require(reach.first_segment >= domain.first_segment &&
                reach.first_segment + reach.segment_count <= domain.first_segment + domain.segment_count,
            "the broker reaches segments that are not the domain's");
    for (uint32_t i = domain.first_segment; i < domain.first_segment + domain.segment_count; i++) {
        const bool inside = i >= reach.first_segment && i - reach.first_segment < reach.segment_count;
        const bool marked = (segments[i].flags & BH_SEGMENT_FLAG_SOCKET_POOL) != 0;
        require(marked ? inside && reach.is_pool && domain.socket_cid != 0 : inside != reach.is_pool,
                "the broker's reach is not the pool");
    }
}

void check_domain(const manifest_header *manifest, const manifest_domain &domain, uint32_t index,
                  Input &input)
{
    struct stage2 stage2 {};

    check_reach(manifest, domain);
    if (!stage2_create(&stage2, manifest, &domain, index + 1)) {
        return; // a pool is exhausted: boot refuses
    }
    check_stage2(manifest, domain, stage2);
    for (uint32_t i = 0; i < 8; i++) {
        const manifest_segment &segment =
            manifest_segments(manifest)[domain.first_segment + input.u8() % domain.segment_count];
        const uint64_t offset =
            input.number() % (segment.bytes + 2 * page) - page; // and just beyond both ends
        const ipaddr_t ipa = ipaddr(segment.ipa + offset);
        (void)stage2_map_lazily(&stage2, ipa);
        if (offset < segment.bytes) {
            const placement place = placement_of(manifest, &domain, ipa.value, page);
            require(owns_frame(manifest, domain, place.pa.value) &&
                        owns_frame(manifest, domain, place.pa.value + place.bytes - 1),
                    "memory is placed in a frame that its domain does not own");
            require(stage2_owns(&stage2, ipa), "a domain does not own its own memory");
        }
    }
    check_stage2(manifest, domain, stage2);
    if (stage2.root.value == 0 || memory_of(manifest, domain) > largest_reload ||
        !loader_can_reload(&domain)) {
        return; // page by page, it would take seconds; or the images are not in the package
    }
    struct domain restarting {};
    restarting.config = &domain;
    restarting.state = BH_DOMAIN_STATE_RESTARTING;
    restarting.stage2 = stage2;
    loading = {manifest, &domain};
    struct reload progress {};
    uint64_t lines = 0;
    uint64_t left = most_reload_steps(manifest, domain);
    while (!loader_step(&restarting, &progress, &lines)) {
        require(--left != 0, "loading a domain's images again takes more steps than its size allows");
        require(lines <= 256 / 64, "a step of loading copies too much");
    }
}

// By the manifest's words, not by the table from which EL2 maps.
bool is_mapped_region(const manifest_header *manifest, uint64_t pa)
{
    const manifest_platform &platform = manifest->platform;
    const manifest_device_regulators &regulators = manifest->device_regulators;
    const bool v3 = platform.gic_version == BH_GIC_VERSION_GICV3;
    const uint64_t frames[][2] = {
        {platform.uart_pa, page},
        {platform.gicd_pa, v3 ? 0x10000 : page},
        {platform.gicr_pa, v3 ? platform.gicr_bytes : 0},
        {platform.gicc_pa, v3 ? 0 : 2 * page},
        {platform.gich_pa, v3 ? 0 : page},
        {platform.utilization_pa, platform.utilization_pa != 0 ? page : 0},
        {manifest->broker.engine_pa, manifest->broker.engine_pa != 0 ? page : 0},
        {manifest->broker.qos_pa, manifest->broker.qos_pa != 0 ? page : 0},
        {manifest->second_broker.engine_pa, manifest->second_broker.engine_pa != 0 ? page : 0},
        {manifest->second_broker.qos_pa, manifest->second_broker.qos_pa != 0 ? page : 0},
        {regulators.page_0, regulators.page_0 != 0 ? page : 0},
        {regulators.page_1, regulators.page_1 != 0 ? page : 0},
        {regulators.page_2, regulators.page_2 != 0 ? page : 0},
        {regulators.page_3, regulators.page_3 != 0 ? page : 0},
        {manifest->reset_pages.page_0, manifest->reset_pages.page_0 != 0 ? page : 0},
        {manifest->reset_pages.page_1, manifest->reset_pages.page_1 != 0 ? page : 0},
        {manifest->mpam.page_0, manifest->mpam.page_0 != 0 ? 16 * page : 0},
        {manifest->mpam.page_1, manifest->mpam.page_1 != 0 ? 16 * page : 0},
        {manifest->mpam.page_2, manifest->mpam.page_2 != 0 ? 16 * page : 0},
        {manifest->mpam.page_3, manifest->mpam.page_3 != 0 ? 16 * page : 0},
        {manifest->smmu.pa, manifest->smmu.pa != 0 ? 32 * page : 0},
        {manifest->pci.config_pa, manifest->pci.config_bytes},
        {manifest->its.pa, manifest->its.pa != 0 ? 32 * page : 0},
        {manifest->its.pending_pa, manifest->its.pending_bytes}};

    return std::any_of(std::begin(frames), std::end(frames),
                       [&](const uint64_t(&frame)[2]) { return pa >= frame[0] && pa - frame[0] < frame[1]; });
}

void check_el2(const manifest_header *manifest, pool &pool)
{
    paddr_t root;

    if (!mmu_create(&pool, manifest, &root)) {
        return;
    }
    const color_range range = manifest_pool_range(manifest);
    each_leaf(pool, root.value, 1, 0, [&](uint64_t input, uint64_t pa, uint64_t bytes, uint64_t) {
        for (uint64_t at : {pa, pa + bytes - page}) {
            const bool own = range_has(range, manifest->hypervisor.pool_bytes, at);
            if (input >= BH_MAPPED_LIMIT) {
                require(own, "EL2 maps a frame that is not its own");
            } else {
                require(input == pa && (own || is_mapped_region(manifest, at)),
                        "EL2 maps a device that is not its own");
            }
            for (uint32_t i = 0; i < manifest->domains.count; i++) {
                const manifest_domain &domain = manifest_domains(manifest)[i];
                require(!owns_frame(manifest, domain, at), "EL2 maps a guest's frame");
                require(!owns_device(manifest, domain, at), "EL2 maps a guest's device");
            }
        }
    });
}

std::vector<uint8_t> sealed(std::span<const uint8_t> bytes)
{
    std::vector<uint8_t> sealed(std::max(bytes.size(), sizeof(manifest_header)));
    std::copy(bytes.begin(), bytes.end(), sealed.begin());
    auto *header = reinterpret_cast<manifest_header *>(sealed.data());

    header->magic = BH_MANIFEST_MAGIC;
    header->version = BH_LAYOUT_VERSION;
    header->layout_hash = BH_LAYOUT_HASH;
    header->total_bytes = static_cast<uint32_t>(sealed.size());
    header->crc32 = 0;
    header->crc32 = crc32_update(0, sealed.data(), sealed.size());
    return sealed;
}

} // namespace

extern "C" {

alignas(BH_PAGE_BYTES) char image_start[pool_frames * BH_PAGE_BYTES];
alignas(BH_PAGE_BYTES) char status_pages[(1 + BH_MAX_CORES) * BH_PAGE_BYTES];
struct boot_handover boot_handover;

// Bounds of the image that the linker script defines on the target: text, constants and stacks in the pool.
asm(".globl image_text_end, image_rodata_end, cpu_stacks, image_end\n"
    ".set image_text_end, image_start + 0x4000\n"
    ".set image_rodata_end, image_start + 0x6000\n"
    ".set cpu_stacks, image_start + 0x10000\n"
    ".set image_end, image_start + 0x20000\n");

int64_t arch_smc(uint64_t, uint64_t, uint64_t, uint64_t)
{
    return 0;
}

bool window_prepare(struct pool *, paddr_t)
{
    return true;
}

void *window_open(uint32_t, enum window window, paddr_t frame)
{
    alignas(BH_PAGE_BYTES) static char pages[WINDOW_COUNT][BH_PAGE_BYTES];

    if (window == WINDOW_SOURCE) {
        require(frame.value >= load_address && frame.value - load_address < package_bytes,
                "an image's source is not in the package");
    } else {
        require(owns_frame(loading.manifest, *loading.domain, frame.value),
                "an image is loaded into a frame that its domain does not own");
    }
    return pages[window];
}

void window_close(uint32_t, enum window) {}

void *window_sram(paddr_t, uint32_t pages)
{
    alignas(BH_PAGE_BYTES) static char sram[WINDOW_SRAM_PAGES][BH_PAGE_BYTES];

    require(pages <= WINDOW_SRAM_PAGES, "more on-chip memory than EL2 has room for");
    return sram;
}

void *window_tables(uint32_t first, const struct color_range *, uint32_t count, uint64_t)
{
    alignas(BH_PAGE_BYTES) static char frames[BH_MAX_TABLE_FRAMES + 1][BH_PAGE_BYTES];

    require(first + count <= BH_MAX_TABLE_FRAMES, "more memory for tables than EL2 has room for");
    return frames[first];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    const bool raw = input.u8() == 0xFF;
    const uint64_t choices[] = {input.u64(), input.u64()};
    const auto rest = input.rest();
    const std::vector<uint8_t> manifest = raw ? std::vector<uint8_t>(rest.begin(), rest.end())
                                              : sealed(rest.first(std::min<size_t>(rest.size(), 0x4000)));
    // Aligned as the package is, and of exactly its size.
    const std::unique_ptr<char, void (*)(void *)> copy(
        static_cast<char *>(std::aligned_alloc(16, (manifest.size() + 31) / 16 * 16)), std::free);
    const size_t slack = (manifest.size() + 31) / 16 * 16 - manifest.size();
    char *const start = copy.get() + slack / 8 * 8;

    std::copy(manifest.begin(), manifest.end(), start);
    const manifest_verdict verdict = manifest_check(start, manifest.size(), package_bytes);
    require(verdict.error == BH_MANIFEST_ERROR_NONE || verdict.offset <= std::max<size_t>(manifest.size(), 1),
            "the place of an error is outside of the manifest");
    if (verdict.error != BH_MANIFEST_ERROR_NONE) {
        return 0;
    }

    const auto *header = reinterpret_cast<const manifest_header *>(start);
    fake_reset();
    fake_set_sysreg(SYSREG_ID_CNTFRQ_EL0, 1000000);
    fake_set_sysreg(SYSREG_ID_TPIDR_EL2, reinterpret_cast<uintptr_t>(cpu_at(0))); // windows are a core's
    fake_set_sysreg(SYSREG_ID_ICC_IAR1_EL1, 1023); // reloading polls for interrupts
    std::copy(manifest.begin(), manifest.end(), image_start + page);
    boot_handover = {};
    boot_handover.manifest_frame = 1;
    boot_handover.load_address = load_address;
    system_init(&boot_handover);
    const uint64_t frames = std::min<uint64_t>(pool_frames, header->hypervisor.pool_bytes / page);
    Input more(reinterpret_cast<const uint8_t *>(choices), sizeof choices);
    for (uint32_t i = 0; i <= header->domains.count; i++) {
        struct pool pool = {manifest_pool_range(header), frames, 5, image_start, false};

        table_memory_init(&pool, header);
        if (i == header->domains.count) {
            check_el2(header, pool);
        } else {
            check_domain(header, manifest_domains(header)[i], i, more);
        }
    }
    return 0;
}
}
