// What a replay device plays: a script in YAML, described in docs/replay.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "space/device_info.h"
#include "support/names.h"

namespace normtune {

/// Which trials a part of the script is about: shell patterns on the problem's and the configuration's key.
struct TrialPattern {
    std::string problem = "*";
    std::string config = "*";
    bool matches(const std::string& problem_key, const std::string& config_key) const;
};

enum class NoiseKind { normal, lognormal, uniform };
inline constexpr NameTable<NoiseKind, 3> noise_kind_names{{"normal", "lognormal", "uniform"}};

struct Noise {
    NoiseKind kind = NoiseKind::normal;
    double sigma = 0.01;  // relative to the time; the half width of a uniform one
};

/// How long a launch of matching trials takes; the first that matches holds.
struct Timing {
    TrialPattern trials;
    double us = 0;                   // 0: by `copies`
    double copies = 1.1;             // of the copy's time
    double spread = 0;               // a configuration's own factor, 1…1 + spread, drawn from its key
    std::vector<double> samples_us;  // played in turn instead
    std::optional<Noise> noise;      // else the script's
};

enum class Moment { start, open, compile, verify, measure, copy, empty, check };
inline constexpr NameTable<Moment, 8> moment_names{{"start", "open", "compile", "verify", "measure", "copy", "empty", "check"}};

enum class FaultKind {
    crash,
    exit,
    hang,
    throw_,
    bad_alloc,
    unsupported,
    compile_failed,
    launch_failed,
    out_of_memory,
    incorrect,
    throttle,
    bad_sample,
    print,
    lose
};
inline constexpr NameTable<FaultKind, 14> fault_kind_names{{"crash", "exit", "hang", "throw", "bad_alloc", "unsupported", "compile_failed",
                                                            "launch_failed", "out_of_memory", "incorrect", "throttle", "bad_sample",
                                                            "print", "lose"}};

struct ScriptedFault {
    TrialPattern trials;
    Moment at = Moment::compile;
    FaultKind kind = FaultKind::crash;
    int signal = 0;             // crash
    int status = 1;             // exit
    std::string text;           // the reason, or what is printed
    std::int64_t from = 1;      // the first occasion, counted in each worker process anew
    std::int64_t times = 0;     // so many occasions; 0: all from then on
    std::optional<int> device;  // on that one alone
};

struct ReplayScript {
    std::string file;
    DeviceInfo device;  // each of them, but for ordinal and id
    int devices = 1;
    std::uint64_t seed = 0;
    double copy_us = 0;       // 0: by `copy_gbps`
    double copy_gbps = 2000;  // least bytes a second
    double empty_us = 1;
    Noise noise;
    double drift_amplitude = 0;  // all times follow 1 + amplitude·sin(2π·n/period), n samples taken so far
    double drift_period_samples = 1000;
    double open_ms = 0;  // how long the device really takes over each of these
    double compile_ms = 0;
    double verify_ms = 0;
    double sample_ms = 0;
    std::string recorded;  // a results.json whose records are played where they match; "" none
    std::vector<Timing> timings;
    std::vector<ScriptedFault> faults;
};

/// Throws InputError (file, line, what is wrong, what would be right).
ReplayScript load_replay_script(const std::string& path);
ReplayScript parse_replay_script(std::string_view yaml, const std::string& file);

}  // namespace normtune
