#include "cli/device_options.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "devices/architecture_names.h"
#include "devices/registry.h"

namespace normtune::cli {
namespace {

constexpr std::int64_t most_devices = 1024;
constexpr std::string_view automatic = "auto";
constexpr std::string_view every_device = "all";

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

void DeviceOptions::declare_arch(OptionSet& options, std::string_view help, std::optional<Backend> backend) {
    const std::vector<std::string> known = backend ? known_architectures(*backend) : known_architectures();
    Value value = word_of(known, arch_);
    value.take = [known, take = value.take](const std::string& word) {
        const std::string what = what_architecture_is(word);
        if (!what.empty() && std::find(known.begin(), known.end(), word) == known.end()) {
            throw InputError(fmt::format("{}, which is none of those that are planned for here: {}", what, fmt::join(known, ", ")));
        }
        take(word);
    };
    options.one("--arch", std::move(value), help);
}

bool DeviceOptions::given() const {
    return backend_ || all_ || !ordinals_.empty() || !replay_script_.empty() || arch_;
}

void DeviceOptions::require_only_with(std::string_view flag, bool is_given) const {
    if (!is_given && given()) {
        throw InputError(fmt::format("--backend, --device and --replay-script say where {0} measures; add {0}", flag));
    }
}

DeviceWish DeviceOptions::wish() const {
    return {backend_names.find(backend_.value_or("")), {ordinals_.begin(), ordinals_.end()}, all_, replay_script_};
}

DeviceInfo DeviceOptions::info(std::string_view use) const {
    if (!arch_) {
        return choose().info;
    }
    DeviceInfo known = describe_architecture(*arch_);
    const std::string_view backend = backend_names.name(known.backend);
    if (!ordinals_.empty() || !replay_script_.empty() || (backend_ && *backend_ != automatic && *backend_ != backend)) {
        throw InputError(fmt::format("--arch {}{}: --device, --replay-script and another --backend do not go with it", *arch_,
                                     use.empty() ? "" : fmt::format(" {} {} device that need not be here", use, backend)));
    }
    return known;
}

}  // namespace normtune::cli
