// The field tables (trial/field.h) of results.json and of the journal's lines.
#pragma once

#include <fmt/format.h>

#include "space/shard.h"
#include "store/journal.h"
#include "trial/field_json.h"

namespace normtune {

template <typename V, Is<SweepIdentity> T>
void describe(V& v, T& sweep) {
    constexpr FieldTraits shard{.least = 1, .most = most_shards};
    v("digest", sweep.digest, "Hash of all that was selected but the shard: equal in all shards of one sweep");
    v("space", sweep.space, "Hash of the space's axes and rules");
    v("problems", sweep.problems, "Problems of all shards", fields::count);
    v("shards", sweep.shards, "Into how many the selection was divided", shard);
    v("present", sweep.present, "The shards that are in this file, ascending", shard);
    v.flaw([&]() -> std::string {
        const bool all = std::all_of(sweep.present.begin(), sweep.present.end(), [&](int one) { return one <= sweep.shards; });
        return all ? "" : fmt::format("a shard that is present is not among the {} shards", sweep.shards);
    });
}

template <typename V, Is<MergedRun> T>
void describe(V& v, T& run) {
    v("environment", run.environment, "");
    v("command", run.command, "The words of its command line");
}

template <typename V, Is<Results> T>
void describe(V& v, T& results) {
    v.version();
    v("environment", results.environment, "");
    v("command", results.command, "The words of the command line");
    v("selection", results.sweep,
      "Which selection the results are of. Absent in files of older versions, and where runs of several selections were merged");
    v("merged", results.merged,
      "In what `normtune merge` wrote: the runs that went into it. Where their environments differ, the file's own joins the texts by ';'",
      {.added = true, .omit_empty = true});
    v("plans", results.plans, "One entry a problem");
    v("records", results.records, "One entry a trial");
}

template <typename V, Is<JournalHeader> T>
void describe(V& v, T& header) {
    v.version();
    v("environment", header.environment, "");
    v("command", header.command, "The words of the command line");
    v("selection", header.sweep, "Canonical JSON of what is swept; a resumed run has to have the same");
    v("plans", header.plans, "One entry a problem");
    v("kernels", header.kernels, "Digest of the kernels that were run; of runs that use the store of winners",
      {.added = true, .omit_empty = true});
}

template <typename V, Is<FinalEntry::Finalist> T>
void describe(V& v, T& finalist) {
    v("configuration", finalist.candidate, "Key of the configuration; provider:key of another provider's candidate");
    v("rounds_us", finalist.rounds_us, "Medians of the fresh rounds", fields::time_us);
    v("rank", finalist.rank, "1: the winner; 0: not ranked, the fastest of a provider that had no finalist", fields::count);
    v("tied", finalist.tied, "Cannot be told apart from the winner");
    v("floor_us", finalist.floor_us, "Median of an empty launch in the same rounds", {.unit = "microseconds", .least = 0, .added = true});
}

template <typename V, Is<FinalEntry> T>
void describe(V& v, T& entry) {
    v("problem", entry.problem_key, "Key of the problem");
    v("finalists", entry.finalists, "The best first");
}

template <typename V, Is<RepetitionEntry> T>
void describe(V& v, T& entry) {
    v("problem", entry.problem_key, "Key of the problem");
    v("configuration", entry.candidate, "Key of the configuration; provider:key of another provider's candidate");
    v("repetition", entry.repetition, "What that process measured");
}

template <typename V, Is<VoidEntry> T>
void describe(V& v, T& entry) {
    v("problem", entry.problem_key, "Key of the problem");
}

}  // namespace normtune
