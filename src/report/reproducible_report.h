// What restricting a launcher to equal bits takes and costs, and what comparing bits found, as tables.
#pragma once

#include <span>
#include <vector>

#include "judge/reproducible.h"
#include "report/sections.h"

namespace normtune {

/// With --batch-invariant a line a set of problems that differ in M, with its class; then the price by problem.
std::vector<Section> price_sections(std::span<const PricedLadder> ladders, const Restriction& restriction);

/// What code of such a launcher says of its bits: a paragraph, and one a set of problems with its class.
std::vector<std::string> restriction_text(std::span<const PricedLadder> ladders, const Restriction& restriction);

/// A line a set of problems, and the first of those that differ.
Section bits_section(const Results& results);

/// All that the tables of prices and bits have.
std::vector<std::string> reproducible_headings();

}  // namespace normtune
