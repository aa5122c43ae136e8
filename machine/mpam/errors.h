// SPDX-License-Identifier: Apache-2.0
// The error registers of a component: MPAMF_ESR has the last error and whether it overwrote an earlier one.
// With MPAMF_ECR.INTEN the interrupt line is high as long as there is an error code (IHI 0099, 8.2.1).
#pragma once

#include <cstdint>
#include <functional>

#include "core/mpam_registers.h"

namespace bulkhead::machine::mpam {

class errors {
public:
    // `with_instance`: MPAMF_ESR has 64 bits, and a field for the resource instance.
    errors(bool with_instance, std::function<void(bool high)> line)
        : with_instance_(with_instance), line_(std::move(line))
    {
    }

    // What MPAMF_ESR has beside the error code: a PARTID or a monitor, a monitoring group, an instance.
    struct syndrome {
        std::uint32_t partid_or_monitor = 0;
        std::uint32_t group = 0;
        std::uint32_t instance = 0;
    };
    void report(mpam_error_code code, const syndrome &what)
    {
        const bool earlier = (status_ >> MPAMF_ESR_ERRCODE_SHIFT & MPAMF_ESR_ERRCODE) != 0;
        status_ = (what.partid_or_monitor & 0xFFFFU) | (what.group & 0xFFU) << MPAMF_ESR_PMG_SHIFT |
                  static_cast<std::uint32_t>(code) << MPAMF_ESR_ERRCODE_SHIFT |
                  (earlier ? MPAMF_ESR_OVRWR : 0);
        instance_ = with_instance_ ? what.instance & 0xFU : 0;
        ++reported_;
        follow();
    }

    [[nodiscard]] std::uint32_t status() const { return status_; }
    [[nodiscard]] std::uint32_t instance() const { return instance_; }
    [[nodiscard]] std::uint32_t control() const { return control_; }
    void set_status(std::uint32_t value)
    {
        status_ = value & ~(7U << 28U); // reserved
        follow();
    }
    void set_instance(std::uint32_t value) { instance_ = with_instance_ ? value & 0xFU : 0; }
    void set_control(std::uint32_t value)
    {
        control_ = value & MPAMF_ECR_INTEN;
        follow();
    }
    [[nodiscard]] std::uint64_t reported() const { return reported_; }

private:
    void follow()
    {
        const bool high = (control_ & MPAMF_ECR_INTEN) != 0 &&
                          (status_ >> MPAMF_ESR_ERRCODE_SHIFT & MPAMF_ESR_ERRCODE) != 0;
        if (high != high_) {
            high_ = high;
            if (line_) {
                line_(high);
            }
        }
    }

    bool with_instance_;
    std::function<void(bool high)> line_;
    std::uint32_t status_ = 0;
    std::uint32_t instance_ = 0;
    std::uint32_t control_ = 0;
    std::uint64_t reported_ = 0;
    bool high_ = false;
};

} // namespace bulkhead::machine::mpam
