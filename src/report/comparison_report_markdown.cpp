#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/comparison_report.h"
#include "support/escape.h"

namespace normtune {
namespace {

/// GitHub refuses a comment of more than 65,536 characters; what does not fit is left out, and said.
constexpr std::size_t most_characters = 60'000;
constexpr std::size_t most_open_sites = 12;  // groups that stand unfolded: all, ops and modes, and few sites
constexpr std::size_t most_remark = 1'000;

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
        if (!summary_.groups.empty()) {
            out_ += group_table(comparison_, {summary_.groups.data(), std::min(summary_.groups.size(), most_open_sites)}).markdown() + "\n";
            extremes("worst", summary_.worst);
        }
        for (const std::string& remark : remarks_on(comparison_)) {
            add(for_markdown(remark.size() > most_remark ? remark.substr(0, most_remark) + " …" : remark) + "\n\n");
        }
        if (!comparison_.failed_pairs.empty()) {
            fold(fmt::format("{} failed on both sides, or on the only side that has {}", grouped(comparison_.failed_pairs.size()),
                             comparison_.failed_pairs.size() == 1 ? "it" : "them"),
                 [&] { failures(); });
        }
        for (const Verdict verdict :
             {Verdict::slower, Verdict::ambiguous, Verdict::missing, Verdict::faster, Verdict::new_, Verdict::same, Verdict::same_code}) {
            if (summary_.count(verdict) > 0) {
                fold(fmt::format("{} {}", grouped(summary_.count(verdict)), verdict_word(verdict, metric)), [&] { pairs(verdict); });
            }
        }
        fold("The best, and ratios by op, mode and site", [&] {
            extremes("best", summary_.best);
            rows(group_table(comparison_, {}).markdown(), summary_.groups.size(), [&](std::size_t i) {
                const RatioGroup& group = summary_.groups[i];
                return markdown_row({for_markdown(group.by == "all" ? "all" : group.by + " " + group.name), grouped(group.pairs),
                                     change_text(group.geometric_mean), grouped(group.slower), grouped(group.faster)});
            });
        });
        fold("How this was judged", [&] { out_ += method_text(comparison_) + "\n\n"; });
        return out_;
    }

private:
    /// Where there is room for it.
    bool add(const std::string& text) {
        const bool fits = out_.size() + text.size() <= most_characters;
        out_ += fits ? text : "";
        return fits;
    }

    template <typename Body>
    void fold(const std::string& title, Body body) {
        out_ += fmt::format("<details><summary>{}</summary>\n\n", for_markdown(title));
        body();
        out_ += "</details>\n\n";
    }

    /// A table of so many rows, or as many as there is room for.
    template <typename Row>
    void rows(const std::string& headings, std::size_t count, Row row, std::size_t of = 0) {
        out_ += headings;
        std::size_t shown = 0;
        while (shown < count && add(row(shown))) {
            ++shown;
        }
        out_ += "\n";
        if (const std::size_t all = std::max(count, of); shown < all) {
            out_ += fmt::format("… and {} more.\n\n", grouped(all - shown));
        }
    }

    void pairs(Verdict verdict) {
        const bool latency = comparison_.settings.metric == Metric::latency;
        const std::vector<const Pair*> all = pairs_with(comparison_, verdict);
        rows(
            Table(fmt::format("problem|configuration|>before {0}|>after {0}|>change|>interval|evidence", latency ? "µs" : "MiB"))
                .markdown(),
            most_ == 0 ? all.size() : std::min(most_, all.size()),
            [&](std::size_t i) {
                std::vector<std::string> cells = pair_cells(comparison_, *all[i]);
                cells[0] = markdown_code(cells[0]);
                cells[1] = markdown_code(cells[1]);
                cells[4] = verdict == Verdict::slower ? "**" + cells[4] + "**" : cells[4];
                const std::string note = comparison_.note(*all[i]);
                cells.back() += note.empty() ? "" : "; " + for_markdown(note);
                return markdown_row(cells);
            },
            all.size());
    }

    void failures() {
        const std::vector<Pair>& all = comparison_.failed_pairs;
        rows(
            Table("problem|configuration|reason").markdown(), most_ == 0 ? all.size() : std::min(most_, all.size()),
            [&](std::size_t i) {
                return markdown_row({markdown_code(comparison_.text(all[i], &RowProblem::key)),
                                     markdown_code(comparison_.configuration(all[i])), for_markdown(comparison_.note(all[i]))});
            },
            all.size());
    }

    void extremes(const std::string& word, const std::vector<const Pair*>& pairs) {
        rows(fmt::format("| {} | configuration | change | interval |\n|---|---|--:|--:|\n", word), pairs.size(), [&](std::size_t i) {
            return markdown_row({markdown_code(comparison_.text(*pairs[i], &RowProblem::key)),
                                 markdown_code(comparison_.configuration(*pairs[i])), change_text(pairs[i]->ratio),
                                 interval_text(*pairs[i])});
        });
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
