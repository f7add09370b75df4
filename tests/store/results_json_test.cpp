#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "store/golden.h"
#include "store/results_stream.h"
#include "store/sample_results.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/temporary_folder.h"
#include "trial/random_record.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using nlohmann::json;
using testing::RandomRecords;
using testing::TemporaryFolder;

std::string written_json(const Results& results) {
    const TemporaryFolder folder;
    write_results_json(results, folder / "results.json");
    return read_file(folder / "results.json");
}

std::string json_error(const std::string& path) {
    try {
        read_results_json(path);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(ResultsJson, Golden) {
    testing::expect_golden(written_json(testing::sample_results()), "store/results.json");
}

TEST(ResultsJson, RoundTrips) {
    const TemporaryFolder folder;
    RandomRecords random(31);
    for (const int records : {0, 1, 100}) {
        const Results before = random.results(records);
        write_results_json(before, folder / "results.json");
        const Results after = read_results_json(folder.path());  // the folder that holds it
        EXPECT_EQ(to_json(after.environment), to_json(before.environment));
        EXPECT_EQ(after.command, before.command);
        ASSERT_EQ(after.plans.size(), 1u);
        EXPECT_EQ(after.plans[0].problem_key, before.plans[0].problem_key);
        EXPECT_EQ(after.plans[0].points, before.plans[0].points);
        EXPECT_EQ(after.plans[0].pruned[0].reason, before.plans[0].pruned[0].reason);
        ASSERT_EQ(after.records.size(), before.records.size());
        for (std::size_t i = 0; i < after.records.size(); ++i) {
            EXPECT_EQ(to_json(after.records[i]), to_json(before.records[i]));
        }
        EXPECT_EQ(written_json(after), written_json(before));
    }
}

/// A results.json of `records` records, made as it is read.
class Endless : public ByteSource {
public:
    explicit Endless(int records) : left_(records) {
        Results results = testing::sample_results();
        results.records.resize(1);
        text_ = written_json(results);
        const std::size_t begin = text_.find("\"records\": [") + 12;
        const std::size_t end = text_.rfind("\n]");
        record_ = text_.substr(begin, end - begin);
        end_ = text_.substr(end);
        text_.resize(begin);
    }
    std::size_t read(char* into, std::size_t most) override {
        if (at_ == text_.size()) {
            at_ = 0;
            text_ = left_ > 0 ? (begun_ ? "," : "") + record_ : left_ == 0 ? end_ : "";
            begun_ = true;
            --left_;
        }
        const std::size_t got = text_.copy(into, most, at_);
        at_ += got;
        return got;
    }
    int left() const { return left_; }
    std::size_t record_bytes() const { return record_.size(); }

private:
    std::string text_, record_, end_;
    std::size_t at_ = 0;
    int left_;
    bool begun_ = false;
};

TEST(ResultsJson, RecordsAreGivenAwayAsTheyAreRead) {
    constexpr int records = 4000;
    Endless source(records);
    int taken = 0;
    const Results rest = stream_results_json(source, "file", [&](const Record& record, const ListElement&) {
        EXPECT_EQ(record.outcome, Outcome::passed);
        const std::size_t ahead = static_cast<std::size_t>(records - source.left() - taken++) * source.record_bytes();
        EXPECT_LE(ahead, std::size_t{5} << 20) << "read ahead of what was given away";
    });
    EXPECT_EQ(taken, records);
    EXPECT_TRUE(rest.records.empty());
    EXPECT_EQ(rest.environment.hostname, testing::sample_results().environment.hostname);
}

TEST(ResultsJson, WhatIsWrongWithARecordIsToldBehindWhatIsWrongWithTheFile) {
    const TemporaryFolder folder;
    const auto error_with = [&](const std::function<void(json&)>& change) {
        json document = json::parse(written_json(testing::sample_results()));
        change(document);
        write_file_atomically(folder / "results.json", document.dump());
        return json_error(folder / "results.json").substr(folder.path().size());
    };
    const auto spoil = [](json& document) { document["records"][3]["outcome"] = "lost"; };
    EXPECT_EQ(error_with(spoil).find("/results.json: records/3/outcome: unknown value 'lost'"), 0U) << error_with(spoil);
    const auto newer = [&](json& document) {
        spoil(document);
        document["schema_version"] = 9999;
    };
    EXPECT_EQ(error_with(newer).find("/results.json: schema_version: 9999 was written by a newer normtune"), 0U) << error_with(newer);
    EXPECT_EQ(error_with([](json& document) { document["records"] = 5; }).find("/results.json: records: expected an array"), 0U);
    EXPECT_EQ(error_with([](json& document) { document["records"][1] = 5; }).find("/results.json: records/1: expected an object"), 0U);
    std::string twice = written_json(testing::sample_results());
    twice.insert(twice.rfind("{\"arch\"") + 1, "\"arch\":\"x\",");
    write_file_atomically(folder / "twice.json", twice);
    EXPECT_EQ(json_error(folder / "twice.json").substr(folder.path().size()), "/twice.json: records/4: the member \"arch\" is there twice");
}

TEST(ResultsJson, WhatIsWrongWithAVerificationIsToldToJudgesToo) {
    const TemporaryFolder folder;
    json document = json::parse(written_json(testing::sample_results()));
    const std::string path = folder / "results.json";
    const auto read = [&]() -> std::string {
        write_file_atomically(path, document.dump());
        try {
            return read_judged_results(path).records[0].verification ? "a verification" : "none";
        } catch (const InputError& error) {
            return std::string(error.what()).substr(path.size());
        }
    };
    ASSERT_TRUE(document["records"][0].contains("verification"));
    EXPECT_EQ(read(), "none");
    document["records"][0]["verification"]["seed"] = "x";
    EXPECT_EQ(read(), ": records/0/verification/seed: expected a whole number from 0, got the text 'x'");
}

TEST(ResultsJson, PlansAreReadOneByOneAndToldBeforeRecords) {
    const TemporaryFolder folder;
    Results many = testing::sample_results();
    for (int i = 0; i < 70; ++i) {
        PlanSummary plan = many.plans.at(0);
        plan.problem_key = "problem " + std::to_string(i);
        many.plans.push_back(plan);
    }
    write_results_json(many, folder / "results.json");
    EXPECT_EQ(written_json(read_results_json(folder.path())), written_json(many));
    json document = json::parse(written_json(testing::sample_results()));
    document["plans"][0]["kept"] = -1;
    document["records"][0]["outcome"] = "lost";
    write_file_atomically(folder / "results.json", document.dump());
    EXPECT_EQ(json_error(folder / "results.json").substr(folder.path().size()),
              "/results.json: plans/0/kept: expected a whole number from 0, got the number '-1'");
}

TEST(ResultsJson, ErrorsNameFileAndPlace) {
    const TemporaryFolder folder;
    const std::string path = folder / "results.json";
    EXPECT_EQ(json_error(folder.path()), path + ": there is no such file");
    const json good = json::parse(written_json(testing::sample_results()));
    const auto error_with = [&](const json& document) {
        write_file_atomically(path, document.dump());
        return json_error(path);
    };
    ASSERT_EQ(error_with(good), "no error");

    json bad = good;
    bad["schema_version"] = 2;
    EXPECT_EQ(error_with(bad), path + ": schema_version: 2 was written by a newer normtune; this one reads up to 1: update it");
    bad.erase("schema_version");
    EXPECT_EQ(error_with(bad), path + ": the member \"schema_version\" is missing");
    bad = good;
    bad["records"][3]["measurement"] = good["records"][0]["measurement"];
    bad["records"][3]["measurement"]["samples"] = "many";
    EXPECT_EQ(error_with(bad), path + ": records/3/measurement/samples: expected a whole number, got the text 'many'");
    bad = good;
    bad["records"] = 5;
    EXPECT_EQ(error_with(bad), path + ": records: expected an array, got the number '5'");
    EXPECT_EQ(error_with(json::array()), path + ": is no results.json: it begins with '[' and not with '{'");

    write_file_atomically(path, "");
    EXPECT_EQ(json_error(path), path + ": is no results.json: it is empty");
    write_file_atomically(path, " \n");
    EXPECT_EQ(json_error(path), path + ": is no results.json: it is empty");
    write_file_atomically(path, "\xEF\xBB\xBF\n" + good.dump());
    EXPECT_EQ(json_error(path), "no error");
    write_file_atomically(path, std::string("\x7f"
                                            "ELF\x02\0\0\0",
                                            8));
    EXPECT_EQ(json_error(path).find(path + ": is no results.json: it begins with '"), 0u);
    write_file_atomically(path, "{\"x\":" + std::string(200000, '['));
    EXPECT_EQ(json_error(path), path + ": lists and objects in each other, over 200 deep");
}

}  // namespace
}  // namespace normtune
