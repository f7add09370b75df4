#include "run/ab.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "devices/registry.h"
#include "run/planning.h"
#include "support/error.h"
#include "trial/launch_manifest.h"

namespace normtune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view manifest_name = "launch.json";
constexpr std::size_t most_folders = 4096;  // of a tree

bool is_python(const Candidate& candidate) {
    return candidate.manifest() != nullptr && candidate.manifest()->is_python();
}

/// Names of a tree's candidate folders, in order; a candidate folder is not looked into.
std::vector<std::string> candidates_below(const std::string& root) {
    std::vector<std::string> out;
    try {
        for (auto at = fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied);
             at != fs::recursive_directory_iterator(); ++at) {
            if (at->is_directory() && fs::exists(at->path() / manifest_name)) {
                out.push_back(fs::relative(at->path(), root).generic_string());
                at.disable_recursion_pending();
            }
            if (out.size() > most_folders) {
                throw InputError(fmt::format("{}: holds more than {} candidates", root, most_folders));
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw InputError(fmt::format("{}: cannot be read: {}", root, error.code().message()));
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// What a provider may be called; '/' becomes '.'.
std::string provider_text(const std::string& name) {
    std::string out;
    for (const char c : name) {
        out += c == '/' ? std::string(".") : is_provider(std::string(1, c)) ? std::string(1, c) : std::string("_");
    }
    return out;
}

std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 3;
    const std::size_t shown = std::min(names.size(), most);
    return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "");
}

/// The configurations of both sides, beside one another.
SearchSpace own_space(const AbSide& before, const AbSide& after) {
    std::vector<Configuration> own;
    for (const AbSide* side : {&before, &after}) {
        if (side->configuration) {
            own.push_back(*side->configuration);
        }
    }
    return own.empty() ? SearchSpace{} : space_of(own);
}

/// What an entry gives for a problem; `own` as own_space.
std::vector<Candidate> candidates_of(const AbSide& side, const AbSide::Entry& entry, const SearchSpace& own, const Problem& problem,
                                     const DeviceInfo& device) {
    std::vector<Candidate> out;
    if (entry.folder != nullptr || entry.provider != nullptr) {
        for (const auto& manifest :
             entry.folder != nullptr ? entry.folder->plan(problem, device).kept : entry.provider->plan(problem, false).kept) {
            out.emplace_back(manifest);
        }
    } else if (!limit_against(*side.configuration, problem, own, backend_traits(device.backend), device)) {
        out.emplace_back(*side.configuration);
    }
    return out;
}

std::string reported_name(const AbSide::Entry* before, const AbSide::Entry* after) {
    const bool by_after = after != nullptr && (after->folder != nullptr || after->provider != nullptr);
    const AbSide::Entry& entry = by_after ? *after : before != nullptr ? *before : *after;
    if (entry.provider != nullptr) {
        return entry.provider->own_name();
    }
    if (entry.folder == nullptr) {
        return {};
    }
    const std::string name = entry.name.empty() ? entry.folder->own_name() : provider_text(entry.name);
    return name == own_provider ? entry.folder->provider() : name;
}

using Entries = std::vector<std::pair<const AbSide::Entry*, const AbSide::Entry*>>;

/// Throws InputError: two trees without a common name.
Entries entries_of(const AbSide& before, const AbSide& after) {
    if (before.entries.size() == 1 && after.entries.size() == 1) {
        return {{&before.entries.front(), &after.entries.front()}};
    }
    std::map<std::string, std::pair<const AbSide::Entry*, const AbSide::Entry*>> by_name;
    std::array<std::vector<std::string>, 2> names;
    for (const AbSide::Entry& entry : before.entries) {
        by_name[entry.name].first = &entry;
        names[0].push_back(entry.name.empty() ? before.text : entry.name);
    }
    bool common = false;
    for (const AbSide::Entry& entry : after.entries) {
        by_name[entry.name].second = &entry;
        common = common || by_name[entry.name].first != nullptr;
        names[1].push_back(entry.name.empty() ? after.text : entry.name);
    }
    if (!common) {
        throw InputError(
            fmt::format("{} ({}) and {} ({}) have no candidate of one name; folders of two trees belong together by where they "
                        "lie in them",
                        before.text, list_of(names[0]), after.text, list_of(names[1])));
    }
    Entries out;
    for (const auto& [name, both] : by_name) {
        out.push_back(both);
    }
    return out;
}

using Tunables = std::vector<std::pair<std::string, std::string>>;

/// What two have alike that belong together: tunables, and of a Python provider's kernel its key.
Tunables likeness(const Candidate& candidate) {
    return is_python(candidate) ? Tunables{{"", candidate.key()}} : tunables_of(candidate.key());
}

/// Pairs of one problem and one entry, then what has no counterpart.
void pair_candidates(std::vector<Candidate> before, std::vector<Candidate> after, const std::string& problem, const std::string& name,
                     std::vector<AbTrials>& out) {
    if (before.size() == 1 && after.size() == 1) {
        out.push_back({problem, name, before.front(), after.front()});
        return;
    }
    std::map<Tunables, const Candidate*> by_tunables;
    for (const Candidate& candidate : after) {
        by_tunables.emplace(likeness(candidate), &candidate);
    }
    for (Candidate& candidate : before) {
        const auto found = by_tunables.find(likeness(candidate));
        if (found == by_tunables.end()) {
            out.push_back({problem, name, std::move(candidate), std::nullopt});
        } else {
            out.push_back({problem, name, std::move(candidate), *found->second});
            by_tunables.erase(found);
        }
    }
    for (const Candidate& candidate : after) {
        const auto left = by_tunables.find(likeness(candidate));
        if (left != by_tunables.end() && left->second == &candidate) {
            out.push_back({problem, name, std::nullopt, candidate});
        }
    }
}

/// What a side is for, and what it has, for a message.
std::string described(const AbSide& side, const std::vector<std::string>& identities, const SearchSpace& own, const Problem& problem,
                      const DeviceInfo& device) {
    if (!identities.empty()) {
        return fmt::format("{} has {}", side.text, list_of(identities));
    }
    if (const auto& provider = side.entries.front().provider; provider != nullptr) {
        return fmt::format("{} does not claim them ({})", side.text, provider->plan(problem, false).tallies.front().reason);
    }
    const KernelFolder* const folder = side.entries.front().folder.get();
    if (folder == nullptr) {
        const auto taker = limit_against(*side.configuration, problem, own, backend_traits(device.backend), device);
        return fmt::format("{} cannot run on {} on this device{}", side.text, problem.key(),
                           taker ? fmt::format(" ({}: {})", taker->rule, taker->reason) : "");
    }
    if (side.entries.size() > 1) {
        return fmt::format("none of the {} candidates of {} is for them and this device", side.entries.size(), side.text);
    }
    const std::string what = folder->single() != nullptr ? "is for " + folder->single()->problem.key() : folder->claims_text();
    return fmt::format("{} {}, and has nothing for them on this device", side.text, what);
}

/// Is the same code run in the same way?
bool launched_alike(const Candidate& before, const Candidate& after) {
    if (before.manifest() == nullptr || after.manifest() == nullptr) {
        return before == after;
    }
    if (is_python(before) || is_python(after)) {
        return false;  // what a library launches is not told by its provider's code
    }
    const nlohmann::ordered_json a = to_json(*before.manifest());
    const nlohmann::ordered_json b = to_json(*after.manifest());
    return a.at("launches") == b.at("launches") && a.at("workspace_bytes") == b.at("workspace_bytes");
}

}  // namespace

std::string AbSide::label() const {
    if (!is_python() || entries.empty()) {
        return text;
    }
    const std::string version = entries.size() == 1 ? " (" + entries.front().provider->versioned() + ")" : "";
    return text + version + (python.python.empty() ? "" : " with " + python.python);
}

AbSide read_ab_side(const std::string& text, const std::string& role, const std::string& python) {
    AbSide side;
    side.text = text;
    std::error_code ignored;
    const bool shipped = text.find(':') == std::string::npos;  // wins over a folder of its name, which may be written ./liger
    if (names_python_provider(text) && (shipped || !fs::is_directory(text, ignored))) {
        side.python = {{text}, python, role};
        return side;
    }
    if (!python.empty()) {
        throw InputError(fmt::format("--{}-python is the interpreter of a Python provider, and {} is none of {}", role,
                                     quoted_for_message(text), python_provider_forms()));
    }
    if (fs::exists(fs::path(text) / manifest_name, ignored)) {
        side.entries.push_back({"", KernelFolder::load(text, role), nullptr});
        return side;
    }
    if (fs::is_directory(text, ignored)) {
        std::set<std::string> providers;
        for (const std::string& name : candidates_below(text)) {
            const std::string provider = fmt::format("{}.{}", role, provider_text(name));
            if (!providers.insert(provider).second) {
                throw InputError(
                    fmt::format("{}: {} and another of its candidates would both be called {}; rename one", text, name, provider));
            }
            side.entries.push_back({name, KernelFolder::load((fs::path(text) / name).string(), provider), nullptr});
        }
        if (side.entries.empty()) {
            throw InputError(
                fmt::format("{}: holds no {}, nor does a folder in it; docs/candidates.md says what a candidate is", text, manifest_name));
        }
        return side;
    }
    try {
        side.configuration = Configuration::parse(text);
    } catch (const InputError& error) {
        throw InputError(fmt::format("{} is neither a folder nor a configuration of normtune's own ({}), and none of {}",
                                     quoted_for_message(text), error.what(), python_provider_forms()));
    }
    side.entries.push_back({"", nullptr, nullptr});
    return side;
}

void ask_provider(AbSide& side, Backend backend, const std::vector<Problem>& problems) {
    if (side.is_python()) {
        for (auto& provider : PythonProvider::ask(side.python, backend, problems)) {
            const std::string name = provider->own_name();
            side.entries.push_back({name, nullptr, std::move(provider)});
        }
    }
}

void require_two_sides(const AbSide& before, const AbSide& after) {
    if (before.is_python() && after.is_python()) {
        // An interpreter's place, not what it links to: that is one of all virtual environments.
        const auto place = [](const AbSide& side) { return fs::absolute(python_interpreter(side.python)).lexically_normal(); };
        if (before.text == after.text && place(before) == place(after)) {
            throw InputError(
                fmt::format("{} of {} is both sides; give the interpreter of another virtual environment with --before-python "
                            "or --after-python",
                            before.text, place(before).string()));
        }
        return;
    }
    std::error_code ignored;
    const bool same = before.configuration && after.configuration
                          ? *before.configuration == *after.configuration
                          : !before.configuration && !after.configuration && !before.is_python() && !after.is_python() &&
                                fs::equivalent(before.text, after.text, ignored);
    if (same) {
        throw InputError(fmt::format("{} is both sides; what a change did takes a folder of before and one of after", before.text));
    }
}

std::vector<Problem> problems_of(const AbSide& before, const AbSide& after) {
    std::vector<Problem> out;
    for (const AbSide* side : {&before, &after}) {
        for (const AbSide::Entry& entry : side->entries) {
            if (entry.folder != nullptr && entry.folder->single() == nullptr) {
                throw InputError(
                    fmt::format("{}: is for many shapes; say on which to measure it, with --shapes or --problem", entry.folder->path()));
            }
            if (entry.folder == nullptr) {
                continue;
            }
            const Problem& its = entry.folder->single()->problem;
            if (std::none_of(out.begin(), out.end(), [&](const Problem& problem) { return problem.key() == its.key(); })) {
                out.push_back(its);
            }
        }
    }
    if (out.empty()) {
        throw InputError(
            "neither a configuration's key nor a provider names a problem; say on which to measure, with --shapes or --problem");
    }
    return out;
}

std::vector<AbTrials> plan_ab(const AbSide& before, const AbSide& after, const std::vector<Problem>& problems, const DeviceInfo& device) {
    std::vector<AbTrials> out;
    const Entries entries = entries_of(before, after);
    const SearchSpace own = own_space(before, after);
    for (const Problem& problem : problems) {
        for (const auto& [b, a] : entries) {
            pair_candidates(b != nullptr ? candidates_of(before, *b, own, problem, device) : std::vector<Candidate>{},
                            a != nullptr ? candidates_of(after, *a, own, problem, device) : std::vector<Candidate>{}, problem.key(),
                            reported_name(b, a), out);
        }
    }
    if (std::any_of(out.begin(), out.end(), [](const AbTrials& trials) { return trials.before && trials.after; })) {
        return out;
    }
    std::array<std::vector<std::string>, 2> has;
    for (const AbTrials& trials : out) {
        if (trials.before) {
            has[0].push_back(fmt::format("{} on {}", trials.before->key(), trials.problem));
        }
        if (trials.after) {
            has[1].push_back(fmt::format("{} on {}", trials.after->key(), trials.problem));
        }
    }
    throw InputError(fmt::format("there is no pair on the selected problems: {}; {}",
                                 described(before, has[0], own, problems.front(), device),
                                 described(after, has[1], own, problems.front(), device)));
}

void set_ab_sweep(SweepOptions& options, const AbSide& before, const AbSide& after, std::vector<Problem> problems,
                  const std::vector<AbTrials>& trials, int processes) {
    std::set<std::string> used;  // providers and problems that have a candidate
    for (const AbTrials& of : trials) {
        for (const std::optional<Candidate>& candidate : {of.before, of.after}) {
            if (candidate) {
                used.insert(of.problem);
                used.emplace(candidate->provider());
            }
        }
        if (of.before && of.after) {
            options.pairs.add(of.problem, of.before->identity(), of.after->identity());
        }
    }
    for (const AbSide* side : {&before, &after}) {
        for (const AbSide::Entry& entry : side->entries) {
            if (entry.folder != nullptr && used.contains(entry.folder->provider())) {
                options.candidates.folders.push_back(entry.folder);
            }
            if (entry.provider != nullptr && used.contains(entry.provider->name())) {
                options.candidates.providers.push_back(entry.provider);
            }
        }
    }
    std::erase_if(problems, [&](const Problem& problem) { return !used.contains(problem.key()); });
    options.problems = std::move(problems);
    options.candidates.alone = !before.configuration && !after.configuration;
    options.space = options.candidates.alone ? options.space : own_space(before, after);
    options.strategy = find_strategy("exhaustive");
    options.part_of_another = true;
    options.processes = processes;
    // The same number of rounds for all; a round that is longer than usual ends a process sooner.
    options.stop_rule.time_cap_us = AbBudget::device_time_us / processes;
    options.stop_rule.least_rounds = static_cast<int>(options.stop_rule.time_cap_us / options.round_time_us);
    options.stop_rule.most_rounds = options.stop_rule.least_rounds;
}

AbRecords ab_records(const Results& results, const std::vector<AbTrials>& trials) {
    std::map<std::pair<std::string, std::string>, const Record*> by_key;
    for (const Record& record : results.records) {
        by_key.emplace(std::pair{record.problem.key(), record.candidate.identity()}, &record);
    }
    AbRecords out;
    out.records.reserve(2 * trials.size());
    const auto record_of = [&](const std::string& problem, const std::string& name,
                               const std::optional<Candidate>& candidate) -> const Record* {
        const auto found = candidate ? by_key.find({problem, candidate->identity()}) : by_key.end();
        if (found == by_key.end()) {
            return nullptr;
        }
        Record& record = out.records.emplace_back(*found->second);
        if (candidate->configuration() == nullptr) {
            record.candidate = Candidate::named(name, candidate->key());
        }
        return &record;
    };
    for (const AbTrials& of : trials) {
        const Record* const before = record_of(of.problem, of.name, of.before);
        const Record* const after = record_of(of.problem, of.name, of.after);
        if (before != nullptr || after != nullptr) {
            out.pairs.push_back({before, after, before != nullptr && after != nullptr && launched_alike(*of.before, *of.after)});
        }
    }
    return out;
}

}  // namespace normtune
