#include "trial/record_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

#include "support/error.h"
#include "support/json_reader.h"
#include "trial/random_record.h"

namespace normtune {
namespace {

using nlohmann::json;
using testing::RandomRecords;

std::string error_of(const json& value) {
    try {
        from_json<Record>({value, ""});
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(RecordJson, RoundTripsEveryMemberExactly) {
    RandomRecords random(1);
    for (int i = 0; i < 500; ++i) {
        const Record before = random.record();
        const json written = to_json(before);
        const Record after = from_json<Record>({json::parse(written.dump()), ""});
        EXPECT_EQ(after.timestamp, before.timestamp);
        EXPECT_EQ(after.backend, before.backend);
        EXPECT_EQ(after.device, before.device);
        EXPECT_EQ(after.arch, before.arch);
        EXPECT_EQ(after.problem.shape, before.problem.shape);
        EXPECT_EQ(after.problem.operation, before.problem.operation);
        EXPECT_EQ(after.problem.uses, before.problem.uses);
        EXPECT_EQ(after.candidate, before.candidate);
        EXPECT_EQ(after.outcome, before.outcome);
        EXPECT_EQ(after.reason, before.reason);
        EXPECT_EQ(after.repeat, before.repeat);
        EXPECT_EQ(after.verification, before.verification);
        EXPECT_EQ(after.bits, before.bits);
        EXPECT_EQ(after.measurement, before.measurement);
        EXPECT_EQ(after.trial_key(), before.trial_key());
        ASSERT_EQ(after.compile.has_value(), before.compile.has_value());
        EXPECT_EQ(to_json(after), written);  // compile's members, too
    }
}

TEST(RecordJson, EnvironmentRoundTripsIncludingSeedsAbove53Bits) {
    RandomRecords random(2);
    for (int i = 0; i < 100; ++i) {
        Environment before = random.environment();
        before.seed = std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(i);
        const json written = to_json(before);
        const Environment after = from_json<Environment>({json::parse(written.dump()), ""});
        EXPECT_EQ(after.seed, before.seed);
        EXPECT_EQ(to_json(after), written);
    }
}

TEST(RecordJson, ValuesThatAreNotFiniteAreNull) {
    Record record = RandomRecords(3).record();
    record.measurement = RandomRecords(4).measurement();
    record.measurement->limit_us = std::numeric_limits<double>::quiet_NaN();
    record.measurement->limit_ratio = std::numeric_limits<double>::infinity();
    record.measurement->clock_mhz = std::numeric_limits<double>::infinity();
    record.verification = Verification{};
    record.verification->shapes.push_back({{1, 1, 1}, 1, {TensorCheck{}}});
    record.verification->shapes[0].tensors[0].worst_over_bound = std::numeric_limits<double>::infinity();

    const json written = to_json(record);
    EXPECT_TRUE(written["measurement"]["limit_us"].is_null());
    EXPECT_TRUE(written["measurement"]["limit_ratio"].is_null());
    EXPECT_FALSE(written["measurement"].contains("clock_mhz"));

    const Record after = from_json<Record>({json::parse(written.dump()), ""});
    EXPECT_TRUE(std::isnan(after.measurement->limit_us));
    EXPECT_TRUE(std::isnan(after.measurement->limit_ratio));
    EXPECT_EQ(after.verification->shapes[0].tensors[0].worst_over_bound, std::numeric_limits<double>::infinity());
}

TEST(RecordJson, ImpossibleValuesAreRefused) {
    Record record = RandomRecords(6).record();
    record.measurement = RandomRecords(7).measurement();
    record.measurement->rounds = {{2, 5, false}};
    record.measurement->final_rounds_us = {2};
    record.measurement->p20_us = 1;
    record.measurement->p50_us = 2;
    record.measurement->p80_us = 3;
    const json good = to_json(record);
    ASSERT_EQ(error_of(good), "no error");
    const auto error_with = [&](const char* pointer, const json& value) {
        json bad = good;
        bad[json::json_pointer(pointer)] = value;
        return error_of(bad);
    };
    for (const char* const time : {"p20_us", "p50_us", "p80_us", "rounds/0/median_us", "final_rounds_us/0"}) {
        for (const json& value : {json(-1), json(0), json(nullptr), json(1e13)}) {
            EXPECT_EQ(error_with((std::string("/measurement/") + time).c_str(), value),
                      "measurement/" + std::string(time) + ": " + value.dump() + " is out of range; 1e-06 to 1000000000000");
        }
    }
    EXPECT_EQ(error_with("/measurement/p20_us", 2.5), "measurement: p20_us 2.5, p50_us 2 and p80_us 3 are out of order");
    EXPECT_EQ(error_with("/measurement/p80_us", 1.5), "measurement: p20_us 1, p50_us 2 and p80_us 1.5 are out of order");
    EXPECT_EQ(error_with("/measurement/limit_us", -1), "measurement/limit_us: -1 is out of range; at least 0");
    EXPECT_EQ(error_with("/problem/eps", nullptr), "problem/eps: null is out of range; at least 0");
    EXPECT_EQ(error_with("/problem/row_stride", 1).find("problem: a row_stride of 1 is less than the "), 0U);
    for (const char* const time : {"yesterday", "2026-11-20 23:59:59", "2026-13-20T23:59:59Z", "2026-11-20T24:59:59Z", "20261120T235959Z",
                                   "2026-02-30T23:59:59Z", "2025-02-29T00:00:00Z", "2026-00-10T00:00:00Z"}) {
        EXPECT_EQ(error_with("/timestamp", time),
                  "timestamp: '" + std::string(time) + "' is not a time in UTC such as 2026-11-20T23:59:59Z");
    }
}

TEST(RecordJson, BytesThatAreNotTextDoNotStopTheWriter) {
    Record record;
    record.problem.shape = {1, 1, 1};
    record.reason = std::string("ptxas: \xff\xfe died\0here", 19);
    const std::string line = to_json(record).dump();
    EXPECT_EQ(from_json<Record>({json::parse(line), ""}).reason, std::string("ptxas: \xEF\xBF\xBD\xEF\xBF\xBD died\0here", 23));
}

TEST(RecordJson, ErrorsNameThePlace) {
    RandomRecords random(5);
    Record record = random.record();
    record.measurement = random.measurement();
    record.measurement->rounds = {{1, 2, false}, {1, 2, false}};
    record.outcome = Outcome::crashed;
    const json good = to_json(record);
    ASSERT_EQ(error_of(good), "no error");

    json bad = good;
    bad["measurement"]["rounds"][1]["median_us"] = "fast";
    EXPECT_EQ(error_of(bad), "measurement/rounds/1/median_us: expected a number, got the text 'fast'");

    bad = good;
    bad["outcome"] = "crashd";
    EXPECT_EQ(error_of(bad), "outcome: unknown value 'crashd'; did you mean 'crashed'?");

    bad = good;
    bad["problem"].erase("mode");
    EXPECT_EQ(error_of(bad), "problem: the member \"mode\" is missing");

    bad = good;
    bad["problem"]["rows"] = 0;
    EXPECT_EQ(error_of(bad), "problem/rows: 0 is out of range; at least 1");

    bad = good;
    bad["problem"]["rows"] = 2.5;
    EXPECT_EQ(error_of(bad), "problem/rows: expected a whole number, got the number '2.5'");

    bad = good;
    bad["measurement"]["samples"] = -1;
    EXPECT_EQ(error_of(bad), "measurement/samples: -1 is out of range; 0 to 2147483647");

    bad = good;
    bad["measurement"]["memory_bytes"] = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(error_of(bad), "measurement/memory_bytes: 18446744073709551615 is out of range; at least 0");

    bad = good;
    bad["measurement"] = nullptr;
    EXPECT_EQ(error_of(bad), "measurement: expected an object, got null");

    EXPECT_EQ(error_of(json::array()), "expected an object, got an array");
}

TEST(RecordJson, RefusesAxesThatContradictTheKey) {
    Record record;
    record.problem.shape = {4, 8, 8};
    json bad = to_json(record);
    bad["configuration"]["num_warps"] = 8;
    EXPECT_EQ(error_of(bad).find("configuration/key: 'w4."), 0u) << error_of(bad);

    bad = to_json(record);
    bad["configuration"]["block_size"] = 100;
    EXPECT_EQ(error_of(bad).find("configuration/block_size: '100' is not a value of block_size; a power of two"), 0u) << error_of(bad);

    bad = to_json(record);
    bad["configuration"]["reduction"] = "gard";
    EXPECT_EQ(error_of(bad), "configuration/reduction: unknown value 'gard'; did you mean 'guard'?");

    bad = to_json(record);
    bad["problem"]["cols"] = 4;
    EXPECT_EQ(error_of(bad).find("problem/key: "), 0u) << error_of(bad);
}

TEST(RecordJson, ReadsRecordsWrittenBeforeAnAxisAndWithUnknownMembers) {
    Record record;
    record.problem.shape = {4, 8, 8};
    json old = to_json(record);
    old["configuration"].erase("waves_per_eu");
    old["colour"] = "blue";
    EXPECT_EQ(from_json<Record>({old, ""}).candidate, record.candidate);
}

TEST(RecordJson, ShapesBeyondAnyMemoryAreRefused) {
    Record record;
    record.problem.shape = {4, 8, 8};
    json bad = to_json(record);
    bad["problem"]["rows"] = std::int64_t{1} << 60;
    EXPECT_NE(error_of(bad).find("more elements than any tensor has"), std::string::npos) << error_of(bad);
}

TEST(ParseJson, AMemberThatIsThereTwiceIsRefused) {
    const auto error = [](std::string_view text) -> std::string {
        try {
            parse_json(text, "results.json");
        } catch (const InputError& refused) {
            return refused.what();
        }
        return "no error";
    };
    EXPECT_EQ(error(R"({"records": [{"a": 1}, {"m": {"p50_us": 1, "x": [1, {}], "p50_us": 2}}]})"),
              "results.json: records/1/m: the member \"p50_us\" is there twice");
    EXPECT_EQ(error(R"([{"a": 1, "a": 1}])"), "results.json: 0: the member \"a\" is there twice");
    EXPECT_EQ(error(R"({"a": 1, "a": 1})"), "results.json: the member \"a\" is there twice");
    EXPECT_EQ(error(R"({"a\nb": {"a": 1, "a": 1}})"), "results.json: a\\x0ab: the member \"a\" is there twice");
    EXPECT_EQ(error(R"({"a": {"a": [{"a": 1}, {"a": 1}]}, "b": 1})"), "no error");
}

TEST(ParseJson, MessagesStayShort) {
    try {
        parse_json('"' + std::string(1 << 20, 'x'), "results.json");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_LT(std::string(error.what()).size(), 300u);
    }
}

TEST(ParseJson, SaysWhereAndStaysOnOneLine) {
    try {
        parse_json("{\"a\": \n  tru }", "results.json");
        FAIL();
    } catch (const InputError& error) {
        const std::string what = error.what();
        EXPECT_EQ(what.find("results.json: is not JSON: parse error at line 2, column 6"), 0u) << what;
        EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
}

}  // namespace
}  // namespace normtune
