#include "kernels/gpu/covering/covering_array.h"

#include <numeric>
#include <stdexcept>

namespace normtune::covering {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
public:
    int below(int bound) {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<int>((z ^ (z >> 31)) % static_cast<std::uint64_t>(bound));
    }

private:
    std::uint64_t state_ = 1;
};

/// Which pairs of values have been seen together.
class PairTable {
public:
    explicit PairTable(const std::vector<int>& values) : values_(values), first_(values.size()) {
        std::partial_sum(values.begin(), values.end() - 1, first_.begin() + 1);
        total_ = first_.back() + values.back();
        seen_.assign(static_cast<std::size_t>(total_) * static_cast<std::size_t>(total_), 0);
    }
    bool seen(const Pair& p) const { return seen_[index(p.first_factor, p.first_value, p.second_factor, p.second_value)]; }
    /// Pairs of the row that have not been seen.
    int gain(const Row& row) const {
        int out = 0;
        for (std::size_t a = 0; a < row.size(); ++a) {
            for (std::size_t b = a + 1; b < row.size(); ++b) {
                out += seen_[index(a, row[a], b, row[b])] == 0 ? 1 : 0;
            }
        }
        return out;
    }
    void add(const Row& row) {
        for (std::size_t a = 0; a < row.size(); ++a) {
            for (std::size_t b = a + 1; b < row.size(); ++b) {
                seen_[index(a, row[a], b, row[b])] = 1;
            }
        }
    }
    std::vector<Pair> missing() const {
        std::vector<Pair> out;
        for (std::size_t a = 0; a < values_.size(); ++a) {
            for (std::size_t b = a + 1; b < values_.size(); ++b) {
                for (int i = 0; i < values_[a]; ++i) {
                    for (int k = 0; k < values_[b]; ++k) {
                        if (!seen({a, i, b, k})) {
                            out.push_back({a, i, b, k});
                        }
                    }
                }
            }
        }
        return out;
    }

private:
    std::size_t index(std::size_t a, int i, std::size_t b, int k) const {
        return static_cast<std::size_t>(first_[a] + i) * static_cast<std::size_t>(total_) + static_cast<std::size_t>(first_[b] + k);
    }
    std::vector<int> values_;
    std::vector<int> first_;  // index of each factor's first value
    int total_ = 0;
    std::vector<char> seen_;
};

class Search {
public:
    Search(const std::vector<int>& values, const std::vector<Row>& starts, const std::function<bool(const Row&)>& allowed,
           const std::function<double(const Row&)>& cost)
        : values_(values), allowed_(allowed), cost_(cost), table_(values) {
        for (const Row& start : starts) {
            if (!allowed(start)) {
                throw std::invalid_argument("a row to start from is not allowed");
            }
            take(start);
        }
    }

    Array run() {
        for (const Pair& pair : table_.missing()) {
            if (table_.seen(pair)) {
                continue;
            }
            Row row;
            if (find(pair, row)) {
                improve(pair, row);
                take(row);
            } else {
                out_.uncovered.push_back(pair);
            }
        }
        return std::move(out_);
    }

private:
    static constexpr int most_tries = 8000;
    static constexpr int most_changes = 12;  // of one row
    static constexpr int improvements = 400;

    void take(const Row& row) {
        table_.add(row);
        out_.rows.push_back(row);
    }

    std::size_t index_below(std::size_t bound) { return static_cast<std::size_t>(random_.below(static_cast<int>(bound))); }

    void change(Row& row, const Pair& kept) {
        const std::size_t factor = index_below(values_.size());
        if (factor != kept.first_factor && factor != kept.second_factor) {
            row[factor] = random_.below(values_[factor]);
        }
    }

    /// An allowed row with the pair: one that there is already, every other time with a value of the pair, with more
    /// and more of it changed.
    bool find(const Pair& pair, Row& row) {
        std::vector<const Row*> near;
        for (const Row& known : out_.rows) {
            if (known[pair.first_factor] == pair.first_value || known[pair.second_factor] == pair.second_value) {
                near.push_back(&known);
            }
        }
        for (int attempt = 0; attempt < most_tries; ++attempt) {
            const bool any = near.empty() || attempt % 2 == 1;
            row = any ? out_.rows[index_below(out_.rows.size())] : *near[index_below(near.size())];
            row[pair.first_factor] = pair.first_value;
            row[pair.second_factor] = pair.second_value;
            for (int changes = attempt * most_changes / most_tries; changes > 0; --changes) {
                change(row, pair);
            }
            if (allowed_(row)) {
                return true;
            }
        }
        return false;
    }

    /// Changes that keep the row allowed and let it cover more.
    void improve(const Pair& pair, Row& row) {
        int gain = table_.gain(row);
        double cost = cost_(row);
        for (int i = 0; i < improvements; ++i) {
            Row other = row;
            for (int changes = 1 + random_.below(3); changes > 0; --changes) {
                change(other, pair);
            }
            const int other_gain = table_.gain(other);
            if (other_gain < gain || !allowed_(other)) {
                continue;
            }
            const double other_cost = cost_(other);
            if (other_gain > gain || other_cost <= cost) {
                row = std::move(other);
                gain = other_gain;
                cost = other_cost;
            }
        }
    }

    const std::vector<int>& values_;
    const std::function<bool(const Row&)>& allowed_;
    const std::function<double(const Row&)>& cost_;
    PairTable table_;
    Random random_;
    Array out_;
};

}  // namespace

Array cover_pairs(const std::vector<int>& values, const std::vector<Row>& starts, const std::function<bool(const Row&)>& allowed,
                  const std::function<double(const Row&)>& cost) {
    return Search(values, starts, allowed, cost).run();
}

std::vector<Pair> missing_pairs(const std::vector<int>& values, const std::vector<Row>& rows) {
    PairTable table(values);
    for (const Row& row : rows) {
        table.add(row);
    }
    return table.missing();
}

}  // namespace normtune::covering
