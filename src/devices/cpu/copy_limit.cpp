#include "devices/cpu/copy_limit.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace normtune::cpu {

namespace {

constexpr std::int64_t line = 64;
constexpr std::int64_t chunk_bytes = 256 << 10;
/// A thread that had more to copy would be slower than all together, by far.
constexpr std::int64_t most_bytes_of_few = 1 << 20;
constexpr std::size_t most_passes = 2;

}  // namespace

std::string CopyMethod::text() const {
    return fmt::format("t{}.{}.{}", threads, stream ? "streaming" : "default", chunked ? "chunks" : "parts");
}

std::vector<CopyMethod> Copies::methods(int threads) const {
    std::vector<CopyMethod> out;
    for (int few = 1; few <= threads; few = few < threads ? std::min(2 * few, threads) : few + 1) {
        for (const bool chunked : {false, true}) {
            const bool apart = few == threads || bytes_ / few <= most_bytes_of_few;
            if (apart && (!chunked || bytes_ / few > chunk_bytes)) {
                out.push_back({few, false, chunked});
                out.push_back({few, true, chunked});
            }
        }
    }
    return out;
}

/// Bytes [begin, end) of each signal, rounded up to whole lines: behind each tensor there is room for one.
void Copies::copy(const PassTraffic& pass, const TensorPointers& tensors, std::int64_t begin, std::int64_t end, bool stream) const {
    const auto place = [&](TensorRole role) { return tensors[static_cast<std::size_t>(role)] + begin; };
    const std::int64_t bytes = (end - begin + line - 1) / line * line;
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
    const std::int64_t share = ((bytes_ + method.threads - 1) / method.threads + line - 1) / line * line;
    const std::int64_t chunk = method.chunked ? chunk_bytes : share;
    std::array<std::atomic<std::int64_t>, most_passes> next{method.threads, method.threads};
    auto work = [&](int thread) {
        for (std::size_t pass = 0; pass < traffic_.size(); ++pass) {
            if (pass > 0) {
                team.barrier();
            }
            std::int64_t begin = thread < method.threads ? thread * chunk : bytes_;
            for (; begin < bytes_; begin = next[pass].fetch_add(1, std::memory_order_relaxed) * chunk) {
                copy(traffic_[pass], tensors, begin, std::min(bytes_, begin + chunk), method.stream);
            }
            if (method.stream) {
                passes_.fence();
            }
        }
    };
    team.fork(work);
}

}  // namespace normtune::cpu
