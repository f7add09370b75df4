// Options that several commands share: on which device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/option_set.h"
#include "run/device_choice.h"

namespace normtune::cli {

class DeviceOptions {
public:
    void declare(OptionSet& options);
    void declare_several(OptionSet& options);  // --device takes a list, or "all"
    /// --arch, of the commands that do without a device; of the backend's architectures alone.
    void declare_arch(OptionSet& options, std::string_view help, std::optional<Backend> backend = std::nullopt);
    bool given() const;
    /// Throws InputError: devices are named, and the flag that measures on them is not.
    void require_only_with(std::string_view flag, bool is_given) const;
    DeviceWish wish() const;
    /// `auto` takes the best device found. Throws InputError: no such device, with the reason.
    DeviceChoice choose() const { return choose_devices(wish()); }
    /// That of --arch, or of a device that is here; `use` in the message where both are named: "plans for a".
    DeviceInfo info(std::string_view use = "") const;

private:
    void declare_backend(OptionSet& options);
    void declare_script(OptionSet& options);

    std::optional<std::string> backend_;
    std::optional<std::string> arch_;
    std::vector<std::int64_t> ordinals_;
    bool all_ = false;
    std::string replay_script_;
};

}  // namespace normtune::cli
