#include "report/transfer_report.h"

#include <cmath>

#include <fmt/format.h>

#include "report/json_document.h"
#include "report/loss_group_json.h"
#include "support/plural.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr int transfer_schema_version = 1;

constexpr std::string_view transfer_note =
    "The loss of the one's winners on the other, against the best measured there: an estimate; ±: half of its 95% interval, in percentage "
    "points. judged: problems where that winner was measured. mean: geometric.\n";

std::string side_text(const std::string& name, const DeviceInfo& device) {
    return name == device.name
               ? fmt::format("{} ({}, {})", name, device.arch, counted(static_cast<std::uint64_t>(device.compute_units), "compute unit"))
               : fmt::format("{} ({}, {})", name, device.name, device.arch);
}

Section in_all(const Transfer& transfer) {
    Section section{
        fmt::format("Winners of {} on {}", side_text(transfer.from_name, transfer.from), side_text(transfer.to_name, transfer.to)),
        Table("problems|>judged|>mean loss|>worst|on"), std::string(transfer_note)};
    for (const LossGroup& group : transfer.groups) {
        section.table.add({group.op.empty() ? "all" : fmt::format("{} {}", group.op, group.mode), judged_text(group), mean_text(group),
                           worst_text(group), group.worst > 0 ? group.worst_on->problem().key() : ""});
    }
    if (transfer.only_from + transfer.only_to > 0) {
        section.note += fmt::format("Left out: {} that the one has alone, {} of the other.\n", counted(transfer.only_from, "problem"),
                                    transfer.only_to);
    }
    return section;
}

std::string to_measure(const Transfer& transfer) {
    const double percent = transfer.tolerance * 100;
    if (transfer.again == 0) {
        return fmt::format("Nothing to measure there of its own: none of {} winners loses more than {:.4g}%.\n", transfer.problems.size(),
                           percent);
    }
    return fmt::format(
        "again: the winner loses more than {:.4g}%, or was not measured there: {} of {} problems. With these measured there, and "
        "the winners of all others taken over, the loss is {} in the mean, {} at worst.\n",
        percent, transfer.again, transfer.problems.size(), loss_text(transfer.after.mean), loss_text(transfer.after.worst));
}

Section by_problem(const Transfer& transfer) {
    Section section{"By problem, what loses most first", Table("problem|>best us|>best us there|>loss|again"), to_measure(transfer)};
    for (const TransferredWinner& winner : transfer.problems) {
        section.table.add({winner.from->problem().key(), three_digits(winner.from->winner->measurement->p50_us),
                           three_digits(winner.to->winner->measurement->p50_us),
                           winner.there != nullptr ? loss_text(*winner.there) : winner.why_not, winner.again ? "again" : ""},
                          winner.again ? Tone::unsure : Tone::plain);
    }
    return section;
}

json transferred_json(const TransferredWinner& winner) {
    const bool judged = winner.there != nullptr;
    const Standing standing = judged ? *winner.there : Standing{};
    return {{"problem", winner.from->problem().key()},
            {"winner", winner.from->winner->candidate.identity()},
            {"best_us", winner.from->winner->measurement->p50_us},
            {"best_there", winner.to->winner->candidate.identity()},
            {"best_there_us", winner.to->winner->measurement->p50_us},
            {"loss", json_if(judged, standing.loss())},
            {"low", json_if(judged && std::isfinite(standing.low), standing.low - 1)},
            {"high", json_if(judged && std::isfinite(standing.high), standing.high - 1)},
            {"not_measured", json_if(!judged, winner.why_not)},
            {"again", winner.again}};
}

json to_json(const Transfer& transfer) {
    return {{"from_name", transfer.from_name},
            {"to_name", transfer.to_name},
            {"from", to_json(transfer.from)},
            {"to", to_json(transfer.to)},
            {"tolerance", transfer.tolerance},
            {"groups", json_list(transfer.groups, loss_group_json)},
            {"problems", json_list(transfer.problems, transferred_json)},
            {"only_from", transfer.only_from},
            {"only_to", transfer.only_to},
            {"again", transfer.again},
            {"mean_loss_after", transfer.after.mean},
            {"worst_loss_after", transfer.after.worst}};
}

}  // namespace

std::vector<Section> transfer_sections(std::span<const Transfer> transfers) {
    std::vector<Section> out;
    for (const Transfer& transfer : transfers) {
        out.push_back(in_all(transfer));
        out.push_back(by_problem(transfer));
    }
    return out;
}

std::string transfer_json(std::span<const Transfer> transfers) {
    return json_document(transfer_schema_version,
                         {{"transfers", json_list(transfers, [](const Transfer& transfer) { return to_json(transfer); })}});
}

}  // namespace normtune
