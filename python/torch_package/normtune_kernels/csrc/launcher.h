// A package's kernels on the devices of this process: loads machine code when it is first launched.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "dispatch.h"
#include "driver.h"
#include "graph_memory.h"

namespace normtune_torch {

class Launcher {
public:
    /// `folder`: that of the table's codes.
    Launcher(std::string folder, Table table, const Driver& driver);

    struct Place {
        const Device* tuned = nullptr;  // null: nothing was tuned for this device
        int compute_units = 0;
        Limits limits;
        int ordinal = 0;
        int device = 0;
        std::vector<std::atomic<Function>> functions;  // by code and kernel; null: not loaded
        std::vector<Module> modules;                   // by code
    };
    Place& place(int ordinal);

    /// Launches in stream order, one after another with no other launch of a plan between them. `ordinal` is the current device.
    void launch(Place& place, const Step& step, const Plan& plan, Stream stream);
    bool is_capturing(const Place& place, Stream stream) const;
    /// Memory that launches of a step on a stream leave at 0, as they found it; null: there is none. Not PyTorch's: what is kept from the
    /// pool of a graph (as torch.compile warms up) would be an output that nobody knows of.
    char* kept_memory(const Place& place, const Step& step, Stream stream, std::int64_t bytes);
    /// Memory at 0 that the graph being captured keeps (graph_memory.h); null: there is none.
    char* graph_memory(const Place& place, const Step& step, Stream stream, std::int64_t bytes);

private:
    std::unique_ptr<Place> describe(int ordinal) const;
    void make_current(const Place& place) const;
    Function function(Place& place, const Step& step, const Launch& launch);

    std::string folder_;
    Table table_;
    const Driver& driver_;
    GraphMemory graph_memory_{driver_};
    std::mutex loading_;
    std::mutex launching_;
    struct Kept {
        DevicePointer at = 0;
        std::int64_t bytes = 0;
    };
    std::map<std::tuple<int, Stream, const Step*>, Kept> kept_;
    std::mutex keeping_;
    std::array<std::atomic<Place*>, 64> places_{};
    std::vector<std::unique_ptr<Place>> owned_;
};

/// A file of the package. Throws std::runtime_error: it cannot be read.
std::string contents(const std::string& path);

}  // namespace normtune_torch
