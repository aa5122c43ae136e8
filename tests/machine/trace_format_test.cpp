// SPDX-License-Identifier: Apache-2.0
// Traces: a written trace can be read again; a foreign, truncated or changed file is refused, whatever the
// change is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "machine/trace/reader.h"
#include "machine/trace/writer.h"
#include "trace_file.h"

namespace bulkhead::machine::test::trace_format_test {

namespace {

using testing::EndsWith;
using testing::HasSubstr;

using records = std::vector<trace::record>;

template <class File> std::string refused(const File &file)
{
    const auto read = read_trace(file);
    const auto *reason = std::get_if<refusal>(&read);
    return reason != nullptr ? reason->reason : "accepted";
}

class Trace : public testing::Test {
protected:
    void TearDown() override { (void)std::remove(trace_path().c_str()); }
};

TEST_F(Trace, GivesBackWhatWasWritten)
{
    for (const std::size_t count : {0UL, 1UL, trace::block_records, 2 * trace::block_records + 17}) {
        const records written = some_records(count, count);
        write_trace(trace_path(), written);
        const auto read = read_trace(trace_path());
        ASSERT_TRUE(std::holds_alternative<records>(read)) << refused(trace_path());
        EXPECT_EQ(std::get<records>(read), written);
    }
}

TEST_F(Trace, KnowsItsTotalsAndDescriptionBeforeItIsRead)
{
    const records written{
        {0x1000, 1, access_kind::read, 3}, {0x1000, 0, access_kind::write, 3}, {8, 7, {}, 0}};
    write_trace(trace_path(), written, 5);
    const auto opened = trace::reader::open(trace_path());
    const auto &from = std::get<trace::reader>(opened);
    EXPECT_EQ(from.all(), (trace::totals{.records = 3, .instructions = 13, .reads = 2, .writes = 1}));
    EXPECT_EQ(from.description(), R"({"program": "test"})");
}

TEST_F(Trace, SequentialAccessesTakeLessThanAByteEach)
{
    records written(trace::block_records);
    for (std::size_t i = 0; i < written.size(); ++i) {
        written[i] = {0x10000 + 8 * i, 4, access_kind::write, 3};
    }
    write_trace(trace_path(), written);
    EXPECT_LT(file_bytes(trace_path()).size(), written.size());
}

TEST_F(Trace, RefusesEveryTruncation)
{
    write_trace(trace_path(), some_records(100, 1));
    const std::vector<std::uint8_t> whole = file_bytes(trace_path());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::string reason =
            refused(trace::bytes{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
        ASSERT_NE(reason, "accepted") << length;
    }
    std::vector<std::uint8_t> cut = whole;
    cut.pop_back();
    EXPECT_THAT(refused(cut),
                EndsWith("it has no end: the recording was interrupted or the file was cut off"));
}

TEST_F(Trace, RefusesEveryChangedByte)
{
    write_trace(trace_path(), some_records(60, 2));
    const std::vector<std::uint8_t> whole = file_bytes(trace_path());
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::vector<std::uint8_t> changed = whole;
        changed[at] ^= static_cast<std::uint8_t>(1U << at % 8);
        ASSERT_NE(refused(changed), "accepted") << at;
    }
}

// Changes that no accident makes: sizes, tags and contents changed together, blocks moved, with matching
// CRCs.
TEST_F(Trace, EndsWithAReasonWhateverIsInTheFile)
{
    std::mt19937_64 random(3);
    write_trace(trace_path(), some_records(trace::block_records + 50, 3));
    const std::vector<std::uint8_t> whole = file_bytes(trace_path());
    for (int round = 0; round < 300; ++round) {
        std::vector<std::uint8_t> changed = whole;
        for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
            const std::size_t from = random() % changed.size();
            const std::size_t count = random() % std::min<std::size_t>(64, changed.size() - from);
            const auto start = changed.begin() + static_cast<std::ptrdiff_t>(from);
            switch (random() % 3) {
            case 0:
                changed.erase(start, start + static_cast<std::ptrdiff_t>(count));
                break;
            case 1:
                changed.insert(start, count, static_cast<std::uint8_t>(random()));
                break;
            default:
                std::fill_n(start, count, static_cast<std::uint8_t>(random()));
                break;
            }
        }
        if (changed != whole) {
            ASSERT_NE(refused(changed), "accepted") << round;
        }
    }
}

TEST(TraceRecords, AnyBytesDecodeToRecordsThatEncodeToTheSameOrAreRefused)
{
    std::mt19937_64 random(4);
    int decoded_count = 0;
    for (int round = 0; round < 20000; ++round) {
        trace::bytes data(2 + random() % 40);
        for (auto &byte : data) {
            byte = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : random() % 128);
        }
        const auto decoded = trace::decode(data, 1 + random() % 8);
        if (const auto *list = std::get_if<records>(&decoded)) {
            trace::bytes again;
            trace::encode(*list, again);
            ASSERT_EQ(std::get<records>(trace::decode(again, list->size())), *list);
            ++decoded_count;
        }
    }
    EXPECT_GT(decoded_count, 100);
}

TEST_F(Trace, RefusesWhatIsNoTrace)
{
    EXPECT_THAT(refused(std::vector<std::uint8_t>(100, 'x')), EndsWith("not a trace of this project"));
    EXPECT_THAT(refused(std::vector<std::uint8_t>(1)), EndsWith("not a trace of this project"));
    (void)std::remove(trace_path().c_str());
    EXPECT_THAT(refused(trace_path()), HasSubstr("No such file"));
}

TEST_F(Trace, RefusesAnotherVersion)
{
    write_trace(trace_path(), some_records(1, 1));
    std::vector<std::uint8_t> data = file_bytes(trace_path());
    data[8] = 2;
    EXPECT_THAT(refused(data), EndsWith("format version 2, and this program reads version 1"));
}

TEST_F(Trace, RefusesMissingAndForeignBlocks)
{
    write_trace(trace_path(), some_records(10, 5));
    const std::vector<std::uint8_t> first = file_bytes(trace_path());
    write_trace(trace_path(), some_records(11, 6));
    const std::vector<std::uint8_t> second = file_bytes(trace_path());
    const std::size_t header = trace::header_bytes + std::string(R"({"program": "test"})").size() + 4;
    std::vector<std::uint8_t> mixed(first.begin(),
                                    first.end() - static_cast<std::ptrdiff_t>(trace::end_bytes));
    mixed.insert(mixed.end(), second.end() - static_cast<std::ptrdiff_t>(trace::end_bytes), second.end());
    EXPECT_THAT(refused(mixed), HasSubstr("its end does not tell what is in it"));
    std::vector<std::uint8_t> none(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(header));
    none.insert(none.end(), first.end() - static_cast<std::ptrdiff_t>(trace::end_bytes), first.end());
    EXPECT_THAT(refused(none), EndsWith("block 0 is missing"));
    std::vector<std::uint8_t> twice(first.begin(),
                                    first.end() - static_cast<std::ptrdiff_t>(trace::end_bytes));
    twice.insert(twice.end(), first.begin() + static_cast<std::ptrdiff_t>(header), first.end());
    EXPECT_THAT(refused(twice), EndsWith("something lies between its last block and its end"));
}

TEST(TraceWriter, SaysWhenItCannotWrite)
{
    EXPECT_TRUE(std::holds_alternative<refusal>(trace::writer::create(testing::TempDir() + "no/such", "{}")));
    auto full = trace::writer::create("/dev/full", "{}");
    ASSERT_TRUE(std::holds_alternative<trace::writer>(full));
    EXPECT_TRUE(std::get<trace::writer>(full).finish(0));
}

} // namespace

} // namespace bulkhead::machine::test::trace_format_test
