// SPDX-License-Identifier: Apache-2.0
// Target `psci`: calls of guests, by HVC and SMC, with any function and arguments, in any order over all
// VCPUs, compared with the power states that DEN0022 defines.
#include "machine.h"

namespace {

using namespace bulkhead_fuzz;

constexpr uint32_t cpu_off = 0x84000002;
constexpr uint32_t cpu_on = 0x84000003;
constexpr uint32_t affinity_info = 0x84000004;
constexpr uint32_t smc64 = 0x40000000;
constexpr uint32_t functions[] = {0x84000000, 0x84000001, cpu_off,    cpu_on,     affinity_info,
                                  0x84000005, 0x84000006, 0x84000008, 0x84000009, 0x8400000A,
                                  0x8400000E, 0x84000012, 0x80000000, 0x80000001, 0x86000000,
                                  0xC6000000, 0xC6000001, 0xC6000002, 0xC6000003, 0x8600FF01,
                                  0xC4000003, 0xC4000003, 0xC4000004, 0xC4000001, 0};

constexpr uint64_t error(int64_t code)
{
    return static_cast<uint64_t>(code);
}

bool owns(uint64_t ipa)
{
    return ipa >= memory_ipa && ipa - memory_ipa < memory_bytes;
}

// Permitted answers of a call, given the power states before it; true: this function is not specified.
bool is_right(const struct domain &domain, const std::array<uint32_t, 2> &power, const uint64_t (&x)[4],
              uint64_t answer)
{
    const uint32_t function = static_cast<uint32_t>(x[0]);
    const uint64_t mask = (function & smc64) != 0 ? ~0ull : 0xFFFFFFFF;
    const uint64_t target = x[1] & mask; // an affinity with a bit that must be zero names no VCPU
    const bool there = target < domain.vcpu_count;

    switch (function) {
    case 0x84000000:
    case 0x80000000:
        return answer == 0x10001;
    case affinity_info:
    case affinity_info | smc64:
        if (!there || (x[2] & mask) != 0) {
            return answer == error(-2);
        }
        return answer == (power[target] == VCPU_OFF ? 1u : power[target] == VCPU_STARTING ? 2u : 0u);
    case cpu_on:
    case cpu_on | smc64:
        if (!there) {
            return answer == error(-2);
        }
        if (!owns(x[2] & mask) || (x[2] & 3) != 0) {
            return answer == error(-9);
        }
        switch (power[target]) {
        case VCPU_OFF:
            return answer == 0 && domain.vcpus[target].power == VCPU_STARTING &&
                   domain.vcpus[target].entry.value == (x[2] & mask) &&
                   domain.vcpus[target].boot_argument == (x[3] & mask);
        case VCPU_STARTING:
            return answer == error(-5);
        default:
            return answer == error(-4);
        }
    default:
        return true;
    }
}

void call(Machine &machine, uint32_t core, Input &input)
{
    const uint8_t how = input.u8();
    uint64_t x[4] = {how == 0xFF ? input.number() : functions[how % std::size(functions)]};

    for (uint32_t i = 1; i < 4; i++) {
        x[i] = input.number();
    }
    if ((how & 0x80) != 0) {
        x[2] = memory_ipa + (x[2] & 0x7FFF);
    }
    if (machine.ended() || !machine.runs(core)) {
        return;
    }
    const struct domain &domain = *domain_at(core % domains);
    const std::array<uint32_t, 2> power{domain.vcpus[0].power, domain.vcpus[1].power};
    const uint32_t other = 1 - core / 2;
    const bool was_running =
        domain.state == BH_DOMAIN_STATE_RUNNING; // otherwise it is switched off without an answer
    const uint64_t answer = machine.call(core, (how & 0x40) != 0, x[0], x[1], x[2], x[3]);

    if (was_running && !machine.ended() && machine.runs(core) && domain.state == BH_DOMAIN_STATE_RUNNING) {
        require(is_right(domain, power, x, answer), "a wrong answer to a call");
    }
    require(domain.vcpus[other].power == power[other] ||
                (power[other] == VCPU_OFF && domain.vcpus[other].power == VCPU_STARTING) ||
                domain.state != BH_DOMAIN_STATE_RUNNING,
            "a call changed the power of a VCPU that it must not");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    const uint8_t first = input.u8();
    Options options = options_of(first);

    options.flags[0] |= (first & 0x20) != 0 ? uint32_t{BH_DOMAIN_FLAG_MANAGER} : 0;
    Machine machine(options);

    while (!input.empty() && !machine.ended()) {
        const uint8_t operation = input.u8();

        if ((operation & 7) < 3) {
            machine.interrupt(operation >> 6);
        } else if (operation == 0x5F || operation == 0x9F) { // values that mutators rarely write
            machine.serror(operation >> 6);
        } else {
            call(machine, operation >> 6, input);
        }
    }
    if ((first & 0xC0) == 0xC0) {
        machine.end_all();
    }
    return 0;
}
