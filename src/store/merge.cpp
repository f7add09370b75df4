#include "store/merge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/merge_checks.h"
#include "support/error.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

/// What a file has of a problem.
struct Piece {
    const NamedResults* from = nullptr;
    const PlanSummary* plan = nullptr;
    std::vector<const Record*> records;
    const Record* first = nullptr;  // of the file

    nlohmann::json whole(const Record* record) const {
        return to_json(from->whole ? from->whole(static_cast<std::size_t>(record - first)) : *record);
    }
};

/// `records` are those of the file.
std::vector<Piece> pieces_of(const NamedResults& part, std::span<const Record> records) {
    std::vector<Piece> pieces;
    std::unordered_map<std::string_view, std::size_t> places;
    for (const PlanSummary& plan : part.results.plans) {
        places.emplace(plan.problem_key, pieces.size());
        pieces.push_back({&part, &plan, {}, records.data()});
    }
    for (const Record& record : records) {
        const auto found = places.find(record.problem.key());
        if (found == places.end()) {
            throw InputError(fmt::format("{}: has records of {}, and its \"plans\" do not have that problem: the file is damaged",
                                         part.name, record.problem.key()));
        }
        pieces[found->second].records.push_back(&record);
    }
    require_each_trial_once(records, part.name);
    return pieces;
}

std::map<std::string, const Record*> by_configuration(const Piece& piece) {
    std::map<std::string, const Record*> records;
    for (const Record* record : piece.records) {
        records.emplace(record->candidate.identity(), record);
    }
    return records;
}

/// Empty where both have the same trials with the same results.
std::string difference(const Piece& a, const Piece& b) {
    const auto ours = by_configuration(a);
    const auto theirs = by_configuration(b);
    for (const auto& [configuration, record] : ours) {
        const auto other = theirs.find(configuration);
        if (other != theirs.end() && a.whole(record) != b.whole(other->second)) {
            return fmt::format("{} and {} both have the trial {} {}, with different results; leave out one of them", a.from->name,
                               b.from->name, a.plan->problem_key, configuration);
        }
    }
    const auto same_key = [](const auto& x, const auto& y) { return x.first == y.first; };
    if (ours.size() != theirs.size() || !std::equal(ours.begin(), ours.end(), theirs.begin(), same_key)) {
        return fmt::format(
            "{} and {} both swept {}, but not the same configurations: which is best is not known, for "
            "they were not measured side by side",
            a.from->name, b.from->name, a.plan->problem_key);
    }
    return {};
}

/// Files of one selection stand together, in the place of the first of them.
std::vector<std::size_t> groups_of(const std::vector<NamedResults>& parts) {
    std::vector<std::size_t> groups(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        groups[i] = i;
        for (std::size_t k = 0; k < i && groups[i] == i; ++k) {
            if (same_sweep(parts[i].results, parts[k].results)) {
                groups[i] = groups[k];
            }
        }
    }
    return groups;
}

/// The records of all parts, one after the other: they are taken out of them, so that none is in memory twice.
std::vector<Record> taken_records(std::vector<NamedResults>& parts) {
    std::vector<Record> all = std::move(parts.front().results.records);
    std::size_t count = all.size();
    for (const NamedResults& part : parts) {
        count += part.results.records.size();
    }
    all.reserve(count);
    for (NamedResults& part : parts) {
        std::vector<Record> its = std::exchange(part.results.records, {});
        std::move(its.begin(), its.end(), std::back_inserter(all));
    }
    return all;
}

/// Leaves records[order[i]] at place i for each i, and no others.
void reorder(std::vector<Record>& records, const std::vector<std::size_t>& order) {
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::size_t from = order[i];
        while (from < i) {  // what was there is where its place's own came from
            from = order[from];
        }
        std::swap(records[i], records[from]);
    }
    records.resize(order.size());
}

/// All pieces in the order of the merged results; `sizes` of the parts' records, which follow one another.
std::vector<Piece> ordered_pieces(const std::vector<NamedResults>& parts, std::span<const Record> records,
                                  const std::vector<std::size_t>& sizes) {
    const std::vector<std::size_t> groups = groups_of(parts);
    std::vector<std::pair<std::size_t, Piece>> pieces;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (Piece& piece : pieces_of(parts[i], records.first(sizes[i]))) {
            pieces.emplace_back(groups[i], std::move(piece));
        }
        records = records.subspan(sizes[i]);
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second.plan->place < b.second.plan->place;
    });
    std::vector<Piece> out;
    out.reserve(pieces.size());
    for (auto& [group, piece] : pieces) {
        out.push_back(std::move(piece));
    }
    return out;
}

/// Texts that differ, each once.
class Joined {
public:
    explicit Joined(std::string& target) : target_(target) { seen_.push_back(target); }
    void add(const std::string& text) {
        if (std::find(seen_.begin(), seen_.end(), text) == seen_.end()) {
            seen_.push_back(text);
            target_ += (target_.empty() ? "" : ";") + text;
        }
    }

private:
    std::string& target_;
    std::vector<std::string> seen_;
};

Environment joined_environment(const std::vector<MergedRun>& runs) {
    Environment out = runs.front().environment;
    Joined version(out.normtune_version);
    Joined revision(out.source_revision);
    Joined hostname(out.hostname);
    Joined os(out.os);
    Joined device(out.device.name);
    Joined arch(out.device.arch);
    Joined driver(out.device.driver);
    Joined compiler(out.compiler);
    for (const MergedRun& run : runs) {
        const Environment& environment = run.environment;
        version.add(environment.normtune_version);
        revision.add(environment.source_revision);
        hostname.add(environment.hostname);
        os.add(environment.os);
        device.add(environment.device.name);
        arch.add(environment.device.arch);
        driver.add(environment.device.driver);
        compiler.add(environment.compiler);
        out.started = std::min(out.started, environment.started);
        for (const std::string& provider : environment.providers) {
            if (std::find(out.providers.begin(), out.providers.end(), provider) == out.providers.end()) {
                out.providers.push_back(provider);
            }
        }
    }
    return out;
}

std::vector<MergedRun> runs_of(const std::vector<NamedResults>& parts) {
    std::vector<MergedRun> runs;
    for (const NamedResults& part : parts) {
        if (part.results.merged.empty()) {
            runs.push_back({part.results.environment, part.results.command});
        } else {
            runs.insert(runs.end(), part.results.merged.begin(), part.results.merged.end());
        }
    }
    return runs;
}

std::optional<SweepIdentity> joined_sweep(const std::vector<NamedResults>& parts) {
    const Results& first = parts.front().results;
    if (!std::all_of(parts.begin(), parts.end(),
                     [&](const NamedResults& part) { return &part.results == &first || same_sweep(part.results, first); })) {
        return std::nullopt;
    }
    std::optional<SweepIdentity> sweep = first.sweep;
    if (sweep) {
        sweep->present = shards_present(parts, first);
    }
    return sweep;
}

}  // namespace

Merged merge_results(std::vector<NamedResults> parts, const MergeSettings& settings) {
    Merged merged;
    merged.refused = why_not_alike(parts, settings.across);
    if (merged.refused.empty()) {
        merged.refused = why_not_one_division(parts);
    }
    merged.incomplete = why_not_whole(parts);
    if (merged.refused.empty() && !merged.incomplete.empty() && !settings.partial) {
        merged.refused = merged.incomplete + "; --partial merges what is there";
    }
    if (!merged.refused.empty()) {
        return merged;
    }
    Results& results = merged.results;
    std::vector<std::size_t> sizes;
    for (const NamedResults& part : parts) {
        sizes.push_back(part.results.records.size());
    }
    results.records = taken_records(parts);
    std::unordered_map<std::string_view, const Piece*> taken;
    std::vector<std::size_t>& order = merged.order;
    const std::vector<Piece> pieces = ordered_pieces(parts, results.records, sizes);
    for (const Piece& piece : pieces) {
        const auto [found, is_new] = taken.emplace(piece.plan->problem_key, &piece);
        if (!is_new) {
            merged.refused = difference(*found->second, piece);
            if (!merged.refused.empty()) {
                return merged;
            }
            continue;
        }
        results.plans.push_back(*piece.plan);
        for (const Record* record : piece.records) {
            order.push_back(static_cast<std::size_t>(record - results.records.data()));
        }
    }
    reorder(results.records, order);
    results.merged = runs_of(parts);
    results.environment = joined_environment(results.merged);
    results.sweep = joined_sweep(parts);
    return merged;
}

}  // namespace normtune
