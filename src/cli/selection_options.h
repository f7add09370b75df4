// Options that several commands share: which problems and configurations, and on which device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/option_set.h"
#include "problem/shapes_file.h"
#include "space/device_info.h"
#include "space/shard.h"
#include "space/space.h"

namespace normtune::cli {

/// What there is to do: problems, and the configurations to try on each.
struct Work {
    std::vector<Problem> problems;
    SearchSpace space;
};

/// --shard, of the commands that can do a part of a selection.
void declare_shard(OptionSet& options, std::optional<Shard>& target);

/// A space with one point.
SearchSpace space_of(const Configuration& configuration);

class SelectionOptions {
public:
    void declare(OptionSet& options);
    bool given() const;
    /// Throws InputError: nothing selected, options that exclude each other, what files and keys throw.
    Work work() const;

private:
    bool narrowed() const;
    Selection narrow(Selection selection) const;
    std::vector<Problem> problems() const;
    SearchSpace space() const;
    Work of_study() const;

    std::vector<std::string> shapes_;
    std::string study_;
    std::string problem_;
    std::optional<double> eps_;
    Selection selection_;
    std::string space_;
    std::string configuration_;
};

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
