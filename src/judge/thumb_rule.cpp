#include "judge/thumb_rule.h"

#include <fmt/format.h>

#include "space/rules.h"
#include "support/error.h"

namespace normtune {

ThumbRule::ThumbRule(const Heuristic& heuristic)
    : name_(heuristic.name), heuristic_(&heuristic), decides_(heuristic.decides.begin(), heuristic.decides.end()) {}

ThumbRule ThumbRule::parse(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
        throw InputError(fmt::format("{} is not NAME=EXPRESSION, as in one_row='rows_per_program == 1'", quoted_for_message(text)));
    }
    ThumbRule out;
    out.name_ = text.substr(0, equals);
    out.rule_.name = out.name_;
    out.rule_.keep = text.substr(equals + 1);
    Problem sample;
    sample.shape = {2048, 4096, 4096};
    const CompiledRule compiled(out.rule_, sample, DeviceInfo{});
    if (compiled.reads_code()) {
        throw InputError(fmt::format("heuristic '{}' reads code_…, which no launcher knows; rules of a space may", out.name_));
    }
    out.decides_ = compiled.axes();
    out.rule_.file = "--heuristic";  // of what is told later: the option's reader names it by now
    return out;
}

Obeying ThumbRule::obeying(const ProblemRanking& ranking) const {
    if (heuristic_ != nullptr) {
        return ranking.obeying([&](const Record& record) {
            return heuristic_->chooses(*record.candidate.configuration(), ranking.problem(), ranking.device());
        });
    }
    const CompiledRule compiled(rule_, ranking.problem(), ranking.device());
    return ranking.obeying([&](const Record& record) {
        const Configuration& own = *record.candidate.configuration();
        const RuleAnswer answer = compiled.ask(own);
        if (answer == RuleAnswer::undefined) {
            compiled.fail(own);
        }
        return answer == RuleAnswer::keeps;
    });
}

std::vector<ThumbRule> named_thumb_rules() {
    std::vector<ThumbRule> out;
    for (const Heuristic& heuristic : heuristics()) {
        out.emplace_back(heuristic);
    }
    return out;
}

}  // namespace normtune
