#include "judge/nearest_device.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "devices/architecture_names.h"
#include "devices/registry.h"
#include "judge/transfer.h"
#include "kernels/gpu/limits.h"
#include "support/error.h"
#include "support/plural.h"

namespace normtune {
namespace {

/// "sm_120": its letters, and its number (of "gfx90a" in base 16).
struct ParsedArch {
    std::string_view kind;
    int number = 0;
};

ParsedArch parsed(std::string_view arch) {
    for (const auto& [kind, base] : {std::pair<std::string_view, int>{"sm_", 10}, {"gfx", 16}}) {
        const std::string digits(arch.substr(std::min(arch.size(), kind.size())));
        const bool only_digits = digits.find_first_not_of(base == 10 ? "0123456789" : "0123456789abcdef") == std::string::npos;
        if (arch.starts_with(kind) && !digits.empty() && digits.size() <= 5 && only_digits) {
            return {kind, std::stoi(digits, nullptr, base)};
        }
    }
    return {};
}

double apart(std::int64_t a, std::int64_t b) {
    return a > 0 && b > 0 ? std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b))) : 0;
}

std::tuple<double, int> distance(const DeviceInfo& device, const std::string& arch, const std::optional<DeviceInfo>& known) {
    const double resources = known ? apart(device.compute_units, known->compute_units) +
                                         apart(device.shared_bytes_per_program, known->shared_bytes_per_program) +
                                         apart(device.cache_bytes, known->cache_bytes)
                                   : 0;
    return {device.arch == arch ? -1 : resources, std::abs(parsed(device.arch).number - parsed(arch).number)};
}

const DeviceInfo& device_of(const std::vector<Results>& runs) {
    return runs.front().environment.device;
}

std::string device_text(const DeviceInfo& device) {
    return fmt::format("{} ({})", device.name, device.arch);
}

bool runs_on(const Record& record, const DeviceInfo& device) {
    const Configuration* own = record.candidate.configuration();
    if (own == nullptr) {
        return true;  // what another provider's kernel needs, its own launch says
    }
    if (device.backend == Backend::cuda || device.backend == Backend::hip) {
        return gpu::objection(*own, record.problem, device).empty();
    }
    const BackendTraits traits = backend_traits(device.backend);
    return std::all_of(traits.limits.begin(), traits.limits.end(),
                       [&](const BackendLimit& limit) { return limit.admits(*own, record.problem, device); });
}

/// Winners that are other providers' kernels.
std::size_t winners_of_others(const Results& run) {
    const std::vector<ProblemRanking> rankings = problem_rankings(run);
    return static_cast<std::size_t>(std::ranges::count_if(rankings, [](const ProblemRanking& ranking) {
        return ranking.winner->measurement->rank == 1 && ranking.winner->candidate.configuration() == nullptr;
    }));
}

/// Takes out what cannot run on `device`; where that was a problem's winner the best of the rest takes its rank.
void adapt(Results& run, const DeviceInfo& device, Proposal& proposal) {
    std::unordered_set<std::string> winners;
    for (const ProblemRanking& ranking : problem_rankings(run)) {
        if (ranking.winner->measurement->rank != 1 || runs_on(*ranking.winner, device)) {
            continue;
        }
        ++proposal.replaced;
        const Standing* best = nullptr;
        for (const Standing& standing : ranking.standings) {
            if (runs_on(*standing.record, device) && (best == nullptr || standing.ratio < best->ratio)) {
                best = &standing;
            }
        }
        if (best == nullptr) {
            proposal.empty.push_back(ranking.problem().key());
        } else {
            winners.insert(best->record->trial_key());
        }
    }
    std::erase_if(run.records, [&](const Record& record) { return record.measurement && !runs_on(record, device); });
    for (Record& record : run.records) {
        if (winners.contains(record.trial_key())) {
            record.measurement->rank = 1;
        }
    }
}

void judge_elsewhere(Proposal& proposal, const std::vector<std::vector<Results>>& devices, std::size_t nearest) {
    const std::vector<ProblemRanking> from = problem_rankings(devices[nearest], Whose::all);
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (i == nearest) {
            continue;
        }
        const std::vector<ProblemRanking> to = problem_rankings(devices[i], Whose::all);
        try {
            const Transfer moved = transfer(from, to, 0);
            const LossGroup& all = moved.groups.back();
            if (all.judged > 0) {
                proposal.elsewhere.push_back({device_of(devices[i]), all.judged, all.places, all.mean, all.worst});
            }
        } catch (const InputError&) {  // nothing in common: it says nothing
        }
    }
}

}  // namespace

std::vector<std::string> Proposal::text() const {
    std::vector<std::string> out;
    if (measured) {
        out.push_back(fmt::format("These are of {} itself: {}.", arch, nearest.name));
        if (!alike.empty()) {
            out.push_back(fmt::format("{} {} {}, too: give the results of one device alone for its winners.", fmt::join(alike, ", "),
                                      alike.size() == 1 ? "is" : "are", arch));
        }
        return out;
    }
    out.push_back(fmt::format("Nobody measured {} in these results. Proposed are the winners of {}, the {} of its kind.", arch,
                              device_text(nearest), devices == 1 ? "only device" : fmt::format("nearest of {} devices", devices)));
    std::string risk = "Risk: how much they lose there is not known.";
    for (const LossElsewhere& other : elsewhere) {
        risk += fmt::format(" On {} they lose {:.1f}% in the mean, {:.1f}% at worst ({}).", device_text(other.device), other.mean * 100,
                            other.worst * 100,
                            other.judged == other.both
                                ? counted(static_cast<std::uint64_t>(other.judged), "problem")
                                : fmt::format("{} of {} problems; of the others no winner was measured there", other.judged, other.both));
    }
    if (elsewhere.empty()) {
        risk += " No other device has the same problems in these results, so that nothing says what they lose elsewhere.";
    }
    out.push_back(risk);
    if (known) {
        const auto instead = [&] {
            return empty.empty()              ? std::string("the best that can has taken the place")
                   : empty.size() == replaced ? std::string("nothing that was measured of their problems can")
                                              : fmt::format("of {} the best that can has taken the place", replaced - empty.size());
        };
        out.push_back(fmt::format("By the threads and the shared memory of {}, {}.", known->name,
                                  replaced == 0 ? fmt::format("all {} winners can run there", problems)
                                                : fmt::format("{} of {} winners cannot run there: {}", replaced, problems, instead())));
        if (of_others > 0) {
            out.push_back(fmt::format("{} of the proposed {} of other providers: whether these run there was not looked at.", of_others,
                                      of_others == 1 ? "is a kernel" : "are kernels"));
        }
        for (const std::string& key : empty) {
            out.push_back(fmt::format("Nothing that was measured of {} can run there.", key));
        }
    } else {
        out.push_back(
            fmt::format("Of {} nothing is known here (compute units, shared memory): some winners may not even run there.", arch));
    }
    out.push_back("A sweep there, or of the few problems that matter there, settles it.");
    return out;
}

Proposal propose(std::vector<std::vector<Results>> devices, const std::string& arch, const std::optional<DeviceInfo>& known) {
    const bool named = std::any_of(devices.begin(), devices.end(), [&](const auto& runs) { return device_of(runs).arch == arch; });
    if (!known && !named && parsed(arch).kind.empty()) {
        throw InputError(fmt::format("{} is no architecture; give one as sm_120 or gfx942", quoted_for_message(arch)));
    }
    std::string others;
    for (const std::vector<Results>& runs : devices) {
        others += fmt::format("{}{}", others.empty() ? "" : ", ", quoted_for_message(device_text(device_of(runs))));
    }
    std::erase_if(devices, [&](const auto& runs) { return parsed(device_of(runs).arch).kind != parsed(arch).kind; });
    if (devices.empty()) {
        throw InputError(fmt::format("none of these results is of a device of {}'s kind; they are of {}", arch, others));
    }
    const auto nearest = std::min_element(devices.begin(), devices.end(), [&](const auto& a, const auto& b) {
        return distance(device_of(a), arch, known) < distance(device_of(b), arch, known);
    });
    Proposal out;
    out.arch = arch;
    out.known = known;
    out.nearest = device_of(*nearest);
    out.measured = out.nearest.arch == arch;
    out.devices = devices.size();
    for (auto device = devices.begin(); device != devices.end(); ++device) {
        if (out.measured && device != nearest && device_of(*device).arch == arch) {
            out.alike.push_back(device_of(*device).name);
        }
    }
    for (Results& run : *nearest) {
        out.problems += problem_rankings(run).size();
        if (known && !out.measured) {
            adapt(run, *known, out);
            out.of_others += winners_of_others(run);
        }
    }
    judge_elsewhere(out, devices, static_cast<std::size_t>(nearest - devices.begin()));
    out.runs = std::move(*nearest);
    return out;
}

}  // namespace normtune
