#include "store/token_counts.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace normtune {
namespace {

using Batches = std::map<std::int64_t, std::int64_t>;

TokenCounts counts_of(std::string_view text) {
    MemorySource source(text);
    return read_token_counts(source, "tokens.csv");
}

TokenCounts log_of(std::string_view text, const std::vector<std::string>& columns = {}) {
    LogColumns names;
    for (const std::string& column : columns) {
        names.set(column);
    }
    MemorySource source(text);
    return read_token_log(source, "log", names);
}

std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(TokenCounts, EqualTokenCountsAddUpAndNoneIsLeftOut) {
    EXPECT_EQ(counts_of("tokens,count\n8,3\n1,2\n8,4\n16,0\n").batches, (Batches{{1, 2}, {8, 7}}));
    EXPECT_EQ(counts_of("when,count,tokens\r\nmonday,3.0,8\r\n").batches, (Batches{{8, 3}}));
}

TEST(TokenCounts, WhatIsWrongIsSaidWithItsLine) {
    const auto error = [](std::string_view text) { return message_of([&] { counts_of(text); }); };
    EXPECT_EQ(error("tokens,count\n8,3\n0,2\n"), "tokens.csv:3: tokens is '0'; it is a whole number from 1 to 1099511627776");
    EXPECT_EQ(error("tokens,count\n8,-3\n"), "tokens.csv:2: count is '-3'; it is a whole number from 0 to 1000000000000000");
    EXPECT_EQ(error("tokens,count\n8,some\n"), "tokens.csv:2: count is 'some'; it is a whole number from 0 to 1000000000000000");
    EXPECT_EQ(error("tokens,count\n2.5,1\n"), "tokens.csv:2: tokens is '2.5'; it is a whole number from 1 to 1099511627776");
    EXPECT_EQ(error("tokens,count\n"), "tokens.csv: no batch with a token is counted in it");
    EXPECT_EQ(error("tokens,count\n8,0\n"), "tokens.csv: no batch with a token is counted in it");
    EXPECT_EQ(error("tokens,count\n1,1000000000000000\n2,1\n"),
              "tokens.csv:3: with this entry there are more than 1000000000000000 batches");
    EXPECT_EQ(error("tokens,number\n8,3\n"),
              "tokens.csv:1: there are no columns tokens and count; normtune shapes --from-log makes such a file of a log");
    EXPECT_NE(error(""), "no error");
}

TEST(TokenCounts, ALogIsCountedByItsEntries) {
    EXPECT_EQ(log_of("tokens\n8\n8\n1\n").batches, (Batches{{1, 1}, {8, 2}}));
    EXPECT_EQ(log_of("batch_size,seq_len\n4,512\n32,1\n32,\n").batches, (Batches{{32, 2}, {2048, 1}}));
    EXPECT_EQ(log_of("{\"tokens\": 8, \"at\": 1}\n\n{\"batch_size\": 4, \"seq_len\": 2, \"count\": 3}\r\n").batches, (Batches{{8, 4}}));
    EXPECT_EQ(log_of("\n {\"batch_size\": 16, \"seq_len\": null}").batches, (Batches{{16, 1}}));
    const TokenCounts idle = log_of("tokens,count\n0,5\n3,1\n");
    EXPECT_EQ(idle.batches, (Batches{{3, 1}}));
    EXPECT_EQ(idle.empty, 5);
}

TEST(TokenCounts, ColumnsHaveTheNamesThatTheLogHas) {
    EXPECT_EQ(log_of("num_running,new\n4,3\n", {"batch_size=num_running", "seq_len=new"}).batches, (Batches{{12, 1}}));
    EXPECT_EQ(log_of("{\"new tokens\": 7}", {"tokens=new tokens"}).batches, (Batches{{7, 1}}));
    EXPECT_EQ(message_of([] { log_of("a\n1\n", {"token=a"}); }), "unknown role 'token'; there are tokens, batch_size, seq_len, count");
    EXPECT_EQ(message_of([] { log_of("a\n1\n", {"tokens"}); }), "'tokens' is not ROLE=NAME, as in tokens=num_batched_tokens");
}

TEST(TokenCounts, AColumnThatIsGivenIsInTheLogAndOneRoles) {
    EXPECT_EQ(log_of("count,n\n128,3\n64,2\n", {"tokens=count"}).batches, (Batches{{64, 1}, {128, 1}}));
    EXPECT_EQ(log_of("tokens, count\n5,300\n").batches, (Batches{{5, 300}}));
    const auto error = [](std::string_view text, const std::vector<std::string>& columns) {
        return message_of([&] { log_of(text, columns); });
    };
    EXPECT_EQ(error("tokens,n\n5,300\n", {"count=num"}), "log:1: there is no column 'num', which --column says is count");
    EXPECT_EQ(error("{\"tokens\": 5, \"n\": 300}\n", {"count=num"}), "log: no entry has 'num', which --column says is count");
    EXPECT_EQ(error("a\n1\n", {"tokens=a", "count=a"}), "--column says that 'a' is both tokens and count");
}

TEST(TokenCounts, AWrongEntryOfALogIsSaidWithItsLine) {
    const auto error = [](std::string_view text) { return message_of([&] { log_of(text); }); };
    EXPECT_EQ(error("a,b\n1,2\n"), "log:1: there is no column tokens, batch_size or seq_len; --column ROLE=NAME says what they are called");
    EXPECT_EQ(error("tokens\n8\n-8\n"), "log:3: tokens is '-8', where a whole number from 0 to 1099511627776 belongs");
    EXPECT_EQ(error("{\"tokens\": 8}\n{\"tokens\": \"9\"}\n"),
              "log:2: tokens is '\"9\"', where a whole number from 0 to 1099511627776 belongs");
    EXPECT_EQ(error("{\"at\": 8}\n"),
              "log:1: it has neither tokens, nor batch_size or seq_len (--column ROLE=NAME says what they are called)");
    EXPECT_EQ(error("{\"tokens\": 8}\n[8]\n"), "log:2: an entry is an object, as {\"tokens\": 128}");
    EXPECT_NE(error("{\"tokens\": 8}\n{\"tokens\": \n").find("log:2: "), std::string::npos);
    EXPECT_EQ(error("batch_size,seq_len\n1000000,1000000000\n"), "log:2: 1000000 times 1000000000 is more than 1099511627776 tokens");
    EXPECT_NE(error("{" + std::string(std::size_t{3} << 20, ' ')).find("no entry of a log"), std::string::npos);
    EXPECT_EQ(error("tokens\n0\n"), "log: no batch with a token is counted in it");
}

TEST(TokenCounts, WhatIsWrittenIsRead) {
    const TokenCounts counts = counts_of("tokens,count\n8192,3\n1,999999999999\n");
    EXPECT_EQ(counts_of(token_counts_csv(counts)).batches, counts.batches);
}

}  // namespace
}  // namespace normtune
