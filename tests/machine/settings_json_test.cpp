// SPDX-License-Identifier: Apache-2.0
// Settings as text: which keys are read, and which are refused with the path of the key.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "machine/machine.h"
#include "machine/settings_json.h"
#include "tests/machine/make.h"

namespace bulkhead::machine::test::settings_json_test {

namespace {

using nlohmann::json;

json good()
{
    return json::parse(R"({
        "seed": 7, "signals": {"interrupt_ps": 150000, "maintenance_ps": 90000}, "owners": 4,
        "cores": [{
            "frequency_hz": 1000000000, "instruction_millicycles": 1200, "loads": 2,
            "l1d": {"size_bytes": 32768, "ways": 4, "policy": "plru"},
            "prefetcher": {"depth_lines": 3}, "path": ["l2"], "master": "cluster"
        }],
        "levels": [{"name": "l2", "cache": {"size_bytes": 524288, "ways": 16, "policy": "random"}, "latency_ps": 12000}],
        "masters": [{"name": "cluster", "request_ps": 9000, "reads": {"rate_bytes_per_s": 1000000}}],
        "regions": [{"name": "ocm", "base": 4294901760, "size_bytes": 65536, "latency_ps": 30000}],
        "dram": {
            "shape": {"banks": 8, "rows": 4, "columns": 2, "burst_bytes": 64},
            "map": {"bank": [1152, 256, 512], "row": [1024, 2048], "column": [64]},
            "base": 2147483648,
            "timings": {"period_fs": 1876000, "burst": 4, "cl": 7, "cwl": 6, "rcd": 7, "rp": 7, "ras": 20,
                        "ccd_s": 4, "ccd_l": 4, "rrd_s": 6, "rrd_l": 6, "faw": 27, "wr": 8, "wtr_s": 4,
                        "wtr_l": 4, "rtp": 4, "refi": 4160, "rfc": 59, "turnaround": 2},
            "how": {"page": "closed", "cap": 4}
        }
    })");
}

std::string reason(const json &text)
{
    return reason_of(settings_from_json(text.dump()));
}

TEST(settings_json, what_is_read_makes_a_machine)
{
    const settings read = expect_made(settings_from_json(good().dump()));
    EXPECT_EQ(read.seed, 7U);
    EXPECT_EQ(read.signals.interrupt_ps, 150'000U);
    EXPECT_EQ(read.signals.event_ps, 0U);
    EXPECT_EQ(read.cores.at(0).instruction_millicycles, 1200U);
    EXPECT_EQ(read.cores.at(0).l1d.policy, replacement::tree_plru);
    EXPECT_EQ(read.cores.at(0).stores, core_settings{}.stores);
    EXPECT_EQ(read.masters.at(0).reads.rate_bytes_per_s, 1'000'000U);
    EXPECT_EQ(read.dram.map.bank.at(0), 1U << 7U | 1U << 10U);
    EXPECT_EQ(read.dram.how.page, dram::page_policy::closed);
    EXPECT_EQ(reason_of(simulated_machine::make(read)), "");
}

TEST(settings_json, arbitration_is_by_score_only_where_it_is_given)
{
    json text = good();
    EXPECT_FALSE(expect_made(settings_from_json(text.dump())).dram.how.arbitration);
    text["dram"]["how"]["arbitration"] = {{"row_hit", 5}, {"guard", 9}};
    const settings read = expect_made(settings_from_json(text.dump()));
    ASSERT_TRUE(read.dram.how.arbitration);
    EXPECT_EQ(read.dram.how.arbitration->row_hit, 5U);
    EXPECT_EQ(read.dram.how.arbitration->guard, 9U);
    EXPECT_EQ(read.dram.how.arbitration->direction, dram::arbitration{}.direction);
    text["dram"]["how"]["arbitration"]["score"] = 1;
    EXPECT_EQ(reason(text), "dram.how.arbitration.score: there is no such setting");
}

TEST(settings_json, transaction_stores_are_there_only_where_they_are_given)
{
    json text = good();
    EXPECT_FALSE(expect_made(settings_from_json(text.dump())).dram.how.stores);
    text["dram"]["how"]["age_limit"] = 77;
    text["dram"]["how"]["stores"] = {{"starve", 64}, {"rest", 32}};
    const settings read = expect_made(settings_from_json(text.dump()));
    EXPECT_EQ(read.dram.how.age_limit, 77U);
    ASSERT_TRUE(read.dram.how.stores);
    EXPECT_EQ(read.dram.how.stores->starve, 64U);
    EXPECT_EQ(read.dram.how.stores->rest, 32U);
    EXPECT_EQ(read.dram.how.stores->run, dram::store_settings{}.run);
}

TEST(settings_json, an_unknown_key_is_named_with_its_path)
{
    json text = good();
    text["cores"][0]["l1d"]["size"] = 1;
    EXPECT_EQ(reason(text), "cores[0].l1d.size: there is no such setting");
}

TEST(settings_json, values_of_a_wrong_type_or_out_of_range_are_refused)
{
    json text = good();
    text["levels"][0]["latency_ps"] = "12 ns";
    EXPECT_EQ(reason(text), "levels[0].latency_ps: is no whole number from 0 to 18446744073709551615");
    text = good();
    text["cores"][0]["loads"] = -1;
    EXPECT_EQ(reason(text), "cores[0].loads: is no whole number from 0 to 4294967295");
    text = good();
    text["cores"][0]["l1d"]["policy"] = "fifo";
    EXPECT_EQ(reason(text), "cores[0].l1d.policy: 'fifo' is none of lru, plru, random");
    text = good();
    text["dram"]["map"]["bank"][0] = {64};
    EXPECT_EQ(reason(text), "dram.map.bank: is no whole number from 0 to 18446744073709551615");
    EXPECT_NE(reason_of(settings_from_json("{")), "");
    EXPECT_EQ(reason(json::array()), "settings: is no object");
}

TEST(settings_json, a_machine_that_can_not_be_is_refused_with_the_key)
{
    const auto refused = [](json text) {
        return reason_of(simulated_machine::make(expect_made(settings_from_json(text.dump()))));
    };
    json text = good();
    text["cores"][0]["path"] = {"l3"};
    EXPECT_EQ(refused(text), "cores[0].path: there is no level 'l3'");
    text = good();
    text["levels"][0]["cache"]["ways"] = 15;
    EXPECT_NE(refused(text).find("levels[0].cache: "), std::string::npos);
    text = good();
    text["levels"][0]["cache"]["locked_ways"] = 0xFFFF;
    EXPECT_NE(refused(text).find("levels[0].cache.locked_ways: "), std::string::npos);
    text = good();
    text["cores"][0]["l1d"]["line_bytes"] = 32;
    EXPECT_NE(refused(text).find("line_bytes: all caches must have lines of one size"), std::string::npos);
    text = good();
    text["dram"]["map"]["bank"][0] = 256;
    EXPECT_NE(refused(text).find("dram: "), std::string::npos);
    text = good();
    text["dram"]["bytes"] = 8192; // it has 4096
    EXPECT_NE(refused(text).find("dram.bytes: "), std::string::npos);
    text = good();
    text["dram"]["timings"]["ras"] = 1;
    EXPECT_NE(refused(text).find("dram: "), std::string::npos);
}

} // namespace

} // namespace bulkhead::machine::test::settings_json_test
