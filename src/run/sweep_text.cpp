#include "run/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "support/content_hash.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/json_reader.h"
#include "support/version.h"
#include "trial/record_json.h"

namespace normtune {

namespace {

using nlohmann::json;

json space_to_json(const SearchSpace& space) {
    json axes = json::array();
    for (const AxisValues& axis : space.axes) {
        json values = json::array();
        for (const int value : axis.values) {
            values.push_back(axis_text(axis.axis, value));
        }
        axes.push_back({{"axis", axis_names.name(axis.axis)}, {"values", std::move(values)}});
    }
    json rules = json::array();
    for (const Rule& rule : space.rules) {
        rules.push_back({{"name", rule.name}, {"keep", rule.keep}, {"keep_all_if_none", rule.keep_all_if_none}});
    }
    return {{"name", space.name}, {"axes", std::move(axes)}, {"rules", std::move(rules)}};
}

SearchSpace space_from_json(const JsonReader& in) {
    SearchSpace space;
    space.name = in.at("name").text();
    const JsonReader axes = in.at("axes");
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const JsonReader axis = axes.element(i);
        AxisValues values{axis.at("axis").name_of(axis_names), {}};
        const JsonReader list = axis.at("values");
        for (std::size_t k = 0; k < list.size(); ++k) {
            const JsonReader item = list.element(k);
            const auto value = axis_parse(values.axis, item.text());
            if (!value) {
                item.fail("not a value of this axis");
            }
            values.values.push_back(*value);
        }
        space.axes.push_back(std::move(values));
    }
    const JsonReader rules = in.at("rules");
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const JsonReader rule = rules.element(i);
        space.rules.push_back({rule.at("name").text(), rule.at("keep").text(), rule.at("keep_all_if_none").flag(), "the journal", 0});
    }
    return space;
}

json problems_to_json(const std::vector<Problem>& problems) {
    json out = json::array();
    for (const Problem& problem : problems) {
        out.push_back(to_json(problem));
    }
    return out;
}

json stop_rule_to_json(const StopRule& stop) {
    return {{"least_rounds", stop.least_rounds},
            {"most_rounds", stop.most_rounds},
            {"relative_half_width", stop.relative_half_width},
            {"time_cap_us", stop.time_cap_us}};
}

json candidates_json(const CandidateChoice& choice) {
    json list = json::array();
    for (const auto& folder : choice.folders) {
        list.push_back({{"folder", folder->path()},
                        {"candidate", folder->single() ? Candidate(folder->single()).identity() : folder->provider()},
                        {"digest", folder->digest()}});
    }
    for (const auto& provider : choice.providers) {
        list.push_back({{"provider", provider->asked_as()},
                        {"python", provider->python()},
                        {"candidate", provider->versioned()},
                        {"digest", provider->digest()}});
    }
    return list;
}

// One member a thing that messages can name.
json sweep_json(const SweepOptions& options) {
    json out{{"backend", backend_names.name(options.backend)},
             {"devices", options.ordinals},
             {"replay_script", options.replay_script},
             {"problems", problems_to_json(options.problems)},
             {"shard", options.shard.text()},
             {"space", space_to_json(options.space)},
             {"strategy", options.strategy->name()},
             {"most_trials_per_problem", options.most_trials_per_problem},
             {"seed", options.seed},
             {"cold", options.cold},
             {"verify_only", options.verify_only},
             {"stop_rule", stop_rule_to_json(options.stop_rule)},
             {"samples_per_round", options.samples_per_round},
             {"round_time_us", options.round_time_us},
             {"trial_timeout_s", options.trial_timeout_s},
             {"budget_s", options.budget_s}};
    if (options.over_cache > 0) {
        out["over_cache"] = options.over_cache;
    }
    if (options.processes > 1) {
        out["processes"] = options.processes;
    }
    if (options.lock_clock_mhz > 0) {
        out["lock_clock_mhz"] = options.lock_clock_mhz;
    }
    if (options.batch_invariant) {
        out["batch_invariant"] = true;
    }
    if (options.deterministic) {
        out["deterministic"] = true;
    }
    if (!options.candidates.empty()) {
        out["candidates"] = candidates_json(options.candidates);
        out["candidates_only"] = options.candidates.alone;
    }
    if (!options.candidates.only.empty()) {
        out["candidate"] = options.candidates.only;
    }
    if (!options.pairs.empty()) {
        out["side_by_side"] = true;
    }
    return out;
}

// A resumed sweep may have another of these: they change neither the trials nor what their numbers mean.
constexpr std::array<std::string_view, 2> free_members{"budget_s", "trial_timeout_s"};
// Shards of one sweep may differ in these, too.
constexpr std::array<std::string_view, 2> members_of_a_shard{"shard", "devices"};

std::string shown(const json& value) {
    constexpr std::size_t most = 60;
    return value.is_structured() ? std::string() : value.dump().substr(0, most);
}

std::string digest(const json& value) {
    return content_hash(value.dump());
}

/// Where the candidates lie does not matter for what is measured. Without any the text says nothing of them.
json without_folders(json sweep) {
    if (!sweep.is_object()) {
        return sweep;
    }
    for (json& candidate : sweep.emplace("candidates", json::array()).first.value()) {
        if (candidate.is_object()) {
            candidate.erase("folder");
            candidate.erase("python");
        }
    }
    sweep.emplace("candidates_only", false);
    return sweep;
}

/// Throws InputError: a folder or a provider is not what it was.
void read_candidates(const JsonReader& in, SweepOptions& options) {
    const auto changed = [](const std::string& what) {
        return InputError(fmt::format("{}: has changed since the run began with it; start a new run in another folder", what));
    };
    PythonWish wish;
    std::vector<std::pair<std::string, std::string>> wanted;  // providers and their digests
    for (std::size_t i = 0; i < in.size(); ++i) {
        const JsonReader one = in.element(i);
        if (const auto provider = one.find("provider")) {
            if (wish.names.empty() || wish.names.back() != provider->text()) {  // one name may stand for several providers
                wish.names.push_back(provider->text());
            }
            wish.python = one.at("python").text();
            wanted.emplace_back(one.at("candidate").text(), one.at("digest").text());
            continue;
        }
        const std::string folder = one.at("folder").text();
        options.candidates.folders.push_back(KernelFolder::load(folder));
        if (options.candidates.folders.back()->digest() != one.at("digest").text()) {
            throw changed(folder);
        }
    }
    if (wish.names.empty()) {
        return;
    }
    options.candidates.providers = PythonProvider::ask(wish, options.backend, options.problems);
    const auto& there = options.candidates.providers;
    for (std::size_t i = 0; i < std::max(wanted.size(), there.size()); ++i) {
        if (i >= there.size() || i >= wanted.size() || there[i]->digest() != wanted[i].second) {
            throw changed("--provider " + (i < wanted.size() ? wanted[i].first : there[i]->asked_as()));
        }
    }
}

/// Journals from before there were shards are of whole sweeps, those from before there were several devices of one.
json read_sweep(const std::string& text) {
    json sweep = parse_json(text, "the journal's selection");
    if (sweep.is_object() && !sweep.contains("shard")) {
        sweep["shard"] = Shard{}.text();
    }
    if (sweep.is_object() && sweep.contains("device")) {
        sweep["devices"] = json::array({sweep["device"]});
        sweep.erase("device");
    }
    return sweep;
}

}  // namespace

std::string sweep_to_text(const SweepOptions& options) {
    return sweep_json(options).dump();
}

SweepIdentity sweep_identity(const SweepOptions& options) {
    json sweep = sweep_json(options);
    if (!options.candidates.empty()) {
        sweep = without_folders(std::move(sweep));
    }
    SweepIdentity out;
    out.space = digest(sweep["space"]);
    for (const auto& members : {free_members, members_of_a_shard}) {
        for (const std::string_view name : members) {
            sweep.erase(std::string(name));
        }
    }
    out.digest = digest(sweep);
    out.problems = options.problems.size();
    out.shards = options.shard.count;
    out.present = {options.shard.index};
    return out;
}

std::string measuring_digest(const SweepOptions& options) {
    json measuring{{"version", version()},
                   {"cold", options.cold},
                   {"over_cache", options.over_cache},
                   {"stop_rule", stop_rule_to_json(options.stop_rule)},
                   {"samples_per_round", options.samples_per_round},
                   {"round_time_us", options.round_time_us}};
    if (options.compares_bits()) {  // what was stored without is no answer
        measuring["bits"] = true;
    }
    if (options.batch_invariant) {  // of each class of rows the fastest was kept
        measuring["batch_invariant"] = true;
    }
    if (options.lock_clock_mhz > 0) {
        measuring["lock_clock_mhz"] = options.lock_clock_mhz;
    }
    return digest(measuring);
}

SweepOptions sweep_from_text(const std::string& text) {
    const json parsed = read_sweep(text);
    const JsonReader in(parsed, "the journal's selection: ");
    if (in.find("side_by_side")) {
        throw InputError("the folder is of normtune ab, which is not resumed: run its command again, into another folder");
    }
    SweepOptions options;
    options.backend = in.at("backend").name_of(backend_names);
    options.ordinals.clear();
    const JsonReader devices = in.at("devices");
    for (std::size_t i = 0; i < devices.size(); ++i) {
        options.ordinals.push_back(devices.element(i).integer(0));
    }
    options.replay_script = in.at("replay_script").text();
    const JsonReader problems = in.at("problems");
    for (std::size_t i = 0; i < problems.size(); ++i) {
        options.problems.push_back(from_json<Problem>(problems.element(i)));
    }
    options.space = space_from_json(in.at("space"));
    if (const auto candidates = in.find("candidates")) {
        read_candidates(*candidates, options);
        options.candidates.alone = in.at("candidates_only").flag();
        const auto only = in.find("candidate");
        options.candidates.only = only ? only->text() : "";
    }
    options.shard = parse_shard(in.at("shard").text());
    const JsonReader strategy = in.at("strategy");
    options.strategy = find_strategy(strategy.text());
    if (options.strategy == nullptr) {
        strategy.fail(fmt::format("there is no strategy '{}'; known: {}", strategy.text(), fmt::join(strategy_names(), ", ")));
    }
    options.most_trials_per_problem = in.at("most_trials_per_problem").natural();
    options.seed = in.at("seed").natural();
    options.cold = in.at("cold").flag();
    if (const auto over_cache = in.find("over_cache")) {
        options.over_cache = over_cache->integer(1);
    }
    if (const auto processes = in.find("processes")) {
        options.processes = processes->integer(1);
    }
    if (const auto mhz = in.find("lock_clock_mhz")) {
        options.lock_clock_mhz = mhz->integer(1);
    }
    options.batch_invariant = in.find("batch_invariant").has_value();
    options.deterministic = in.find("deterministic").has_value();
    options.verify_only = in.at("verify_only").flag();
    const JsonReader stop = in.at("stop_rule");
    options.stop_rule = {stop.at("least_rounds").integer(1), stop.at("most_rounds").integer(1), stop.at("relative_half_width").number(),
                         stop.at("time_cap_us").number()};
    options.samples_per_round = in.at("samples_per_round").integer(1);
    options.round_time_us = in.at("round_time_us").number();
    options.trial_timeout_s = in.at("trial_timeout_s").number();
    options.budget_s = in.at("budget_s").number();
    return options;
}

namespace {

/// The command that goes on with a journal's sweep, and what joins it to another way; nothing where there is none, as for `ab`.
std::string way_to_resume(const json& sweep, const std::string& folder) {
    const auto is_set = [&](const char* name) { return sweep.is_object() && sweep.contains(name) && sweep.at(name) == true; };
    return is_set("side_by_side") ? ""
                                  : fmt::format("resume it with normtune {} --resume {} alone, or ",
                                                is_set("verify_only") ? "verify" : "sweep", for_shell(folder));
}

}  // namespace

void require_same_sweep(const std::string& journal_folder, const std::string& journal_sweep, const SweepOptions& options) {
    const auto comparable = [](json sweep) {
        sweep = without_folders(std::move(sweep));
        if (sweep.is_object()) {  // which says nothing of what is usual
            sweep.emplace("over_cache", 0);
            sweep.emplace("processes", 1);
            sweep.emplace("lock_clock_mhz", 0);
            sweep.emplace("batch_invariant", false);
            sweep.emplace("deterministic", false);
            sweep.emplace("candidate", "");
            sweep.emplace("side_by_side", false);
        }
        return sweep;
    };
    const json theirs = comparable(read_sweep(journal_sweep));
    const json ours = comparable(sweep_json(options));
    std::string differences;
    for (const auto& [name, value] : ours.items()) {
        if (std::find(free_members.begin(), free_members.end(), name) != free_members.end()) {
            continue;
        }
        const auto found = theirs.is_object() ? theirs.find(name) : theirs.end();
        const bool missing = !theirs.is_object() || found == theirs.end();
        if (!missing && *found == value) {
            continue;
        }
        const std::string was = missing ? "nothing" : shown(*found);
        differences += differences.empty() ? "" : ", ";
        differences += was.empty() ? name : fmt::format("{} (there {}, now {})", name, was, shown(value));
    }
    if (!differences.empty()) {
        throw InputError(fmt::format("{}: is a sweep of another selection, which differs in {}; {}start a new one in another folder",
                                     journal_folder, differences, way_to_resume(theirs, journal_folder)));
    }
}

}  // namespace normtune
