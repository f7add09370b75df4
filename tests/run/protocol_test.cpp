#include "run/worker/protocol.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "run/worker/channel.h"
#include "support/error.h"
#include "trial/launch_manifest.h"

namespace normtune {
namespace {

template <typename T>
T through_request(const T& request) {
    const Numbered<Request> decoded = decode_request(encode(Request(request), 7));
    EXPECT_EQ(decoded.number, 7U);
    return std::get<T>(decoded.message);
}

template <typename T>
T through_reply(const T& reply) {
    const Numbered<Reply> decoded = decode_reply(encode(Reply(reply), UINT64_MAX));
    EXPECT_EQ(decoded.number, UINT64_MAX);
    return std::get<T>(decoded.message);
}

TEST(Protocol, RequestsComeBackAsTheyWere) {
    OpenRequest open;
    open.problem.shape = {7, 409, 512};
    open.problem.operation.casting = Casting::gemma;
    open.problem.operation.eps = 1e-5;
    open.problem.uses = {{"Qwen3-8B", "hidden", 4096}};
    open.buffers = {std::int64_t{1} << 40, UINT64_MAX};
    open.verify_seed = 9;
    const OpenRequest opened = through_request(open);
    EXPECT_EQ(opened.problem.key(), open.problem.key());
    EXPECT_EQ(opened.problem.operation, open.problem.operation);
    EXPECT_EQ(opened.problem.uses, open.problem.uses);
    EXPECT_EQ(opened.buffers.rotation_bytes, open.buffers.rotation_bytes);
    EXPECT_EQ(opened.buffers.seed, UINT64_MAX);
    EXPECT_EQ(opened.verify_seed, 9U);

    Configuration configuration;
    configuration.rows_per_program = 16;
    configuration.grid = Grid::packed;
    const BuildRequest built = through_request(BuildRequest{3, configuration, false});
    EXPECT_EQ(built.trial, 3U);
    EXPECT_EQ(built.candidate, Candidate(configuration));
    EXPECT_FALSE(built.verify);

    auto callable = std::make_shared<LaunchManifest>();
    callable->python_provider = "norms.py:providers";
    callable->python_name = "own";
    callable->provider = "acme";
    callable->key = "norm";
    callable->rounding = RoundingContract{{.normal = true}, {.terms = true}};
    const Candidate python = through_request(BuildRequest{4, Candidate(callable), true}).candidate;
    ASSERT_NE(python.manifest(), nullptr);
    EXPECT_EQ(python.identity(), "acme:norm");
    EXPECT_EQ(python.manifest()->python_provider, "norms.py:providers");
    EXPECT_EQ(python.manifest()->python_name, "own");
    EXPECT_EQ(python.manifest()->rounding, callable->rounding);

    const MeasureRequest measured = through_request(MeasureRequest{5, {SampleKind::copy, false, 12, 2.5e4, UINT64_MAX - 1, -1, true}});
    EXPECT_EQ(measured.trial, 5U);
    EXPECT_EQ(measured.sample.kind, SampleKind::copy);
    EXPECT_FALSE(measured.sample.cold);
    EXPECT_EQ(measured.sample.samples, 12);
    EXPECT_EQ(measured.sample.time_cap_us, 2.5e4);
    EXPECT_EQ(measured.sample.seed, UINT64_MAX - 1);
    EXPECT_TRUE(measured.sample.dependent);
}

TEST(Protocol, RepliesComeBackAsTheyWere) {
    SampleBatch batch;
    batch.us = {1.25, 0.1, 1e7};
    batch.launches_per_sample = 40;
    batch.rotation_bytes = std::int64_t{5} << 30;
    batch.timer = "graph";
    batch.copy = "2x16 bytes, persistent";
    batch.clock_mhz = 1980;
    batch.memory_clock_mhz = 2619;
    batch.clock_before_mhz = 1755;
    batch.memory_clock_before_mhz = 2618;
    batch.clocks_moved = true;
    batch.throttle_reasons = {"power cap"};
    const SampleBatch back = through_reply(MeasuredReply{batch}).batch;
    EXPECT_EQ(back.us, batch.us);
    EXPECT_EQ(back.launches_per_sample, 40);
    EXPECT_EQ(back.rotation_bytes, std::int64_t{5} << 30);
    EXPECT_EQ(back.timer, "graph");
    EXPECT_EQ(back.copy, batch.copy);
    EXPECT_EQ(back.clock_mhz, batch.clock_mhz);
    EXPECT_EQ(back.memory_clock_mhz, batch.memory_clock_mhz);
    EXPECT_EQ(back.clock_before_mhz, batch.clock_before_mhz);
    EXPECT_EQ(back.memory_clock_before_mhz, batch.memory_clock_before_mhz);
    EXPECT_TRUE(back.clocks_moved);
    EXPECT_FALSE(through_reply(MeasuredReply{}).batch.clocks_moved);
    EXPECT_EQ(back.throttle_reasons, batch.throttle_reasons);

    BuiltReply built;
    built.outcome = Outcome::incorrect;
    built.reason = "y at 3,4";
    built.compile = CompileInfo{};
    built.compile->workspace_bytes = 4096;
    built.verification = Verification{};
    built.verification->reason = built.reason;
    const BuiltReply built_back = through_reply(built);
    EXPECT_EQ(built_back.outcome, Outcome::incorrect);
    EXPECT_EQ(built_back.reason, "y at 3,4");
    EXPECT_EQ(built_back.compile->workspace_bytes, 4096);
    EXPECT_EQ(built_back.verification, built.verification);

    EXPECT_EQ(through_reply(FaultReply{Outcome::out_of_memory, "no room"}).outcome, Outcome::out_of_memory);
    EXPECT_EQ(through_reply(OpenedReply{12}).sets, 12);
}

TEST(Protocol, ReasonsThatAreNoTextDoNotBreakIt) {
    const FaultReply back = through_reply(FaultReply{Outcome::compile_failed, "caf\xe9 \xff"});
    EXPECT_EQ(back.reason.rfind("caf", 0), 0U);
}

TEST(Protocol, WhatIsNoMessageIsAnError) {
    for (const char* text : {"", "hello", "[]", "{}", R"({"is":"measured"})", R"({"is":"measured","batch":{"us":[]}})",
                             R"({"is":"teapot"})", R"({"is":"dropped"})", R"({"is":"dropped","request":-1})",
                             R"({"request":1,"is":"teapot"})", R"({"is":"built","outcome":"great","reason":""})"}) {
        EXPECT_THROW(decode_reply(text), InputError) << text;
    }
    EXPECT_THROW(decode_request(R"({"do":"build","trial":1,"configuration":"nonsense","verify":true})"), InputError);
}

struct SocketPair {
    SocketPair() {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        left = Channel(Descriptor(ends[0]));
        raw = ends[1];
        right = Channel(Descriptor(ends[1]));
    }
    Channel left;
    Channel right;
    int raw = -1;
};

TEST(Channel, LongMessagesArriveWhole) {
    SocketPair pair;
    const std::string sent(3 << 20, 'x');
    std::thread sender([&] { EXPECT_TRUE(pair.left.send(sent)); });
    std::string got;
    EXPECT_EQ(pair.right.receive(got), Received::message);
    sender.join();
    EXPECT_EQ(got, sent);
    EXPECT_TRUE(pair.left.send(""));
    EXPECT_EQ(pair.right.receive(got), Received::message);
    EXPECT_EQ(got, "");
}

TEST(Channel, SilenceEndsAtTheDeadlineAndAMessageThatIsThereIsTakenAfterIt) {
    SocketPair pair;
    std::string got;
    EXPECT_EQ(pair.right.receive(got, deadline_in(0.02)), Received::timed_out);
    EXPECT_TRUE(pair.left.send("late"));
    EXPECT_EQ(pair.right.receive(got, deadline_in(0)), Received::message);
    EXPECT_EQ(got, "late");
}

TEST(Channel, AClosedSideAndABrokenPrefixAreTold) {
    SocketPair pair;
    std::string got;
    EXPECT_EQ(send(pair.raw, "\xff\xff\xff\xff", 4, 0), 4);
    EXPECT_EQ(pair.left.receive(got, deadline_in(1)), Received::malformed);
    pair.right = Channel();
    EXPECT_EQ(pair.left.receive(got, deadline_in(1)), Received::closed);
    EXPECT_FALSE(pair.left.send("anyone?"));
}

}  // namespace
}  // namespace normtune
