#include "devices/cpu/copy_limit.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace normtune::cpu {

namespace {

constexpr std::int64_t chunk_bytes = 256 << 10;
constexpr std::int64_t interleaved_bytes = 1 << 10;
/// A thread that had more to copy would be slower than all together, by far; and how it begins, signal by signal or in all at once, would
/// not matter.
constexpr std::int64_t most_bytes_of_few = 1 << 20;
constexpr std::size_t most_passes = 2;

}  // namespace

std::string CopyMethod::text() const {
    return fmt::format("t{}.{}.{}{}", threads, stream ? "streaming" : "default", chunked ? "chunks" : "parts",
                       interleaved ? ".interleaved" : "");
}

/// In one pass: of a single one there is nothing to interleave.
bool Copies::has_several_signals() const {
    return std::ranges::any_of(traffic_, [](const PassTraffic& pass) { return std::max(pass.reads.size(), pass.writes.size()) > 1; });
}

std::vector<CopyMethod> Copies::methods(int threads) const {
    std::vector<CopyMethod> out;
    const bool interleaves = has_several_signals() && bytes_ / threads <= most_bytes_of_few;
    for (int few = 1; few <= threads; few = few < threads ? std::min(2 * few, threads) : few + 1) {
        for (const bool chunked : {false, true}) {
            const bool apart = few == threads || bytes_ / few <= most_bytes_of_few;
            if (apart && (!chunked || bytes_ / few > chunk_bytes)) {
                for (const bool interleaved : {false, true}) {
                    if (!interleaved || (interleaves && bytes_ / few > interleaved_bytes)) {
                        out.push_back({few, false, chunked, interleaved});
                        out.push_back({few, true, chunked, interleaved});
                    }
                }
            }
        }
    }
    return out;
}

/// Bytes [begin, end) of each signal, rounded up to whole lines: behind each tensor there is room for one.
void Copies::copy(const PassTraffic& pass, const TensorPointers& tensors, std::int64_t begin, std::int64_t end, bool stream) const {
    const auto place = [&](TensorRole role) { return tensors[static_cast<std::size_t>(role)] + begin; };
    const std::int64_t bytes = (end - begin + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
    for (std::size_t i = 0; i < std::max(pass.reads.size(), pass.writes.size()); ++i) {
        if (i >= pass.writes.size()) {
            passes_.read(place(pass.reads[i]), bytes);
        } else {
            (stream ? passes_.copy_stream : passes_.copy)(place(pass.writes[i]), place(pass.reads[std::min(i, pass.reads.size() - 1)]),
                                                          bytes);
        }
    }
}

void Copies::launch(Team& team, const TensorPointers& tensors, const CopyMethod& method) const {
    const std::int64_t share =
        ((bytes_ + method.threads - 1) / method.threads + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
    const std::int64_t chunk = method.chunked ? chunk_bytes : share;
    std::array<std::atomic<std::int64_t>, most_passes> next{method.threads, method.threads};
    auto work = [&](int thread) {
        for (std::size_t pass = 0; pass < traffic_.size(); ++pass) {
            if (pass > 0) {
                team.barrier();
            }
            std::int64_t begin = thread < method.threads ? thread * chunk : bytes_;
            for (; begin < bytes_; begin = next[pass].fetch_add(1, std::memory_order_relaxed) * chunk) {
                const std::int64_t end = std::min(bytes_, begin + chunk);
                const std::int64_t step = method.interleaved ? interleaved_bytes : chunk;
                for (std::int64_t at = begin; at < end; at += step) {
                    copy(traffic_[pass], tensors, at, std::min(end, at + step), method.stream);
                }
            }
            if (method.stream) {
                passes_.fence();
            }
        }
    };
    team.fork(work);
}

}  // namespace normtune::cpu
