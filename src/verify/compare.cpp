#include "verify/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "problem/elements.h"
#include "support/parallel.h"

namespace normtune {

namespace {

template <typename Code>
Scan scan_as(std::span<const std::byte> bytes, const DtypeRow& type) {
    const auto poison = static_cast<Code>(type.poison);
    const auto exponent = static_cast<Code>(type.exponent);
    const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(Code));
    const auto code_at = [&](std::int64_t i) {
        Code code;
        std::memcpy(&code, bytes.data() + static_cast<std::size_t>(i) * sizeof(Code), sizeof(Code));
        return code;
    };
    constexpr std::int64_t block = 1 << 12;  // counts of a block fit into a code, so that lanes are as narrow as codes
    Scan total;
    std::mutex mutex;
    for_row_blocks(count, host_threads(count, 1), [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t unwritten = 0;
        std::int64_t not_finite = 0;
        for (std::int64_t begin = first; begin < last; begin += block) {
            Code block_unwritten = 0;
            Code block_not_finite = 0;
            const std::int64_t end = std::min(begin + block, last);
            for (std::int64_t i = begin; i < end; ++i) {
                const Code code = code_at(i);
                block_unwritten = static_cast<Code>(block_unwritten + (code == poison));
                block_not_finite = static_cast<Code>(block_not_finite + ((code & exponent) == exponent));
            }
            unwritten += block_unwritten;
            not_finite += block_not_finite;
        }
        const std::lock_guard lock(mutex);
        total.unwritten += unwritten;
        total.not_finite += not_finite;
    });
    if (total.not_finite > 0) {
        total.first = 0;
        while ((code_at(total.first) & exponent) != exponent) {
            ++total.first;
        }
    }
    return total;
}

}  // namespace

Scan scan_codes(Dtype dtype, std::span<const std::byte> bytes) {
    return bytes_of(dtype) == 2 ? scan_as<std::uint16_t>(bytes, row_of(dtype)) : scan_as<std::uint32_t>(bytes, row_of(dtype));
}

Worst worst_of(const Comparison<double>& comparison, std::span<const Bound> bounds, std::span<const double> scale) {
    const auto cols = static_cast<std::size_t>(comparison.cols);
    const auto slots = static_cast<std::int64_t>(comparison.slots());
    Worst worst;
    std::mutex mutex;
    for_row_blocks(slots, host_threads(slots, comparison.cols), [&](std::int64_t first, std::int64_t last, int) {
        std::vector<double> got(cols);
        Worst mine;
        for (auto slot = static_cast<std::size_t>(first); slot < static_cast<std::size_t>(last); ++slot) {
            decode(comparison.dtype, comparison.bytes.data(), comparison.row(slot) * comparison.row_stride, std::span(got));
            const double* values = comparison.expected.data() + slot * cols;
            const double factor = scale.empty() ? 1 : scale[slot];
            const Bound bound = bounds[slot];
            for (std::size_t j = 0; j < cols; ++j) {
                const double expected = values[j] * factor;
                const double allowed = bound.relative * std::fabs(expected) + bound.absolute;
                const double error = std::fabs(got[j] - expected);
                if (error > mine.over * allowed) {
                    mine = {error / allowed, error, got[j], expected, allowed, slot, static_cast<std::int64_t>(j)};
                }
            }
        }
        const std::lock_guard lock(mutex);
        if (mine.over > worst.over || (mine.over == worst.over && mine.slot < worst.slot)) {
            worst = mine;
        }
    });
    return worst;
}

Differing differing_of(const Comparison<float>& comparison, std::span<const double> tolerance) {
    const auto cols = static_cast<std::size_t>(comparison.cols);
    const auto slots = static_cast<std::int64_t>(comparison.slots());
    Differing total;
    std::mutex mutex;
    for_row_blocks(slots, host_threads(slots, comparison.cols), [&](std::int64_t first, std::int64_t last, int) {
        std::vector<float> got(cols);
        Differing mine;
        for (auto slot = static_cast<std::size_t>(first); slot < static_cast<std::size_t>(last); ++slot) {
            if (std::isinf(tolerance[slot])) {
                continue;
            }
            const auto allowed = static_cast<float>(tolerance[slot]);
            decode(comparison.dtype, comparison.bytes.data(), comparison.row(slot) * comparison.row_stride, std::span(got));
            const float* expected = comparison.expected.data() + slot * cols;
            const auto differs = [&](std::size_t j) { return std::fabs(got[j] - expected[j]) > allowed; };
            std::int64_t count = 0;
            for (std::size_t j = 0; j < cols; ++j) {
                count += differs(j) ? 1 : 0;
            }
            if (count > 0 && mine.count == 0) {
                std::size_t j = 0;
                while (!differs(j)) {
                    ++j;
                }
                mine.slot = slot;
                mine.col = static_cast<std::int64_t>(j);
                mine.got = static_cast<double>(got[j]);
                mine.expected = static_cast<double>(expected[j]);
            }
            mine.count += count;
            mine.compared += comparison.cols;
        }
        const std::lock_guard lock(mutex);
        const bool earlier = total.count == 0 || (mine.count > 0 && mine.slot < total.slot);
        const Differing& place = earlier ? mine : total;
        total = {total.count + mine.count, total.compared + mine.compared, place.slot, place.col, place.got, place.expected};
    });
    return total;
}

}  // namespace normtune
