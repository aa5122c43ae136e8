/* SPDX-License-Identifier: Apache-2.0
 *
 * A description is untrusted input. Numbers, sizes and names that the kernel, the memory manager and the
 * scheduler use are checked here once, when the system starts. Frames, code and regions are checked where
 * they are used.
 */
#include "core/crc32.h"
#include "core/mxu_eviction.h"
#include "core/mxu_mpu.h"
#include "core/mxu_regions.h"
#include "microkernel/include/microkernel/abi.h"
#include "microkernel/kernel/boot.h"
#include <stddef.h>

#define FIRST_CHECKED    offsetof(struct boot_system, component_count)
#define FIRST_PRINTABLE  0x20u
#define LAST_PRINTABLE   0x7Eu
#define LEAST_SYSTEM     2u /* system regions: code and timer */
#define LEAST_BLOCK_BITS 5u
#define ADDRESS_BITS     32u

_Static_assert(sizeof(struct boot_component) == 48 && sizeof(struct boot_memory) == 56 &&
                   sizeof(struct boot_system) == 80 + MOST_COMPONENTS * 48 + MOST_MEMORY * 56,
               "src/bulkhead/microkernel/description.py");

static bool is_name(const char *name, uint32_t room)
{
    /* bound: size of the name's field */
    for (uint32_t i = 0; i < room; i++) {
        if (name[i] == '\0') {
            return i > 0;
        }
        if ((uint8_t)name[i] < FIRST_PRINTABLE || (uint8_t)name[i] > LAST_PRINTABLE) {
            return false;
        }
    }
    return false;
}

static const char *check_component(const struct boot_system *system, const struct boot_component *component)
{
    if (!is_name(component->name, NAME_BYTES) || component->call_count > MOST_CALLS) {
        return "name or calls of a component are too long";
    }
    if (component->serves > 1 || component->reserved != 0 || (component->spec & ~MXU_SPEC_MASK) != 0) {
        return "a component has unknown flags";
    }
    if (component->budget_ns > component->period_ns ||
        (component->period_ns != 0) != (component->budget_ns != 0)) {
        return "the budget of a component is 0, or more than its period";
    }
    for (uint32_t i = 0; i < component->call_count; i++) {
        if (component->calls[i] >= system->component_count) {
            return "a component calls an unknown component";
        }
    }
    return 0;
}

static const char *check_memory(const struct boot_system *system, const struct boot_memory *memory)
{
    uint32_t attributes;

    if (!is_name(memory->name, MEMORY_NAME_BYTES)) {
        return "memory of a component has no name, or one that is too long";
    }
    if (memory->component <= SCHEDULER || memory->component >= system->component_count) {
        return "memory belongs to an unknown component";
    }
    if (memory->bytes == 0 || memory->bytes - 1u > UINT32_MAX - memory->first) {
        return "memory of a component has no bytes, or is beyond the address space";
    }
    if ((memory->spec & ~MXU_SPEC_MASK) != 0 || (memory->flags & ~MEMORY_FLAGS) != 0 ||
        memory->reserved[0] != 0 || memory->reserved[1] != 0 || memory->mechanism > MXU_BY_COLOR ||
        memory->independence > MXU_FULLY) {
        return "memory of a component has unknown flags";
    }
    if (!mxu_mpu_attributes(memory->rights, (enum mxu_memory_type)memory->type, &attributes)) {
        return "memory of a component has invalid rights";
    }
    if (memory->shared != 0 && (memory->flags & (MEMORY_FIXED | MEMORY_HEAP)) != 0) {
        return "shared memory has a fixed place, or is a heap";
    }
    return 0;
}

static const char *check_hardware(const struct boot_hardware *hardware)
{
    uint32_t regions = hardware->limit[MXU_REGIONS];

    if (hardware->eviction > MXU_BIT_PLRU || hardware->most_region_bits < LEAST_BLOCK_BITS ||
        hardware->most_region_bits > ADDRESS_BITS) {
        return "policy or size of dynamic regions is invalid";
    }
    if (regions != 0 && (regions > MXU_MOST_REGIONS || hardware->system_regions < LEAST_SYSTEM ||
                         hardware->system_regions >= regions)) {
        return "a component has too many regions, or no dynamic region";
    }
    if (hardware->limit[MXU_COLORED_BYTES] != 0 || hardware->limit[MXU_TLB_SETS] != 0) {
        return "the kernel has no table nodes in colored memory, and colors no TLB";
    }
    return 0;
}

const char *description_check(const struct boot_system *system)
{
    const char *wrong;

    if (system->magic != BOOT_MAGIC) {
        return "no description of a system at the address that the board defines";
    }
    if (system->version != BOOT_VERSION || system->bytes != sizeof *system) {
        return "the system's description is of another version than the kernel";
    }
    if (system->crc !=
        crc32_update(0, (const uint8_t *)system + FIRST_CHECKED, sizeof *system - FIRST_CHECKED)) {
        return "the system's description is damaged: its CRC is wrong";
    }
    if (system->component_count <= SCHEDULER || system->component_count > MOST_COMPONENTS ||
        system->memory_count > MOST_MEMORY) {
        return "a system has a memory manager, a scheduler, at most ten components, and memory for them";
    }
    if (system->clock_hz == 0 || system->timer_hz == 0 || (system->flags & ~SYSTEM_FLAGS) != 0 ||
        system->reserved != 0) {
        return "the system has no clock, or unknown flags";
    }
    wrong = check_hardware(&system->hardware);
    for (uint32_t i = 0; i < system->component_count && wrong == 0; i++) {
        wrong = check_component(system, &system->component[i]);
    }
    for (uint32_t i = 0; i < system->memory_count && wrong == 0; i++) {
        wrong = check_memory(system, &system->memory[i]);
    }
    return wrong;
}
