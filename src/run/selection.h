// What is swept, as canonical JSON: kept in the journal's header, so that a sweep is resumed as what it was.
#pragma once

#include <string>

#include "run/sweep.h"

namespace normtune {

/// Everything that decides which trials run and how each is measured, and besides it the budget.
std::string selection_to_text(const SweepOptions& options);
/// What identifies the selection in results: shards of one sweep have the same digest.
RunSelection describe_selection(const SweepOptions& options);
/// Digest of what decides what a time means: cold or hot, rounds, stop rule, and the version that measures.
std::string measuring_digest(const SweepOptions& options);
/// The options that the text was made of; command, out_folder and resume are left as they are in a fresh SweepOptions.
/// Throws InputError.
SweepOptions selection_from_text(const std::string& text);

/// Throws InputError, naming what differs, unless the journal's selection is that of `options`. The budget may differ:
/// a resumed sweep may be given more time.
void require_same_selection(const std::string& journal_folder, const std::string& journal_selection, const SweepOptions& options);

}  // namespace normtune
