// SPDX-License-Identifier: Apache-2.0
// Finds the row of a word and makes the operation from its fields; see the header.
#include "machine/armv7/decode.h"

#include <array>

#include "machine/armv7/arithmetic.h"
#include "machine/armv7/encoding.h"
#include "machine/armv7/execute.h"
#include "machine/armv7/execute_media.h"

namespace bulkhead::machine::armv7 {

namespace {

// The rows of an instruction set, in buckets by nine bits of the word that distinguish most rows.
class table {
public:
    using chooser = std::uint32_t (*)(std::uint32_t word);
    static constexpr std::uint32_t buckets = 512;

    // `choosing`: mask of the bits that `choose` reads. `never` says that a row does not belong into a
    // bucket, because the instruction set has no such words.
    table(std::span<const row> rows, chooser choose, std::uint32_t choosing,
          bool (*never)(const row &, std::uint32_t))
        : choose_(choose)
    {
        encodings_.reserve(rows.size());
        for (const row &each : rows) {
            encodings_.emplace_back(each);
        }
        for (std::uint32_t number = 0; number < buckets; ++number) {
            const std::uint32_t bits = spread(number, choosing);
            for (const encoding &each : encodings_) {
                if (((bits ^ each.value()) & each.mask() & choosing) == 0 && !never(each.source(), number)) {
                    buckets_[number].push_back(&each);
                }
            }
        }
    }

    [[nodiscard]] const encoding *find(std::uint32_t word, bool m_profile) const
    {
        for (const encoding *each : buckets_[choose_(word)]) {
            const only where = each->source().where;
            const bool here = where == only::both || (where == only::m_profile) == m_profile;
            if (here && each->matches(word)) {
                return each;
            }
        }
        return nullptr;
    }

private:
    static std::uint32_t spread(std::uint32_t number, std::uint32_t choosing)
    {
        return number << std::countr_zero(choosing) & choosing;
    }

    chooser choose_;
    std::vector<encoding> encodings_;
    std::array<std::vector<const encoding *>, buckets> buckets_;
};

bool in_all(const row & /*one*/, std::uint32_t /*bucket*/)
{
    return false;
}
// The upper half of A32's buckets holds words without a condition.
bool condition_elsewhere(const row &one, std::uint32_t bucket)
{
    return (bucket >= table::buckets / 2) != (one.pattern[0] != 'c');
}

const table &t16()
{
    static const table made(
        t16_rows(), [](std::uint32_t word) { return word >> 7U; }, 0xFF80, in_all);
    return made;
}
const table &t32()
{
    static const table made(
        t32_rows(), [](std::uint32_t word) { return word >> 20U & 0x1FFU; }, 0x1FF00000, in_all);
    return made;
}
const table &a32()
{
    static const table made(
        a32_rows(),
        [](std::uint32_t word) { return (word >> 20U & 0xFFU) | (word >> 28U == 15 ? 0x100U : 0); },
        0x0FF00000, condition_elsewhere);
    return made;
}

std::uint8_t byte_of(const fields &of, char letter)
{
    return static_cast<std::uint8_t>(of.of(letter));
}

void set_registers(operation &what, const fields &of)
{
    what.d = byte_of(of, of.has('b') ? 'b' : of.has('g') ? 'g' : 'd');
    what.n = byte_of(of, of.has('b') ? 'b' : 'n');
    what.m = byte_of(of, of.has('g') ? 'g' : 'm');
    what.a = byte_of(of, 'a');
}

bool registers_allowed(const operation &what, std::string_view not_special)
{
    for (const char each : not_special) {
        std::uint8_t number = 0;
        switch (each | 0x20) {
        case 'd':
            number = what.d;
            break;
        case 'n':
            number = what.n;
            break;
        case 'm':
            number = what.m;
            break;
        default:
            number = what.a;
            break;
        }
        const bool upper = (each & 0x20) == 0;
        if (number == pc || (!upper && number == sp)) {
            return false;
        }
    }
    return true;
}

// Sets which registers the operation reads, which it writes, and which hold its address.
void set_uses(operation &what, const fields &of)
{
    const auto bit = [&of](const char *letters, std::uint8_t number) {
        for (; *letters != '\0'; ++letters) {
            if (of.has(*letters)) {
                return static_cast<std::uint16_t>(1U << number);
            }
        }
        return std::uint16_t{0};
    };
    const std::uint16_t d = bit("dbg", what.d);
    const std::uint16_t n = bit("nb", what.n);
    const std::uint16_t m = bit("mg", what.m);
    const std::uint16_t a = bit("a", what.a);
    switch (what.use) {
    case register_use::data:
        what.writes = d;
        what.reads = n | m | a;
        break;
    case register_use::data_pair:
        what.writes = d | a;
        what.reads = n | m;
        break;
    case register_use::load:
        what.writes = d;
        what.addresses = n | m;
        break;
    case register_use::load_pair:
        what.writes = static_cast<std::uint16_t>(d | 1U << what.a); // which A32 does not name
        what.addresses = n | m;
        break;
    case register_use::load_many:
        what.writes = static_cast<std::uint16_t>(what.imm);
        what.addresses = n;
        break;
    case register_use::store:
        what.addresses = n | m;
        break;
    default:
        break;
    }
}

bool goes_elsewhere(const operation &what)
{
    return what.use == register_use::branch || (what.writes >> pc & 1U) != 0;
}

bool missing_divide(const operation &what, const instruction_place &where, const features &has)
{
    const bool has_it = where.thumb ? has.divide_thumb : has.divide_arm;
    return !has_it && (what.execute == signed_divide || what.execute == unsigned_divide);
}

// In an IT block an instruction has the block's condition, and only the last one may branch.
bool place_in_it(operation &what, const row &of, std::uint8_t it)
{
    if (it == 0) {
        return true;
    }
    what.condition = of.it == it_rule::unconditional ? always : static_cast<std::uint8_t>(it >> 4U);
    const bool last = (it & 7U) == 0;
    return of.it != it_rule::outside && (last || (of.it != it_rule::last && !goes_elsewhere(what)));
}

bool fill(operation &what, const encoding &found, const instruction_place &where, const features &has)
{
    const fields of = found.take_apart(what.word);
    const row &source = found.source();
    set_registers(what, of);
    what.name = source.name;
    what.use = source.use;
    what.imm = of.immediate();
    what.shift = byte_of(of, 't');
    what.amount = byte_of(of, 'h');
    what.extra = byte_of(of, 'e');
    what.index = of.of('p') != 0;
    what.add = of.of('u') != 0;
    what.writeback = of.of('w') != 0;
    what.unprivileged = of.of('f') != 0;
    what.top_n = of.of('x') != 0;
    what.top_m = of.of('y') != 0;
    what.condition = of.has('c') ? byte_of(of, 'c') : always;
    what.sets_flags = source.it == it_rule::sets_outside ? where.it == 0 : of.of('s') != 0;
    what.execute = what.sets_flags && source.setting_flags != nullptr ? source.setting_flags : source.execute;
    if (!registers_allowed(what, source.not_special) || missing_divide(what, where, has) ||
        (source.finish != nullptr && !source.finish(what, of))) {
        return false;
    }
    set_uses(what, of);
    what.ends_block = what.use == register_use::system || goes_elsewhere(what);
    return place_in_it(what, source, where.it);
}

} // namespace

operation decode(std::uint32_t word, std::uint8_t bytes, const instruction_place &where, const features &has)
{
    operation what;
    what.address = where.address;
    what.pc_value = where.address + (where.thumb ? 4 : 8);
    what.word = word;
    what.bytes = bytes;
    what.it = where.it;
    what.next_it = it_advanced(where.it);
    const operation plain = what;
    const table &rows = bytes == 2 ? t16() : where.thumb ? t32() : a32();
    const encoding *const found = rows.find(word, has.m_profile);
    if (found != nullptr && fill(what, *found, where, has)) {
        return what;
    }
    const std::uint8_t condition = what.condition;
    what = plain;
    what.execute = undefined_instruction;
    what.condition = where.it != 0 ? static_cast<std::uint8_t>(where.it >> 4U) : condition;
    what.ends_block = true;
    return what;
}

bool is_undefined(const operation &what)
{
    return what.execute == undefined_instruction;
}

} // namespace bulkhead::machine::armv7
