// Fitted ladders for people and for programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/fit.h"
#include "report/sections.h"

namespace normtune {

/// All fits in a line each; then of each its steps, losses on the fitted and on the held-out shapes, the rules of thumb beside them, steps
/// at other tolerances.
std::vector<Section> fit_sections(std::span<const Fit> fits);

/// schemas/fit.schema.json.
std::string fit_json(std::span<const Fit> fits);

// --- What these have in common ---

/// "6 steps within 2%", or what could be reached instead.
std::string fit_title(const Fit& fit);
/// "mean 0.4%, worst 1.9% on 8192x4096 (41 of 42 shapes judged)".
std::string summary_text(const ShapeSummary& summary);

}  // namespace normtune
