// SPDX-License-Identifier: Apache-2.0
// Decodes offsets of the feature page; see the header.
#include "machine/mpam/component.h"

#include "machine/mpam/id_registers.h"

namespace bulkhead::machine::mpam {

namespace {

constexpr std::uint64_t controls_begin = MPAMCFG_PART_SEL;
constexpr std::uint64_t monitors_begin = MSMON_CFG_MON_SEL;
constexpr std::uint64_t monitors_end = 0x1000;

bool is_upper_half(std::uint64_t offset)
{
    return offset == MSMON_MBWU_L + 4 || offset == MSMON_MBWU_L_CAPTURE + 4;
}

} // namespace

component::component(const system_settings &whole, const component_settings &wanted,
                     const surroundings &around)
    : whole_(whole), settings_(wanted), settle_(around.settle),
      map_(whole.partids, whole.monitor_groups, wanted.internal_partids),
      errors_(wanted.has_ris(), [this](bool high) {
          if (error_line_) {
              error_line_(high);
          }
      })
{
    for (const resource_settings &one : settings_.resources) {
        resources_.push_back(
            std::make_unique<resource>(one, map_, around.shape_of(one), around.channels, around.bus));
        resource &made = *resources_.back();
        if (made.bandwidth != nullptr) {
            made.bandwidth->when_entered(
                [this, &made](mpam_label label, access_kind kind, byte_count bytes, picoseconds when) {
                    bool news = false;
                    for (bandwidth_monitor &each : made.moved) {
                        news = each.count(label, kind, bytes, when) || news;
                    }
                    if (news) {
                        follow_overflows();
                    }
                });
        }
    }
    map_.when_out_of_range([this](mpam_label label) {
        const bool group = label.partition < map_.partids();
        errors_.report(group ? MPAM_ERROR_REQ_PMG_RANGE : MPAM_ERROR_REQ_PARTID_RANGE,
                       {.partid_or_monitor = label.partition, .group = label.monitor_group});
    });
}

void component::connect(std::function<void(bool high)> error, std::function<void(bool high)> overflow)
{
    error_line_ = std::move(error);
    overflow_line_ = std::move(overflow);
}

std::uint64_t component::read(std::uint64_t offset, unsigned bytes, picoseconds now)
{
    if ((bytes != 4 && bytes != 8) || offset % bytes != 0) {
        return 0;
    }
    if (bytes == 8) {
        return read(offset, 4, now) | read(offset + 4, 4, now) << 32U;
    }
    if (offset >= monitors_begin && offset < monitors_end) {
        if (is_upper_half(offset)) {
            return read_monitor(offset - 4, now) >> 32U;
        }
        return read_monitor(offset, now) & 0xFFFFFFFFU;
    }
    switch (offset) {
    case MPAMF_ECR:
        return errors_.control();
    case MPAMF_ESR:
        return errors_.status();
    case MPAMF_ESR + 4:
        return errors_.instance();
    default:
        return offset < controls_begin ? id_register(whole_, settings_, selected_ris(), offset)
                                       : read_control(offset);
    }
}

void component::write(std::uint64_t offset, unsigned bytes, std::uint64_t value, picoseconds now)
{
    if ((bytes != 4 && bytes != 8) || offset % bytes != 0) {
        return;
    }
    if (offset >= monitors_begin && offset < monitors_end) {
        if (is_upper_half(offset)) { // the lower word stays
            const std::uint64_t low = read_monitor(offset - 4, now) & 0xFFFFFFFFU;
            write_monitor(offset - 4, value << 32U | low, true, now);
        } else {
            write_monitor(offset, value, bytes == 8, now);
        }
        return;
    }
    if (bytes == 8) {
        write(offset, 4, value & 0xFFFFFFFFU, now);
        write(offset + 4, 4, value >> 32U, now);
        return;
    }
    const auto word = static_cast<std::uint32_t>(value);
    if (offset == MPAMF_ECR) {
        errors_.set_control(word);
    } else if (offset == MPAMF_ESR) {
        errors_.set_status(word);
    } else if (offset == MPAMF_ESR + 4) {
        errors_.set_instance(word);
    } else if (offset >= controls_begin) {
        write_control(offset, word);
    }
}

} // namespace bulkhead::machine::mpam
