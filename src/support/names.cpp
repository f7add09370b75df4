#include "support/names.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace normtune {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> two_up(b.size() + 1);
    std::vector<std::size_t> up(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        two_up.swap(up);
        up.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], two_up[j - 2] + 1);
            }
        }
    }
    return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::string_view* first, const std::string_view* last) {
    constexpr std::size_t longest_word = 64;  // a longer one is no slip of a known name
    if (word.empty() || word.size() > longest_word) {
        return {};
    }
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string_view* it = first; it != last; ++it) {
        if (std::max(word.size(), it->size()) - std::min(word.size(), it->size()) >= best_distance) {
            continue;  // at least as many letters have to come or go
        }
        const std::size_t distance = edit_distance(word, *it);
        if (distance < best_distance) {
            best_distance = distance;
            best = *it;
        }
    }
    return std::string(best);
}

std::string suggestion(std::string_view word, const std::string_view* first, const std::string_view* last) {
    const std::string near = nearest(word, first, last);
    if (!near.empty()) {
        return fmt::format("; did you mean '{}'?", near);
    }
    std::string known;
    for (const std::string_view* it = first; it != last; ++it) {
        known += known.empty() ? "" : ", ";
        known += *it;
    }
    return fmt::format("; known: {}", known);
}

}  // namespace normtune
