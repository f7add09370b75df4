#include "report/selfcheck_report.h"

#include <fmt/format.h>

namespace normtune {
namespace {

std::string alarms(const SelfCheck& check) {
    const auto share = [&](std::size_t count) { return 100 * static_cast<double>(count) / static_cast<double>(check.pairs); };
    return fmt::format(
        "False alarms: {} of {} pairs ({:.2f}%) called faster or slower; {} ({:.1f}%) ambiguous.\n"
        "A change that is found 95 times in 100: {:.1f}% (median of the pairs).\n",
        check.called, grouped(check.pairs), share(check.called), check.ambiguous, share(check.ambiguous), check.usual_change * 100);
}

}  // namespace

std::vector<Section> selfcheck_sections(const SelfCheck& sweeps, const SelfCheck& twins) {
    std::vector<Section> out(1);
    out.front().note = fmt::format(
        "Each trial twice in the same rounds.\n{}\n{} sweeps of the same code, one after another: {} comparisons.\n{}"
        "Two sweeps differ by {:.2f}% (standard deviation), beyond what their rounds explain.\n",
        alarms(twins), sweeps.sweeps, sweeps.comparisons, alarms(sweeps), sweeps.run_to_run * 100);
    if (!sweeps.noisier.empty()) {
        out.push_back({"", Table(noisier_columns), ""});
        for (const SelfCheck::Problem& problem : sweeps.noisier) {
            out.back().table.add({problem.key, fmt::format("{:.1f}%", problem.change * 100)});
        }
    }
    return out;
}

}  // namespace normtune
