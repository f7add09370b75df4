#include "report/reproducible_report.h"

#include <algorithm>

#include <fmt/format.h>

namespace normtune {
namespace {

constexpr std::string_view class_columns = "problems|class|>shapes|>mean price|>worst|bits";
constexpr std::string_view price_columns = "problem|configuration|>price|best of all|bits";
constexpr std::string_view bits_columns = "problems|>compared|>rows differ|>dgamma differs|>classes|>of them contradicted";

std::string_view known_text(Known known) {
    return known == Known::by_bits ? "compared" : "by source";
}

std::string title_of(const Restriction& restriction) {
    return !restriction.deterministic    ? "Batch-invariant"
           : restriction.batch_invariant ? "Batch-invariant and deterministic"
                                         : "Deterministic";
}

Section classes_section(std::span<const PricedLadder> ladders, const Restriction& restriction) {
    Section section{title_of(restriction) + ": one class of configurations for all M", Table(class_columns),
                    "class: the values that set the order in which a row is summed up; the rest may differ by M.\n"};
    for (const PricedLadder& ladder : ladders) {
        const PriceSummary price = ladder.price();
        section.table.add({ladder.name, ladder.row_class.empty() ? "none" : ladder.row_class, judged_text(price), mean_text(price),
                           worst_text(price), std::string(known_text(ladder.known))},
                          price.judged == price.places ? Tone::good : Tone::unsure);
    }
    return section;
}

std::string first_of(std::string_view what, const std::vector<const Record*>& records) {
    if (records.empty()) {
        return "";
    }
    const Record& record = *records.front();
    const std::string& where = record.bits->rows_differ.empty() ? record.bits->runs_differ : record.bits->rows_differ;
    return fmt::format("{}: {} on {}: {}.\n", what, record.candidate.identity(), record.problem.key(), where);
}

}  // namespace

std::vector<std::string> reproducible_headings() {
    return headings_of({class_columns, price_columns, bits_columns});
}

std::vector<Section> price_sections(std::span<const PricedLadder> ladders, const Restriction& restriction) {
    std::vector<Section> out;
    if (restriction.batch_invariant) {
        out.push_back(classes_section(ladders, restriction));
    }
    Section shapes{restriction.batch_invariant ? "The price by shape" : title_of(restriction) + ": the price by shape",
                   Table(price_columns),
                   "price: the loss against the best of all that were measured, an estimate with half of its 95% interval.\n"
                   "bits: compared where the trials ran; or equal by the kernels' source, and not compared.\n"};
    std::size_t dropped = 0;
    for (const PricedLadder& ladder : ladders) {
        for (const PricedChoice& choice : ladder.choices) {
            const std::string taken = choice.taken != nullptr ? choice.taken->candidate.identity() : "";
            shapes.table.add({choice.problem, taken.empty() ? "none is admitted" : taken, taken.empty() ? "-" : loss_text(choice.time),
                              taken == choice.best ? "the same" : choice.best, taken.empty() ? "" : std::string(known_text(choice.known))},
                             taken.empty() ? Tone::bad : Tone::plain);
            dropped += choice.time.dropped ? 1 : 0;
        }
    }
    if (dropped > 0) {
        shapes.note += fmt::format(
            "On {} of the shapes it was dropped by a race after few rounds, which its price rests on: fit --measure measures it again.\n",
            dropped);
    }
    out.push_back(std::move(shapes));
    return out;
}

std::vector<std::string> restriction_text(std::span<const PricedLadder> ladders, const Restriction& restriction) {
    std::vector<std::string> out{fmt::format("{}: the fastest of those alone {}.", title_of(restriction),
                                             !restriction.deterministic ? "whose rows have equal bits whatever the number of rows"
                                             : restriction.batch_invariant
                                                 ? "whose rows have equal bits whatever the number of rows, and whose dgamma "
                                                   "has equal bits from run to run"
                                                 : "whose dgamma has equal bits from run to run")};
    const auto known = [](const PricedLadder& ladder) {
        return ladder.known == Known::by_bits ? "bits were compared where the trials ran"
                                              : "by the kernels' source, bits were not compared";
    };
    if (!restriction.batch_invariant) {
        const auto compared = std::ranges::count(ladders, Known::by_bits, &PricedLadder::known);
        out.push_back(fmt::format("Of {} of {} problems bits were compared where the trials ran, of the others it is the kernels' source.",
                                  compared, ladders.size()));
        return out;
    }
    for (const PricedLadder& ladder : ladders) {
        if (!ladder.row_class.empty()) {
            out.push_back(fmt::format("{}: class {}, {}.", ladder.name, ladder.row_class, known(ladder)));
        }
    }
    return out;
}

Section bits_section(const Results& results) {
    Section section{"Bits", Table(bits_columns),
                    "rows: of a row alone and within batches; dgamma: from launch to launch; contradicted: classes whose rows "
                    "should have equal bits by the kernels' source, and have not.\n"};
    for (const BitsTally& tally : bits_tallies(results)) {
        const bool good = tally.rows_differ.empty() && tally.contradicted.empty();
        const auto number = [](std::size_t count) { return grouped(static_cast<std::uint64_t>(count)); };
        section.table.add({tally.name, number(tally.compared), number(tally.rows_differ.size()), number(tally.runs_differ.size()),
                           number(tally.classes), number(tally.contradicted.size())},
                          good ? Tone::good : Tone::bad);
        section.note += first_of("rows differ", tally.rows_differ) + first_of("dgamma differs", tally.runs_differ);
        if (!tally.contradicted.empty()) {
            section.note += fmt::format("contradicted: {} on {}.\n", tally.contradicted.front(), tally.name);
        }
    }
    return section;
}

}  // namespace normtune
