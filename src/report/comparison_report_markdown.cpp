#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/comparison_report.h"
#include "support/escape.h"

namespace normtune {
namespace {

/// GitHub refuses a comment of more than 65,536 characters; sections beyond this are cut, and say so.
constexpr std::size_t most_characters = 60'000;

class Writer {
public:
    Writer(const Comparison& comparison, const Summary& summary, std::size_t most)
        : comparison_(comparison), summary_(summary), most_(most) {}

    std::string text() {
        const Metric metric = comparison_.settings.metric;
        out_ = fmt::format("### normtune: {}\n\n", verdict_counts(summary_, metric));
        if (!comparison_.baseline->name.empty()) {
            out_ += fmt::format("{} against {}, {} by {}\n\n", markdown_code(comparison_.candidate->name),
                                markdown_code(comparison_.baseline->name), metric_names.name(metric),
                                comparison_.settings.by == MatchBy::best ? "best configuration" : "configuration");
        }
        for (const std::string& remark : remarks_on(comparison_)) {
            out_ += for_markdown(remark) + "\n\n";
        }
        if (summary_.count(Verdict::slower) > 0) {
            pairs(Verdict::slower);
        }
        for (const Verdict verdict :
             {Verdict::ambiguous, Verdict::missing, Verdict::faster, Verdict::new_, Verdict::same, Verdict::same_code}) {
            if (summary_.count(verdict) > 0) {
                fold(fmt::format("{} {}", grouped(summary_.count(verdict)), verdict_word(verdict, metric)), [&] { pairs(verdict); });
            }
        }
        fold("Ratios by op, mode and site", [&] { groups(); });
        fold("How this was judged", [&] { out_ += method_text(comparison_) + "\n\n"; });
        return out_;
    }

private:
    template <typename Body>
    void fold(const std::string& title, Body body) {
        out_ += fmt::format("<details><summary>{}</summary>\n\n", for_markdown(title));
        body();
        out_ += "</details>\n\n";
    }

    void pairs(Verdict verdict) {
        const bool latency = comparison_.settings.metric == Metric::latency;
        const std::vector<const Pair*> all = pairs_with(comparison_, verdict);
        out_ += Table(fmt::format("problem|configuration|>before {0}|>after {0}|>change|>interval|evidence", latency ? "µs" : "MiB"))
                    .markdown();
        std::size_t shown = 0;
        for (const Pair* pair : all) {
            if ((most_ > 0 && shown == most_) || out_.size() > most_characters) {
                break;
            }
            ++shown;
            std::vector<std::string> cells = pair_cells(comparison_, *pair);
            cells[0] = markdown_code(cells[0]);
            cells[1] = markdown_code(cells[1]);
            cells[4] = verdict == Verdict::slower ? "**" + cells[4] + "**" : cells[4];
            const std::string note = comparison_.note(*pair);
            cells.back() += note.empty() ? "" : "; " + for_markdown(note);
            out_ += markdown_row(cells);
        }
        out_ += "\n";
        if (shown < all.size()) {
            out_ += fmt::format("… and {} more.\n\n", grouped(all.size() - shown));
        }
    }

    void groups() {
        Table groups("ratios of|>pairs|>geometric mean");
        for (const RatioGroup& group : summary_.groups) {
            groups.add({group.by + " " + group.name, grouped(group.pairs), change_text(group.geometric_mean)});
        }
        out_ += groups.markdown() + "\n| | problem | configuration | change | interval |\n|---|---|---|--:|--:|\n";
        const auto add = [&](std::string_view word, const std::vector<const Pair*>& pairs) {
            for (const Pair* pair : pairs) {
                out_ += markdown_row({std::string(word), markdown_code(comparison_.text(*pair, &RowProblem::key)),
                                      markdown_code(comparison_.configuration(*pair)), change_text(pair->ratio), interval_text(*pair)});
            }
        };
        add("worst", summary_.worst);
        add("best", summary_.best);
        out_ += "\n";
    }

    const Comparison& comparison_;
    const Summary& summary_;
    std::size_t most_;
    std::string out_;
};

}  // namespace

std::string comparison_markdown(const Comparison& comparison, const Summary& summary, std::size_t most) {
    return Writer(comparison, summary, most).text();
}

}  // namespace normtune
