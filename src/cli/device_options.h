// Options that several commands share: on which device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/option_set.h"
#include "space/device_info.h"

namespace normtune::cli {

struct DeviceChoice {
    Backend backend = Backend::cpu;
    int ordinal = 0;
    std::string replay_script;
    DeviceInfo info;
};

class DeviceOptions {
public:
    void declare(OptionSet& options);
    void declare_several(OptionSet& options);  // --device takes a list, or "all"
    bool given() const;
    /// Does what was given leave room for planning with a device of this backend that is not here?
    bool fits(Backend backend) const;
    /// `auto` takes the best device found. Throws InputError: no such device, with the reason.
    DeviceChoice choose() const;
    /// Devices of one backend, one or more; where none was named, the best alone.
    std::vector<DeviceChoice> choose_several() const;

private:
    void declare_backend(OptionSet& options);
    void declare_script(OptionSet& options);
    DeviceChoice choose(std::optional<std::int64_t> wanted) const;

    std::optional<std::string> backend_;
    std::vector<std::int64_t> ordinals_;
    bool all_ = false;
    std::string replay_script_;
};

}  // namespace normtune::cli
