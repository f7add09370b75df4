#include "devices/replay/replay_script.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <signal.h>
#include <string.h>

#include <array>
#include <filesystem>

#include "support/atomic_file.h"
#include "support/yaml_reader.h"

namespace normtune {

namespace {

constexpr double most_us = 1e9;
constexpr double most_ms = 1e6;
constexpr std::int64_t most_devices = 64;
constexpr std::int64_t mebi = std::int64_t{1} << 20;

TrialPattern read_pattern(const YamlNode& node) {
    return {node.find_string("problem").value_or("*"), node.find_string("config").value_or("*")};
}

Noise read_noise(const YamlNode& node) {
    node.only_keys({"kind", "sigma"});
    Noise noise;
    if (const YamlNode* kind = node.find("kind")) {
        noise.kind = kind->one_of(noise_kind_names);
    }
    noise.sigma = node.require("sigma").number(0, 0.5);
    return noise;
}

std::vector<double> read_samples(const YamlNode& node) {
    std::vector<double> samples;
    for (const YamlNode& item : node.items()) {
        samples.push_back(item.number(0, most_us));
    }
    return samples;
}

Timing read_timing(const YamlNode& node) {
    node.only_keys({"problem", "config", "us", "copies", "spread", "samples_us", "noise"});
    Timing timing;
    timing.trials = read_pattern(node);
    const YamlNode* us = node.find("us");
    const YamlNode* copies = node.find("copies");
    const YamlNode* samples = node.find("samples_us");
    if ((us != nullptr) + (copies != nullptr) + (samples != nullptr) != 1) {
        node.fail("a timing has one of 'us', 'copies' and 'samples_us'");
    }
    if (us != nullptr) {
        timing.us = us->number(1e-3, most_us);
    } else if (copies != nullptr) {
        timing.copies = copies->number(1e-3, 1e6);
    } else {
        timing.samples_us = read_samples(*samples);
    }
    if (samples != nullptr && (node.find("spread") != nullptr || node.find("noise") != nullptr)) {
        node.fail("'samples_us' are played as they stand; leave out 'spread' and 'noise', or give 'us' or 'copies'");
    }
    timing.spread = node.find_number("spread", 0, 1e3).value_or(0);
    if (const YamlNode* noise = node.find("noise")) {
        timing.noise = read_noise(*noise);
    }
    return timing;
}

int read_signal(const YamlNode& node) {
    const std::string name = node.string();
    for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGTRAP, SIGSYS}) {
        if (name == fmt::format("SIG{}", sigabbrev_np(number))) {
            return number;
        }
    }
    node.fail("unknown signal; known: SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGTRAP, SIGSYS");
}

bool makes_sense(Moment at, FaultKind kind) {
    switch (kind) {
        case FaultKind::incorrect:
            return at == Moment::verify || at == Moment::check;
        case FaultKind::compile_failed:
            return at == Moment::compile;
        case FaultKind::throttle:
        case FaultKind::bad_sample:
            return at == Moment::measure || at == Moment::copy || at == Moment::empty;
        case FaultKind::unsupported:
        case FaultKind::launch_failed:
        case FaultKind::out_of_memory:
            return at != Moment::start;
        default:
            return true;
    }
}

ScriptedFault read_fault(const YamlNode& node) {
    node.only_keys({"problem", "config", "at", "do", "signal", "status", "text", "from", "times", "device"});
    ScriptedFault fault;
    fault.trials = read_pattern(node);
    fault.at = node.require("at").one_of(moment_names);
    fault.kind = node.require("do").one_of(fault_kind_names);
    if (!makes_sense(fault.at, fault.kind)) {
        node.fail(fmt::format("'{}' cannot happen at '{}'", fault_kind_names.name(fault.kind), moment_names.name(fault.at)));
    }
    const YamlNode* signal = node.find("signal");
    fault.signal = signal != nullptr ? read_signal(*signal) : SIGSEGV;
    fault.status = static_cast<int>(node.find_integer("status", 0, 255).value_or(1));
    fault.text = node.find_string("text").value_or("scripted fault");
    fault.from = node.find_integer("from", 1, 1'000'000'000).value_or(1);
    if (const auto device = node.find_integer("device", 0, most_devices - 1)) {
        fault.device = static_cast<int>(*device);
    }
    fault.times = node.find_integer("times", 1, 1'000'000'000).value_or(0);
    return fault;
}

void read_device(const YamlNode& node, DeviceInfo& device) {
    node.only_keys({"name", "arch", "warp_size", "compute_units", "max_threads_per_program", "threads_per_compute_unit", "shared_kib",
                    "cache_mib", "memory_mib", "has_async_copy"});
    device.name = node.find_string("name").value_or(device.name);
    device.arch = node.find_string("arch").value_or(device.arch);
    const auto whole = [&](const char* key, int& value, std::int64_t most) {
        value = static_cast<int>(node.find_integer(key, 1, most).value_or(value));
    };
    whole("warp_size", device.warp_size, 1024);
    whole("compute_units", device.compute_units, 1 << 20);
    whole("max_threads_per_program", device.max_threads_per_program, 1 << 20);
    whole("threads_per_compute_unit", device.threads_per_compute_unit, 1 << 20);
    device.shared_bytes_per_program = node.find_integer("shared_kib", 0, 1 << 20).value_or(device.shared_bytes_per_program / 1024) * 1024;
    device.cache_bytes = node.find_integer("cache_mib", 0, 1 << 20).value_or(device.cache_bytes / mebi) * mebi;
    device.memory_bytes = node.find_integer("memory_mib", 1, 1 << 30).value_or(device.memory_bytes / mebi) * mebi;
    device.has_async_copy = node.find_boolean("has_async_copy").value_or(device.has_async_copy);
}

DeviceInfo default_device() {
    DeviceInfo device;
    device.backend = Backend::replay;
    device.name = "replay";
    device.arch = "replay";
    device.driver = "replay";
    device.compute_units = 100;
    device.shared_bytes_per_program = 64 * 1024;
    device.cache_bytes = 32 * mebi;
    device.memory_bytes = 65536 * mebi;
    return device;
}

}  // namespace

bool TrialPattern::matches(const std::string& problem_key, const std::string& config_key) const {
    return fnmatch(problem.c_str(), problem_key.c_str(), 0) == 0 && fnmatch(config.c_str(), config_key.c_str(), 0) == 0;
}

ReplayScript parse_replay_script(std::string_view yaml, const std::string& file) {
    const YamlNode root = parse_yaml(yaml, file);
    root.only_keys({"device", "devices", "seed", "copy", "empty", "noise", "drift", "delays", "recorded", "timings", "faults"});
    ReplayScript script;
    script.file = file;
    script.device = default_device();
    if (const YamlNode* device = root.find("device")) {
        read_device(*device, script.device);
    }
    script.devices = static_cast<int>(root.find_integer("devices", 1, most_devices).value_or(1));
    script.seed = static_cast<std::uint64_t>(root.find_integer("seed", 0, std::int64_t{1} << 53).value_or(0));
    if (const YamlNode* copy = root.find("copy")) {
        copy->only_keys({"us", "gbps"});
        if ((copy->find("us") != nullptr) + (copy->find("gbps") != nullptr) != 1) {
            copy->fail("'copy' has one of 'us' and 'gbps'");
        }
        script.copy_us = copy->find_number("us", 1e-3, most_us).value_or(0);
        script.copy_gbps = copy->find_number("gbps", 1e-3, 1e9).value_or(script.copy_gbps);
    }
    if (const YamlNode* empty = root.find("empty")) {
        empty->only_keys({"us"});
        script.empty_us = empty->require("us").number(0, most_us);
    }
    if (const YamlNode* noise = root.find("noise")) {
        script.noise = read_noise(*noise);
    }
    if (const YamlNode* drift = root.find("drift")) {
        drift->only_keys({"amplitude", "period_samples"});
        script.drift_amplitude = drift->require("amplitude").number(0, 0.9);
        script.drift_period_samples = drift->require("period_samples").number(1, 1e9);
    }
    if (const YamlNode* delays = root.find("delays")) {
        delays->only_keys({"open_ms", "compile_ms", "verify_ms", "sample_ms"});
        script.open_ms = delays->find_number("open_ms", 0, most_ms).value_or(0);
        script.compile_ms = delays->find_number("compile_ms", 0, most_ms).value_or(0);
        script.verify_ms = delays->find_number("verify_ms", 0, most_ms).value_or(0);
        script.sample_ms = delays->find_number("sample_ms", 0, most_ms).value_or(0);
    }
    if (const auto recorded = root.find_string("recorded")) {
        script.recorded = (std::filesystem::path(file).parent_path() / *recorded).string();
    }
    if (const YamlNode* timings = root.find("timings")) {
        for (const YamlNode& item : timings->items()) {
            script.timings.push_back(read_timing(item));
        }
    }
    if (const YamlNode* faults = root.find("faults")) {
        for (const YamlNode& item : faults->items()) {
            script.faults.push_back(read_fault(item));
        }
    }
    return script;
}

ReplayScript load_replay_script(const std::string& path) {
    constexpr std::size_t most_bytes = std::size_t{4} << 20;
    return parse_replay_script(read_file(path, most_bytes), path);
}

}  // namespace normtune
