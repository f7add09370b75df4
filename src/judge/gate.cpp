#include "judge/gate.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "judge/change_text.h"
#include "support/error.h"

namespace normtune {
namespace {

std::string percent_text(double value) {
    return fmt::format("{:.3g}%", value * 100);
}

std::string slower_text(const GateCase& it) {
    const Metric metric = it.comparison->settings.metric;
    return fmt::format("{} by {:.1f}%{}; {} is allowed", verdict_word(Verdict::slower, metric), (it.pair->ratio - 1) * 100,
                       metric == Metric::latency ? fmt::format(" ({})", interval_text(it.pair->low, it.pair->high)) : "",
                       percent_text(it.threshold));
}

GateCase judge_case(const Policy& policy, const Comparison& comparison, const Pair& pair) {
    GateCase out;
    out.comparison = &comparison;
    out.pair = &pair;
    out.threshold = comparison.threshold_of(pair);
    out.verdict = pair.verdict;
    if (comparison.settings.metric == Metric::memory && out.verdict == Verdict::slower && !(pair.ratio > 1 + 1e-9)) {
        out.verdict = Verdict::same;  // a threshold of 0 means more than nothing
    }
    const std::string note = comparison.note(pair);
    switch (out.verdict) {
        case Verdict::slower:
            out.result = GateResult::fail;
            out.reason = slower_text(out);
            break;
        case Verdict::ambiguous:
            out.result = policy.ambiguous;
            out.reason =
                pair.differs != 0 || pair.unsettled() ? note : fmt::format("cannot be told: {}", interval_text(pair.low, pair.high));
            break;
        case Verdict::missing: {
            const ResultRow* const after = comparison.candidate_row(pair);
            const bool failed = after != nullptr && after->outcome != Outcome::passed;
            out.result = failed ? policy.failed : policy.missing;
            out.reason = failed ? note : "the candidate has no such trial";
            break;
        }
        case Verdict::new_:
            out.result = policy.new_;
            out.reason = "the baseline has no value of it";
            break;
        case Verdict::faster:
        case Verdict::same:
        case Verdict::same_code:
            break;
    }
    return out;
}

GateResult worse(GateResult a, GateResult b) {
    const auto rank = [](GateResult result) { return result == GateResult::fail ? 2 : result == GateResult::inconclusive ? 1 : 0; };
    return rank(a) >= rank(b) ? a : b;
}

GateResult result_of(const GateVerdict& verdict) {
    GateResult out = verdict.incomplete ? GateResult::inconclusive : GateResult::pass;
    for (const GateCase& it : verdict.cases) {
        out = worse(out, it.result);
    }
    return out;
}

bool is_suspect(const GateCase& it) {
    const bool may_be_slower = it.verdict == Verdict::ambiguous && it.pair->unsettled() && it.pair->ratio >= 1 + it.threshold && !it.known;
    return (may_be_slower || (it.result == GateResult::fail && it.verdict == Verdict::slower)) &&
           it.comparison->settings.metric == Metric::latency;
}

void excuse(GateCase& it, const Policy& policy, std::string_view today, std::vector<bool>& expired) {
    for (std::size_t i = 0; i < policy.known.size(); ++i) {
        const Policy::Known& known = policy.known[i];
        if (it.result == GateResult::pass || !known.pairs.matches(*it.comparison, *it.pair)) {
            continue;
        }
        if (today > known.until) {
            expired[i] = true;
            continue;
        }
        it.known = true;
        it.result = GateResult::pass;
        it.reason += fmt::format("; known until {}: {}", known.until, known.reason);
        return;
    }
}

}  // namespace

std::size_t GateVerdict::count(GateResult wanted) const {
    return static_cast<std::size_t>(std::count_if(cases.begin(), cases.end(), [&](const GateCase& it) { return it.result == wanted; }));
}

GateVerdict judge_gate(const Policy& policy, std::span<const Comparison> comparisons, std::string_view today) {
    GateVerdict out;
    out.policy = policy.name;
    std::vector<bool> expired(policy.known.size(), false);
    for (const Comparison& comparison : comparisons) {
        if (!comparison.not_comparable.empty()) {
            out.remarks.push_back(fmt::format("{}: {}", metric_names.name(comparison.settings.metric), comparison.not_comparable));
            out.incomplete = true;
            continue;
        }
        for (const Pair& pair : comparison.pairs) {
            out.cases.push_back(judge_case(policy, comparison, pair));
            excuse(out.cases.back(), policy, today, expired);
        }
    }
    for (std::size_t i = 0; i < expired.size(); ++i) {
        if (expired[i]) {
            out.remarks.push_back(policy.known[i].run_out_text());
        }
    }
    for (const Comparison& comparison : comparisons) {
        const std::vector<std::string> stored = remarks_on(comparison);
        out.remarks.insert(out.remarks.end(), stored.begin(), stored.end());
    }
    out.result = result_of(out);
    return out;
}

Suspects suspects_of(GateVerdict& verdict) {
    constexpr std::size_t most = 64;
    Suspects out;
    std::size_t count = 0;
    for (const GateCase& it : verdict.cases) {
        if (!is_suspect(it) || ++count > most) {
            continue;
        }
        const ResultRows& side = *it.comparison->candidate;
        const ResultRow& row = *it.comparison->candidate_row(*it.pair);
        if (side.format != ResultFormat::results_json && side.format != ResultFormat::results_csv) {
            throw InputError(fmt::format("--confirm measures normtune's own trials again, and {} is {}", side.name,
                                         result_format_names.name(side.format)));
        }
        const Candidate candidate = Candidate::parse(side.text(row.configuration));
        const std::string_view problem = side.text(side.problem_of(row).key);
        if (candidate.configuration() == nullptr) {
            verdict.remarks.push_back(
                fmt::format("{} on {} is not normtune's own: it was not measured again", candidate.identity(), problem));
            continue;
        }
        out.trials.push_back({std::string(problem), candidate.key()});
        out.cold = side.origin_of(row).cold != RowOrigin::Cold::hot;
    }
    if (count > most) {
        verdict.remarks.push_back(fmt::format("{} suspects; the first {} were measured again", count, most));
    }
    return out;
}

void confirm(GateVerdict& verdict, const Policy& policy, const Comparison& fresh) {
    std::unordered_map<std::uint32_t, const Pair*> measured;  // by the baseline's row
    for (const Pair& pair : fresh.pairs) {
        if (pair.judged() && !std::isnan(pair.ratio)) {
            measured.emplace(pair.baseline, &pair);
        }
    }
    for (GateCase& it : verdict.cases) {
        const auto found = is_suspect(it) ? measured.find(it.pair->baseline) : measured.end();
        if (found == measured.end()) {
            continue;
        }
        const Pair& again = *found->second;
        const Verdict fresh_verdict = judge(again, it.threshold, policy.margin);
        const bool confirmed = fresh_verdict == Verdict::slower;
        it.reason += fmt::format("; {}confirmed by fresh rounds: {}", confirmed ? "" : "not ", change_text(again.ratio));
        it.verdict = fresh_verdict;
        it.result = confirmed ? GateResult::fail : fresh_verdict == Verdict::ambiguous ? policy.ambiguous : GateResult::pass;
    }
    verdict.result = result_of(verdict);
}

}  // namespace normtune
