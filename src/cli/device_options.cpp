#include "cli/device_options.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "devices/registry.h"

namespace normtune::cli {
namespace {

constexpr std::int64_t most_devices = 1024;
constexpr std::string_view automatic = "auto";
constexpr std::string_view every_device = "all";

DeviceChoice best_device(std::optional<std::int64_t> ordinal) {
    for (const DeviceReport& report : find_devices()) {
        if (report.info && report.info->ordinal == ordinal.value_or(report.info->ordinal)) {
            return {report.backend, report.info->ordinal, {}, *report.info};
        }
    }
    throw InputError(fmt::format("--device: there is no device {}; normtune devices says what is here", ordinal.value_or(0)));
}

}  // namespace

void DeviceOptions::declare_backend(OptionSet& options) {
    std::vector<std::string> words{std::string(automatic)};
    words.insert(words.end(), backend_names.names.begin(), backend_names.names.end());
    options.group("Device");
    options.one("--backend", word_of(words, backend_), "auto: the best device found (normtune devices)");
}

void DeviceOptions::declare_script(OptionSet& options) {
    options.one("--replay-script", file(replay_script_), "What the replay device plays");
}

void DeviceOptions::declare(OptionSet& options) {
    declare_backend(options);
    options.one("--device", whole_number(0, most_devices - 1, ordinals_), "Which of the backend's devices (default: 0)");
    declare_script(options);
}

void DeviceOptions::declare_several(OptionSet& options) {
    declare_backend(options);
    Value ordinal_or_all = whole_number(0, most_devices - 1, ordinals_);
    ordinal_or_all.placeholder = "N|all";
    ordinal_or_all.choices = {std::string(every_device)};
    ordinal_or_all.take = [this, take = ordinal_or_all.take](const std::string& word) {
        if (word == every_device) {
            all_ = true;
        } else if (std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); })) {
            take(word);
        } else {
            throw InputError(fmt::format("{} is neither a device's number nor '{}'; normtune devices lists them", quoted_for_message(word),
                                         every_device));
        }
    };
    options.list("--device", std::move(ordinal_or_all),
                 "Which of the backend's devices (default: 0); several share the problems out among them");
    declare_script(options);
}

bool DeviceOptions::given() const {
    return backend_ || all_ || !ordinals_.empty() || !replay_script_.empty();
}

bool DeviceOptions::fits(Backend backend) const {
    return ordinals_.empty() && replay_script_.empty() && (!backend_ || *backend_ == automatic || backend_names.find(*backend_) == backend);
}

DeviceChoice DeviceOptions::choose() const {
    return choose(ordinals_.empty() ? std::nullopt : std::optional(ordinals_.front()));
}

DeviceChoice DeviceOptions::choose(std::optional<std::int64_t> wanted) const {
    const std::optional<Backend> backend = backend_names.find(backend_.value_or(std::string(automatic)));
    if ((backend == Backend::replay) != !replay_script_.empty()) {
        throw InputError("--backend replay and --replay-script FILE need each other");
    }
    if (!backend) {
        return best_device(wanted);
    }
    const auto ordinal = static_cast<int>(wanted.value_or(0));
    return {*backend, ordinal, replay_script_, describe_device(*backend, ordinal, replay_script_)};
}

std::vector<DeviceChoice> DeviceOptions::choose_several() const {
    if (!all_ && ordinals_.empty()) {
        return {choose()};
    }
    if (all_ && !ordinals_.empty()) {
        throw InputError("--device: 'all' and the numbers of some exclude each other");
    }
    std::vector<DeviceChoice> chosen{choose(all_ ? std::nullopt : std::optional(ordinals_.front()))};
    const DeviceChoice first = chosen.front();
    const auto add = [&](int ordinal) {
        if (ordinal != first.ordinal) {
            chosen.push_back({first.backend, ordinal, replay_script_, describe_device(first.backend, ordinal, replay_script_)});
        }
    };
    if (all_) {
        for (const int ordinal : usable_ordinals(first.backend, replay_script_)) {
            add(ordinal);
        }
    }
    for (const std::int64_t ordinal : ordinals_) {
        add(static_cast<int>(ordinal));
    }
    return chosen;
}

}  // namespace normtune::cli
