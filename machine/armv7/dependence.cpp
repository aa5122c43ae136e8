// SPDX-License-Identifier: Apache-2.0
// Follows values through registers to find loads whose value becomes an address; see the header.
#include "machine/armv7/dependence.h"

#include <cstring>

#include "machine/armv7/execute_system.h"
#include "machine/armv7/registers.h"

namespace bulkhead::machine::armv7 {

namespace {

constexpr std::uint32_t reach = 24; // instructions for which a value is followed

bool is_load(const operation &what)
{
    return what.use == register_use::load || what.use == register_use::load_pair ||
           what.use == register_use::load_many;
}

std::uint32_t after(std::uint32_t values, const operation &what)
{
    const std::uint32_t fed = (what.reads & values) != 0 ? what.writes : 0U;
    const std::uint32_t lost = what.condition == always ? what.writes : 0U;
    return (values & ~lost) | fed;
}

bool becomes_address(const code_reader &code, instruction_place where, std::uint32_t values,
                     std::uint32_t left)
{
    for (; left > 0 && values != 0; --left) {
        const std::optional<operation> next = code.at(where);
        if (!next) {
            return false;
        }
        if ((next->addresses & values) != 0) {
            return true;
        }
        const instruction_place behind{next->address + next->bytes, next->next_it, where.thumb};
        if (next->execute == branch || next->execute == branch_if_zero ||
            next->execute == branch_if_not_zero) {
            const bool conditional = next->execute != branch || next->condition != always;
            const instruction_place target{next->imm, 0, where.thumb};
            if (!conditional) {
                where = target;
                continue;
            }
            if (becomes_address(code, target, values, left / 2)) {
                return true;
            }
        } else if (next->ends_block) {
            return false;
        }
        values = after(values, *next);
        where = behind;
    }
    return false;
}

} // namespace

std::optional<operation> code_reader::at(const instruction_place &where) const
{
    const auto halfword = [this](std::uint32_t offset) {
        std::uint16_t value = 0;
        std::memcpy(&value, content_ + offset, sizeof value);
        return std::uint32_t{value};
    };
    const std::uint32_t offset = where.address - address_;
    if (offset >= bytes_ || bytes_ - offset < (where.thumb ? 2U : 4U)) {
        return {};
    }
    const std::uint32_t first = halfword(offset);
    if (!where.thumb) {
        return decode(halfword(offset + 2) << 16U | first, 4, where, has_);
    }
    if (!is_first_of_two(first)) {
        return decode(first, 2, where, has_);
    }
    if (bytes_ - offset < 4) {
        return {};
    }
    return decode(first << 16U | halfword(offset + 2), 4, where, has_);
}

bool is_waited_for(const operation &load, bool thumb, const code_reader &code)
{
    const std::uint32_t values = load.writes & ~(1U << pc);
    return is_load(load) &&
           becomes_address(code, {load.address + load.bytes, load.next_it, thumb}, values, reach);
}

} // namespace bulkhead::machine::armv7
