// Damaged files: reading them succeeds or is refused with one line, and never anything else.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <random>

#include "store/journal_lines.h"
#include "store/results.h"
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

/// Reading either succeeds or is an InputError of one line; anything else ends the test. True: it was refused.
template <typename Parse>
bool refused(Parse parse, const std::string& text) {
    try {
        parse(text, "file");
        return false;
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        return true;
    }
}

/// One record, so that a round of damage is quick.
Results short_results() {
    Results results = testing::sample_results();
    results.records.resize(1);
    return results;
}

TEST(Robustness, DamagedJournals) {
    const Results results = short_results();
    const std::string good = journal_line(JournalHeader{results.environment, {"normtune"}, "{}", results.plans}) +
                             journal_line(results.records[0]) + journal_line(FinalEntry{"p", {{"w4", {1}, 1, true}}});
    std::mt19937_64 random(41);
    int damaged = 0;
    constexpr int times = 4000;
    for (int i = 0; i < times; ++i) {
        std::string text = good;
        for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
            text[random() % text.size()] ^= static_cast<char>(1u << (random() % 8));
        }
        damaged += refused(parse_journal, text) ? 1 : 0;
    }
    EXPECT_FALSE(refused(parse_journal, good));
    EXPECT_GT(damaged, times / 10) << "names, numbers and brackets are held against what belongs there";
    EXPECT_LT(damaged, times) << "a letter of a text may be any";
    for (std::size_t size = 1; size < good.size(); ++size) {
        EXPECT_TRUE(refused(parse_journal, good.substr(size))) << "its first " << size << " bytes are missing";
    }
}

TEST(Robustness, DamagedResults) {
    const TemporaryFolder folder;
    write_results_json(short_results(), folder / "results.json");
    const std::string good = read_file(folder / "results.json");
    std::mt19937_64 random(43);
    int damaged = 0;
    constexpr int times = 4000;
    for (int i = 0; i < times; ++i) {
        std::string text = good;
        text[random() % text.size()] ^= static_cast<char>(1u << (random() % 8));
        damaged += refused(parse_results_json, text) ? 1 : 0;
    }
    EXPECT_GT(damaged, times / 10);
    EXPECT_LT(damaged, times);
    for (std::size_t size = 0; size < good.size() - 2; ++size) {  // without its last brace it is no document
        EXPECT_THROW(parse_results_json(good.substr(0, size), "file"), InputError) << size;
    }
}

/// Every value in turn becomes one of another type or range: typed reading, whatever the place.
void replace_everywhere(json& document, json& place, const std::vector<json>& values, int& refused, int& accepted) {
    if (place.is_structured()) {
        for (json& child : place) {
            replace_everywhere(document, child, values, refused, accepted);
        }
    }
    const json before = place;
    for (const json& value : values) {
        place = value;
        try {
            from_json<Record>({document, ""});
            ++accepted;
        } catch (const InputError&) {
            ++refused;
        }
    }
    place = before;
}

TEST(Robustness, ValuesOfEveryOtherType) {
    RandomRecords random(45);
    Record record = random.record();
    record.measurement = random.measurement();
    json document = to_json(record);
    int refused = 0;
    int accepted = 0;
    replace_everywhere(document, document,
                       {json::array(), json::object(), -1, std::numeric_limits<std::uint64_t>::max(), 1e308, true, "", nullptr,
                        json::array({json::array()})},
                       refused, accepted);
    EXPECT_GT(refused, 5 * accepted);  // most places take one type
}

}  // namespace
}  // namespace normtune
