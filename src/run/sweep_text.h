// What is swept, as canonical JSON: kept in the journal's header, so that a sweep is resumed as what it was.
#pragma once

#include <string>

#include "run/sweep.h"

namespace normtune {

/// Everything that decides which trials run and how each is measured, and besides it the budget.
std::string sweep_to_text(const SweepOptions& options);
/// What identifies the sweep in results: its shards have the same digest.
SweepIdentity sweep_identity(const SweepOptions& options);
/// Digest of what decides what a time means: cold or hot, rounds, stop rule, and the version that measures.
std::string measuring_digest(const SweepOptions& options);
/// The options that the text was made of; command, out_folder and resume are left as they are in a fresh SweepOptions.
/// Throws InputError.
SweepOptions sweep_from_text(const std::string& text);

/// Throws InputError, naming what differs, unless the journal's sweep is that of `options`. The budget may differ:
/// a resumed sweep may be given more time.
void require_same_sweep(const std::string& journal_folder, const std::string& journal_sweep, const SweepOptions& options);

}  // namespace normtune
