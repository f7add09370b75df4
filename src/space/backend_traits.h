// What a backend can express: data and pure functions, so that planning needs no device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "space/axes.h"
#include "space/configuration.h"
#include "space/device_info.h"

namespace normtune {

/// An axis that means nothing on the backend. Of its values one is kept and the others are pruned: the axis's default
/// where the space lists it, else the first that the space lists.
struct InertAxis {
    Axis axis;
    std::string reason;  // "rows are bound at run time: CPU kernels are compiled ahead of time"
};
/// The table of axes has them.
std::vector<InertAxis> inert_axes(Backend backend);

/// Values of an axis that a limit does not tell apart: those of which `as` is the same. It is asked about one of them.
struct AlikeValues {
    Axis axis;
    std::function<int(int value)> as;
};

/// A combination that the backend cannot express.
struct BackendLimit {
    std::string name;        // rule name: "cpu.threads_per_row"
    std::string reason;      // one line, ends up in records and in `plan`
    std::vector<Axis> axes;  // the axes that `admits` reads (shape, operation and device it may always read)
    std::function<bool(const Configuration&, const Problem&, const DeviceInfo&)> admits;
    std::vector<AlikeValues> alike = {};
};

struct BackendTraits {
    Backend backend;
    std::vector<InertAxis> inert;
    std::vector<BackendLimit> limits;
    /// Whole rows are what a block of all columns is; false: the latter is a kernel of its own, that loops over blocks.
    bool row_is_one_block = true;
    /// Shared memory holds whole rows alone; false: also rows in blocks.
    bool shared_whole_rows = true;
    /// Bytes that each of a row's threads takes at once where `vector_bytes` is inert; 0: one element.
    int lane_bytes = 0;
};

}  // namespace normtune
