#include <fmt/format.h>

#include "cli/selection_options.h"
#include "devices/registry.h"

namespace normtune::cli {
namespace {

constexpr std::int64_t most_devices = 1024;
constexpr std::string_view automatic = "auto";

DeviceChoice best_device(std::optional<std::int64_t> ordinal) {
    for (const DeviceReport& report : find_devices()) {
        if (report.info && report.info->ordinal == ordinal.value_or(report.info->ordinal)) {
            return {report.backend, report.info->ordinal, {}, *report.info};
        }
    }
    throw InputError(
        fmt::format("--device: there is no device {}; normtune devices says what is here", ordinal.value_or(0)));
}

}  // namespace

void DeviceOptions::declare(OptionSet& options) {
    std::vector<std::string> words{std::string(automatic)};
    words.insert(words.end(), backend_names.names.begin(), backend_names.names.end());
    options.group("Device");
    options.one("--backend", word_of(words, backend_), "auto: the best device found (normtune devices)");
    options.one("--device", whole_number(0, most_devices - 1, ordinal_), "Which of the backend's devices (default: 0)");
    options.one("--replay-script", file(replay_script_), "What the replay device plays");
}

bool DeviceOptions::given() const {
    return backend_ || ordinal_ || !replay_script_.empty();
}

bool DeviceOptions::fits(Backend backend) const {
    return !ordinal_ && replay_script_.empty() &&
           (!backend_ || *backend_ == automatic || backend_names.find(*backend_) == backend);
}

DeviceChoice DeviceOptions::choose() const {
    const std::optional<Backend> backend = backend_names.find(backend_.value_or(std::string(automatic)));
    if ((backend == Backend::replay) != !replay_script_.empty()) {
        throw InputError("--backend replay and --replay-script FILE need each other");
    }
    if (!backend) {
        return best_device(ordinal_);
    }
    const auto ordinal = static_cast<int>(ordinal_.value_or(0));
    return {*backend, ordinal, replay_script_, describe_device(*backend, ordinal, replay_script_)};
}

}  // namespace normtune::cli
