// Texts of records and plans, read without a document in between.
#pragma once

#include <optional>
#include <string_view>

#include "trial/plan_summary.h"
#include "trial/record.h"

namespace normtune {

/// What from_json makes of the text, ten times as fast; nothing where something is wrong, and from_json says what, or where the text is not
/// as normtune writes it (support/quick_json.h).
template <typename T>
std::optional<T> read_quickly(std::string_view text);

}  // namespace normtune
