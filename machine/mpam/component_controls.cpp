// SPDX-License-Identifier: Apache-2.0
// Registers of controls: selection, narrowing, enabling, and the settings of the selected partition.
#include "machine/mpam/component.h"

namespace bulkhead::machine::mpam {

namespace {

constexpr std::uint64_t cache_portions_begin = MPAMCFG_CPBM(0);
constexpr std::uint64_t bandwidth_portions_begin = MPAMCFG_MBW_PBM(0);
constexpr std::uint64_t bandwidth_portions_end = MPAM_PAGE_BYTES;

bool is_cache_portions(std::uint64_t offset)
{
    return offset >= cache_portions_begin && offset < bandwidth_portions_begin;
}

bool is_bandwidth_portions(std::uint64_t offset)
{
    return offset >= bandwidth_portions_begin && offset < bandwidth_portions_end;
}

// Whether the architecture defines a control at the offset; other offsets are reserved.
bool is_control(std::uint64_t offset)
{
    switch (offset) {
    case MPAMCFG_CMAX:
    case MPAMCFG_CMIN:
    case MPAMCFG_CASSOC:
    case MPAMCFG_MBW_MIN:
    case MPAMCFG_MBW_MAX:
    case MPAMCFG_MBW_WINWD:
    case MPAMCFG_PRI:
    case MPAMCFG_MBW_PROP:
        return true;
    default:
        return is_cache_portions(offset) || is_bandwidth_portions(offset);
    }
}

// The word of a control, with a mask of the bits that are implemented.
struct field {
    std::uint32_t *word = nullptr;
    std::uint32_t implemented = 0;
};

std::uint32_t priority_mask(const priority_settings &of)
{
    const auto width = [](std::uint32_t bits) { return bits >= 16 ? 0xFFFFU : (1U << bits) - 1; };
    return width(of.internal) | width(of.downstream) << MPAMCFG_PRI_DSPRI_SHIFT;
}

field portions_field(std::vector<std::uint32_t> &words, std::uint32_t portions, std::uint64_t number)
{
    return number < words.size()
               ? field{&words[number], word_mask(portions, static_cast<std::uint32_t>(number))}
               : field{};
}

// The word of a control that the selected instance has.
field field_of(const resource_settings &of, partition_controls &own, std::uint64_t offset)
{
    if (is_cache_portions(offset)) {
        return portions_field(own.cache_portions, of.portions, (offset - cache_portions_begin) / 4);
    }
    if (is_bandwidth_portions(offset)) {
        return portions_field(own.bandwidth_portions, of.bandwidth->portions,
                              (offset - bandwidth_portions_begin) / 4);
    }
    switch (offset) {
    case MPAMCFG_CMAX:
        return {&own.capacity_max,
                fraction_mask(of.capacity->bits) | (of.capacity->soft ? MPAMCFG_CMAX_SOFTLIM : 0)};
    case MPAMCFG_CMIN:
        return {&own.capacity_min, fraction_mask(of.capacity->bits)};
    case MPAMCFG_CASSOC:
        return {&own.associativity, fraction_mask(of.associativity->bits)};
    case MPAMCFG_MBW_MIN:
        return {&own.bandwidth_min, fraction_mask(of.bandwidth->bits)};
    case MPAMCFG_MBW_MAX:
        return {&own.bandwidth_max, fraction_mask(of.bandwidth->bits) | MPAMCFG_MBW_MAX_HARDLIM};
    case MPAMCFG_MBW_WINWD:
        return {&own.window, of.bandwidth->window_writable ? 0xFFFFFFU : 0};
    case MPAMCFG_PRI:
        return {&own.priority, priority_mask(*of.priority)};
    case MPAMCFG_MBW_PROP:
        return {&own.proportional, MPAMCFG_MBW_PROP_EN | ((1U << of.bandwidth->bits) - 1)};
    default:
        return {};
    }
}

} // namespace

bool component::offers(const resource_settings &of, std::uint64_t offset) const
{
    if (is_cache_portions(offset)) {
        return of.portions != 0;
    }
    if (is_bandwidth_portions(offset)) {
        return of.bandwidth && of.bandwidth->portions != 0;
    }
    switch (offset) {
    case MPAMCFG_CMAX:
        return of.capacity && of.capacity->maximum;
    case MPAMCFG_CMIN:
        return of.capacity && of.capacity->minimum;
    case MPAMCFG_CASSOC:
        return of.associativity.has_value();
    case MPAMCFG_MBW_MIN:
        return of.bandwidth && of.bandwidth->min;
    case MPAMCFG_MBW_MAX:
        return of.bandwidth && of.bandwidth->max;
    case MPAMCFG_MBW_WINWD:
        return of.bandwidth.has_value();
    case MPAMCFG_PRI:
        return of.priority.has_value();
    case MPAMCFG_MBW_PROP:
        return of.bandwidth && of.bandwidth->proportional;
    default:
        return false;
    }
}

void component::select_partition(std::uint32_t value)
{
    const std::uint32_t partid = value & 0xFFFFU;
    const std::uint32_t ris = settings_.has_ris() ? value >> MPAM_SEL_RIS_SHIFT & 0xFU : 0;
    if (partid >= map_.partids()) {
        errors_.report(MPAM_ERROR_PARTID_SEL_RANGE, {.partid_or_monitor = partid, .instance = ris});
        return;
    }
    const std::uint32_t internal = map_.narrows() ? value & MPAMCFG_PART_SEL_INTERNAL : 0;
    part_sel_ = partid | internal | ris << MPAM_SEL_RIS_SHIFT;
}

// The selected internal PARTID, if the selected instance has the control (`there`); else reports an error.
std::optional<std::uint32_t> component::selected_controls(bool there)
{
    const std::uint32_t partid = part_sel_ & 0xFFFFU;
    const errors::syndrome what{.partid_or_monitor = partid, .instance = selected_ris()};
    if (!there) {
        if (settings_.has_ris()) { // without instances it is a reserved location
            errors_.report(selected_ris() < resources_.size() ? MPAM_ERROR_RIS_NO_CONTROL
                                                              : MPAM_ERROR_UNDEFINED_RIS_PART_SEL,
                           what);
        }
        return std::nullopt;
    }
    if (map_.narrows() && ((part_sel_ & MPAMCFG_PART_SEL_INTERNAL) == 0 || partid >= map_.internal_count())) {
        errors_.report(MPAM_ERROR_INTPARTID_RANGE, {.partid_or_monitor = partid});
        return std::nullopt;
    }
    return partid;
}

std::uint32_t component::read_control(std::uint64_t offset)
{
    switch (offset) {
    case MPAMCFG_PART_SEL:
        return part_sel_;
    case MPAMCFG_EN_FLAGS:
        return settings_.has_ris() ? enable_flags() : 0;
    case MPAMCFG_INTPARTID:
        return map_.narrows() && narrowing_selected()
                   ? map_.internal_of(static_cast<std::uint16_t>(part_sel_)) | MPAMCFG_INTPARTID_INTERNAL
                   : 0;
    default:
        break;
    }
    if (!is_control(offset)) {
        return 0;
    }
    const std::uint32_t ris = selected_ris();
    const bool there = ris < resources_.size() && offers(resources_[ris]->of, offset);
    const std::optional<std::uint32_t> internal = selected_controls(there);
    if (!internal) {
        return 0;
    }
    const field found = field_of(resources_[ris]->of, resources_[ris]->controls[*internal], offset);
    return found.word != nullptr ? *found.word : 0;
}

void component::write_control(std::uint64_t offset, std::uint32_t value)
{
    switch (offset) {
    case MPAMCFG_PART_SEL:
        select_partition(value);
        return;
    case MPAMCFG_EN:
    case MPAMCFG_DIS:
        enable(value, offset == MPAMCFG_EN);
        return;
    case MPAMCFG_EN_FLAGS:
        write_enable_flags(value);
        return;
    case MPAMCFG_INTPARTID:
        write_narrowing(value);
        return;
    default:
        break;
    }
    if (!is_control(offset)) {
        return;
    }
    const std::uint32_t ris = selected_ris();
    const bool there = ris < resources_.size() && offers(resources_[ris]->of, offset);
    const std::optional<std::uint32_t> internal = selected_controls(there);
    if (!internal) {
        return;
    }
    resource &own = *resources_[ris];
    const field found = field_of(own.of, own.controls[*internal], offset);
    if (found.word != nullptr && found.implemented != 0) {
        *found.word = value & found.implemented;
        if (own.bandwidth != nullptr) {
            own.bandwidth->controls_changed();
        }
    }
}

// --- Narrowing ---

// Whether a request PARTID is selected, as an access to MPAMCFG_INTPARTID needs.
bool component::narrowing_selected()
{
    if ((part_sel_ & MPAMCFG_PART_SEL_INTERNAL) != 0) {
        errors_.report(MPAM_ERROR_UNEXPECTED_INTERNAL, {.partid_or_monitor = part_sel_});
        return false;
    }
    return true;
}

void component::write_narrowing(std::uint32_t value)
{
    if (!map_.narrows() || !narrowing_selected()) {
        return;
    }
    const std::uint32_t internal = value & 0xFFFFU;
    if ((value & MPAMCFG_INTPARTID_INTERNAL) == 0 || internal >= map_.internal_count()) {
        errors_.report(MPAM_ERROR_INTPARTID_RANGE, {.partid_or_monitor = internal});
        return;
    }
    const auto partid = static_cast<std::uint16_t>(part_sel_);
    for (const std::unique_ptr<resource> &one : resources_) {
        if (one->cache != nullptr) {
            one->cache->remap(partid, static_cast<std::uint16_t>(internal));
        }
    }
    map_.map(partid, static_cast<std::uint16_t>(internal));
}

// --- Enabled and disabled PARTIDs ---

void component::enable(std::uint32_t value, bool enabled)
{
    if (!settings_.has_ris()) {
        return;
    }
    const std::uint32_t partid = value & 0xFFFFU;
    if (partid >= map_.partids()) {
        errors_.report(MPAM_ERROR_PARTID_SEL_RANGE,
                       {.partid_or_monitor = partid, .instance = selected_ris()});
        return;
    }
    map_.enable(static_cast<std::uint16_t>(partid), enabled);
}

std::uint32_t component::enable_flags() const
{
    const std::uint32_t first = part_sel_ & 0xFFE0U;
    std::uint32_t flags = 0;
    for (std::uint32_t i = 0; i < 32 && first + i < map_.partids(); ++i) {
        flags |= map_.enabled(static_cast<std::uint16_t>(first + i)) ? 1U << i : 0;
    }
    return flags;
}

void component::write_enable_flags(std::uint32_t value)
{
    const std::uint32_t first = part_sel_ & 0xFFE0U;
    for (std::uint32_t i = 0; settings_.has_ris() && i < 32 && first + i < map_.partids(); ++i) {
        map_.enable(static_cast<std::uint16_t>(first + i), (value >> i & 1U) != 0);
    }
}

} // namespace bulkhead::machine::mpam
