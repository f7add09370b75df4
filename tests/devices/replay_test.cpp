#include "devices/replay/replay_device.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include "devices/replay/replay_script.h"
#include "measure/statistics.h"
#include "run/sweep_fixture.h"
#include "store/results.h"
#include "support/error.h"

namespace normtune {
namespace {

using testing::small_problem;
using testing::TemporaryFolder;

std::vector<double> play(Device& device, const Configuration& configuration, SampleKind kind, int samples, std::uint64_t seed = 1) {
    const Problem problem = small_problem();
    const auto kernel = device.compile(problem, configuration);
    const auto buffers = device.allocate(problem, {});
    SampleRequest request;
    request.kind = kind;
    request.samples = samples;
    request.seed = seed;
    return device.sample(kind == SampleKind::kernel ? kernel.get() : nullptr, *buffers, request).us;
}

TEST(Replay, TheFirstTimingThatMatchesHolds) {
    const TemporaryFolder folder;
    const auto device = open_replay(folder.write("s.yaml", R"(
noise: {sigma: 0}
copy: {us: 8}
empty: {us: 1.5}
timings:
  - {config: 'w4.*.r1.*', us: 10}
  - {config: 'w4.*', problem: '*/backward/*', us: 11}
  - {config: 'w4.*', copies: 1.5}
)"),
                                    0);
    Configuration other;
    other.rows_per_program = 2;
    EXPECT_EQ(play(*device, {}, SampleKind::kernel, 2), (std::vector<double>{10, 10}));
    EXPECT_EQ(play(*device, other, SampleKind::kernel, 1), std::vector<double>{12});
    EXPECT_EQ(play(*device, {}, SampleKind::copy, 1), std::vector<double>{8});
    EXPECT_EQ(play(*device, {}, SampleKind::empty, 1), std::vector<double>{1.5});
}

TEST(Replay, NoiseIsOfItsSizeAndOfItsSeed) {
    const TemporaryFolder folder;
    for (const char* kind : {"normal", "lognormal", "uniform"}) {
        const std::string script =
            folder.write("s.yaml", fmt::format("timings: [{{config: '*', us: 100, noise: {{kind: {}, sigma: 0.05}}}}]", kind));
        const auto device = open_replay(script, 0);
        const std::vector<double> samples = play(*device, {}, SampleKind::kernel, 2001);
        EXPECT_NEAR(median(samples), 100, 1) << kind;
        // The quartiles of N(0, σ) lie 0.674σ from its median, those of U(−σ, σ) 0.5σ.
        EXPECT_NEAR(quantile(samples, 0.75) - median(samples), std::string(kind) == "uniform" ? 2.5 : 3.4, 0.5) << kind;
        EXPECT_EQ(play(*open_replay(script, 0), {}, SampleKind::kernel, 2001), samples);
        EXPECT_NE(play(*open_replay(script, 0), {}, SampleKind::kernel, 2001, 2), samples);
    }
}

TEST(Replay, SamplesArePlayedInTurn) {
    const TemporaryFolder folder;
    const auto device = open_replay(folder.write("s.yaml", "timings: [{config: '*', samples_us: [3, 1, 2]}]"), 0);
    EXPECT_EQ(play(*device, {}, SampleKind::kernel, 4), (std::vector<double>{3, 1, 2, 3}));
    EXPECT_EQ(play(*device, {}, SampleKind::kernel, 1), std::vector<double>{1});
}

Record with_time(double us) {
    Record record;
    record.problem = small_problem();
    record.measurement = Measurement{};
    record.measurement->rounds = {{us, 3, false}};
    record.measurement->p50_us = record.measurement->p20_us = record.measurement->p80_us = us;
    record.measurement->launches_per_sample = 1;
    return record;
}

TEST(Replay, PlaysTheRecordsOfAnEarlierRun) {
    const TemporaryFolder folder;
    Results results;
    Record record = with_time(6);
    record.measurement->rounds = {{5, 3, false}, {7, 3, false}};
    record.measurement->launches_per_sample = 8;
    record.measurement->limit_us = 4;
    record.measurement->floor_us = 1;
    Record failed = record;
    failed.candidate.configuration()->rows_per_program = 2;
    failed.outcome = Outcome::compile_failed;
    failed.reason = "line 3";
    failed.measurement.reset();
    Record incorrect = record;
    incorrect.candidate.configuration()->rows_per_program = 4;
    incorrect.outcome = Outcome::incorrect;
    incorrect.verification = Verification{};
    incorrect.verification->reason = "y is off";
    incorrect.measurement.reset();
    results.records = {record, failed, incorrect};
    write_results_json(results, folder.path("results.json"));
    const auto device = open_replay(folder.write("s.yaml", "recorded: results.json\nnoise: {sigma: 0}\n"), 0);
    // Round after round as recorded, then the later ones again; a record without a spread gives no noise.
    const auto kernel = device->compile(small_problem(), {});
    const auto buffers = device->allocate(small_problem(), {});
    for (const double expected : {5.0, 7.0, 7.0, 7.0}) {
        SampleRequest request;
        request.samples = 3;
        const SampleBatch batch = device->sample(kernel.get(), *buffers, request);
        EXPECT_EQ(batch.us, std::vector<double>(3, expected));
        EXPECT_EQ(batch.launches_per_sample, 8);
    }
    EXPECT_EQ(play(*device, {}, SampleKind::copy, 1), std::vector<double>{4});
    EXPECT_EQ(play(*device, {}, SampleKind::empty, 1), std::vector<double>{1});
    try {
        device->compile(small_problem(), failed.candidate);
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::compile_failed);
        EXPECT_STREQ(error.what(), "line 3");
    }
    Configuration never_recorded;
    never_recorded.rows_per_program = 8;
    try {
        device->compile(small_problem(), never_recorded);
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::unsupported);
    }
    EXPECT_NO_THROW(device->compile(small_problem(512), never_recorded));
    const auto& verify = replay_backend().verify;
    EXPECT_EQ(verify(*device, small_problem(), incorrect.candidate, false).reason, "y is off");
    EXPECT_TRUE(verify(*device, small_problem(), {}, false).passed);
}

TEST(Replay, ARecordedTrialWithoutATimeGetsNone) {
    const TemporaryFolder folder;
    Results results;
    Record pruned = with_time(5);
    pruned.candidate.configuration()->rows_per_program = 2;
    pruned.outcome = Outcome::pruned;
    pruned.reason = "rule light: registers < 9";
    pruned.measurement.reset();
    Record bare = pruned;
    bare.candidate.configuration()->rows_per_program = 4;
    bare.outcome = Outcome::passed;
    bare.reason.clear();
    Record alone = pruned;
    alone.problem = small_problem(512);
    results.records = {with_time(5), pruned, bare, alone};
    write_results_json(results, folder.path("results.json"));
    const auto device = open_replay(folder.write("s.yaml", "recorded: results.json\nnoise: {sigma: 0}\n"), 0);
    const auto reason_of = [&](const Record& record) -> std::string {
        const auto kernel = device->compile(record.problem, record.candidate);  // it may be pruned again, by what it is compiled to
        const auto buffers = device->allocate(record.problem, {});
        try {
            device->sample(kernel.get(), *buffers, {});
        } catch (const DeviceError& error) {
            EXPECT_EQ(error.fault(), DeviceFault::unsupported);
            return error.what();
        }
        return "a time";
    };
    EXPECT_EQ(reason_of(results.records[0]), "a time");
    EXPECT_EQ(reason_of(pruned), pruned.reason);
    EXPECT_EQ(reason_of(bare), "the recorded run has no times of this trial");
    EXPECT_EQ(reason_of(alone), pruned.reason) << "whether others of its problem have times or not";
    const auto timed = open_replay(folder.write("t.yaml", "recorded: results.json\ntimings: [{config: '*.r2.*', samples_us: [3]}]\n"), 0);
    EXPECT_EQ(play(*timed, *pruned.candidate.configuration(), SampleKind::kernel, 1), std::vector<double>{3});
}

TEST(Replay, TheEmptyLaunchIsAsRecordedWhereOnlyTheCopyFailed) {
    const TemporaryFolder folder;
    Results results;
    results.records = {with_time(50)};
    results.records[0].measurement->floor_us = 7.5;
    write_results_json(results, folder.path("results.json"));
    const std::string script = folder.write("s.yaml", "recorded: results.json\nnoise: {sigma: 0}\ncopy: {us: 3}\nempty: {us: 2}\n");
    EXPECT_EQ(play(*open_replay(script, 0), {}, SampleKind::copy, 1), std::vector<double>{3});
    EXPECT_EQ(play(*open_replay(script, 0), {}, SampleKind::empty, 1), std::vector<double>{7.5});
    results.records[0].measurement->floor_us = 0;
    results.records[0].measurement->limit_us = 40;
    write_results_json(results, folder.path("results.json"));
    EXPECT_EQ(play(*open_replay(script, 0), {}, SampleKind::copy, 1), std::vector<double>{40});
    EXPECT_EQ(play(*open_replay(script, 0), {}, SampleKind::empty, 1), std::vector<double>{2});
}

TEST(Replay, DescribesTheScriptsDevice) {
    const TemporaryFolder folder;
    const DeviceInfo device = describe_device(
        Backend::replay, 0, folder.write("s.yaml", "device: {name: H100, arch: sm_90, warp_size: 32, compute_units: 132, cache_mib: 50}"));
    EXPECT_EQ(device.backend, Backend::replay);
    EXPECT_EQ(device.name, "H100");
    EXPECT_EQ(device.arch, "sm_90");
    EXPECT_EQ(device.compute_units, 132);
    EXPECT_EQ(device.cache_bytes, std::int64_t{50} << 20);
}

TEST(ReplayScript, SaysWhatIsWrongWhere) {
    const std::pair<const char*, const char*> cases[] = {
        {"timing: []", "s.yaml:1"},
        {"timings:\n  - {config: '*'}", "s.yaml:2: a timing has one of 'us', 'copies' and 'samples_us'"},
        {"timings: [{us: -1}]", "s.yaml:1"},
        {"timings:\n  - {samples_us: [3], spread: 0.1}", "s.yaml:2: 'samples_us' are played as they stand; leave out 'spread' and 'noise'"},
        {"timings: [{samples_us: [3], noise: {sigma: 0.1}}]", "s.yaml:1: 'samples_us' are played as they stand"},
        {"seed: 1\ncopy: {gbps: 1, us: 1}", "s.yaml:2: 'copy' has one of 'us' and 'gbps'"},
        {"copy: {}", "s.yaml:1: 'copy'"},
        {"noise: {kind: pink, sigma: 0.1}", "normal, lognormal, uniform"},
        {"faults: [{at: compile}]", "'do'"},
        {"faults: [{at: lunch, do: crash}]", "s.yaml:1"},
        {"faults: [{at: measure, do: incorrect}]", "'incorrect' cannot happen at 'measure'"},
        {"faults: [{at: compile, do: crash, signal: SIGWINCH}]", "SIGSEGV"},
        {"device: {compute_units: 0}", "s.yaml:1"},
        {"[]", "s.yaml:1"},
    };
    for (const auto& [text, expected] : cases) {
        try {
            parse_replay_script(text, "s.yaml");
            ADD_FAILURE() << text;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
        }
    }
    EXPECT_THROW(load_replay_script("/nonexistent/s.yaml"), InputError);
    EXPECT_THROW(load_replay_script("/"), InputError);
}

}  // namespace
}  // namespace normtune
