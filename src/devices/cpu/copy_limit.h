// The limit: the fastest copy of the signals that a problem's kernels read and write.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "devices/cpu/cpu_kernel.h"
#include "devices/cpu/thread_pool.h"
#include "kernels/cpu/row_tile.h"
#include "measure/traffic.h"

namespace normtune::cpu {

struct CopyMethod {
    int threads = 1;           // of the team
    bool stream = false;       // non-temporal stores
    bool chunked = false;      // chunks are taken in turn by whoever is free; else an equal part for each thread
    bool interleaved = false;  // a piece of each signal in turn, as kernels go by rows; else one signal after the other
    std::string text() const;  // "t2.streaming.chunks", "t2.streaming.parts.interleaved"
    friend bool operator==(const CopyMethod&, const CopyMethod&) = default;
};

/// The copies of one problem: a launch moves what a kernel's does, a full one its forward's signals and then its backward's.
class Copies {
public:
    Copies(const Problem& problem, const PassSet& passes)
        : traffic_(signal_traffic(problem)), bytes_(signal_bytes(problem)), passes_(passes) {}

    /// What is worth a trial: few threads only where a signal is small, chunks only where it is large.
    std::vector<CopyMethod> methods(int threads) const;
    void launch(Team& team, const TensorPointers& tensors, const CopyMethod& method) const;

private:
    bool has_several_signals() const;
    void copy(const PassTraffic& pass, const TensorPointers& tensors, std::int64_t begin, std::int64_t end, bool stream) const;

    std::vector<PassTraffic> traffic_;
    std::int64_t bytes_;  // of a signal
    const PassSet& passes_;
};

}  // namespace normtune::cpu
