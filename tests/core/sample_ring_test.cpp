// SPDX-License-Identifier: Apache-2.0
// The ring of samples (B8): it drops the oldest ones, readers learn how many, and neither a slow reader nor a
// fast writer causes a torn sample.
#include "core/sample_ring.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace sample_ring_test {
namespace {

constexpr uint64_t WORDS = 3;

struct ring_under_test {
    explicit ring_under_test(uint64_t capacity)
        : memory(sizeof(sample_ring) / 8 + capacity * WORDS),
          ring(reinterpret_cast<sample_ring *>(memory.data()))
    {
        EXPECT_TRUE(sample_writer_init(&writer, ring, memory.size() * 8, WORDS));
        EXPECT_EQ(writer.capacity, capacity);
    }

    void write(uint64_t value)
    {
        const uint64_t sample[WORDS] = {value, value + 1, ~value};
        sample_write(&writer, sample);
    }

    sample_reader reader() const
    {
        sample_reader made{};
        EXPECT_TRUE(sample_reader_init(&made, ring, memory.size() * 8));
        return made;
    }

    std::vector<uint64_t> memory;
    sample_ring *ring;
    sample_writer writer{};
};

// The first word of the next sample, or -1; a torn sample fails the test.
int64_t next(sample_reader &reader)
{
    uint64_t sample[WORDS] = {};
    if (!sample_read(&reader, sample)) {
        return -1;
    }
    EXPECT_EQ(sample[1], sample[0] + 1);
    EXPECT_EQ(sample[2], ~sample[0]);
    return int64_t(sample[0]);
}

TEST(SampleRing, B8_SamplesComeInOrderToEachReader)
{
    ring_under_test test(4);
    sample_reader first = test.reader();
    sample_reader second = test.reader();
    EXPECT_EQ(next(first), -1);
    test.write(10);
    test.write(20);
    EXPECT_EQ(next(first), 10);
    EXPECT_EQ(next(first), 20);
    EXPECT_EQ(next(first), -1);
    EXPECT_EQ(next(second), 10);
}

TEST(SampleRing, B8_TheOldestAreDroppedAndCounted)
{
    for (uint64_t capacity = 2; capacity < 6; capacity++) {
        for (uint64_t written = 0; written < 20; written++) {
            ring_under_test test(capacity);
            sample_reader reader = test.reader();
            for (uint64_t i = 0; i < written; i++) {
                test.write(i);
            }
            const uint64_t dropped = written > capacity ? written - capacity : 0;
            for (uint64_t i = dropped; i < written; i++) {
                ASSERT_EQ(next(reader), int64_t(i));
            }
            ASSERT_EQ(next(reader), -1);
            ASSERT_EQ(reader.dropped, dropped);
        }
    }
}

TEST(SampleRing, B8_AReaderThatComesLaterBeginsWithTheOldestThatIsThere)
{
    ring_under_test test(4);
    for (uint64_t i = 0; i < 11; i++) {
        test.write(i);
    }
    sample_reader reader = test.reader();
    EXPECT_EQ(next(reader), 7);
    EXPECT_EQ(reader.dropped, 0u);
}

TEST(SampleRing, B8_ASampleThatIsBeingWrittenIsNotReadNorTheOneThatItReplaces)
{
    ring_under_test test(4);
    for (uint64_t i = 0; i < 4; i++) {
        test.write(i);
    }
    sample_reader reader = test.reader();
    test.ring->begun++; // the writer has written part of sample 4, in the place of sample 0
    EXPECT_EQ(next(reader), 1);
    EXPECT_EQ(reader.dropped, 1u);
    EXPECT_EQ(next(reader), 2);
    EXPECT_EQ(next(reader), 3);
    EXPECT_EQ(next(reader), -1);
}

TEST(SampleRing, B8_MemoryThatIsNoRingIsRefused)
{
    ring_under_test test(4);
    sample_reader reader{};
    sample_writer writer{};
    EXPECT_FALSE(
        sample_writer_init(&writer, test.ring, sizeof(sample_ring) + 8 * WORDS, WORDS)); // room for one
    EXPECT_FALSE(sample_writer_init(&writer, test.ring, 8, WORDS));
    EXPECT_FALSE(sample_writer_init(&writer, test.ring, 4096, 0));
    const sample_ring good = *test.ring;
    test.ring->capacity = 5; // more than there is memory
    EXPECT_FALSE(sample_reader_init(&reader, test.ring, test.memory.size() * 8));
    test.ring->capacity = good.capacity;
    test.ring->words = UINT64_MAX;
    EXPECT_FALSE(sample_reader_init(&reader, test.ring, test.memory.size() * 8));
    test.ring->words = 0;
    EXPECT_FALSE(sample_reader_init(&reader, test.ring, test.memory.size() * 8));
}

TEST(SampleRing, B8_AFastWriterMakesASlowReaderLoseSamplesButNeverTearsOne)
{
    constexpr uint64_t SAMPLES = 200000;
    ring_under_test test(8);
    sample_reader reader = test.reader();
    std::thread writer([&test] {
        for (uint64_t i = 0; i < SAMPLES; i++) {
            test.write(i);
        }
    });
    uint64_t read = 0;
    for (int64_t last = -1; last != int64_t(SAMPLES) - 1;) {
        const int64_t sample = next(reader);
        if (sample >= 0) {
            ASSERT_GT(sample, last);
            last = sample;
            read++;
        }
    }
    writer.join();
    EXPECT_EQ(read + reader.dropped, SAMPLES);
}

} // namespace
} // namespace sample_ring_test
