// Records as JSON and back, by the tables of trial/record_fields.h. The journal and the worker protocol use the same functions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "support/json_reader.h"
#include "trial/plan_summary.h"
#include "trial/record.h"

namespace normtune {

/// Raised by a change that an older reader would misread. Readers accept 1…this.
inline constexpr int schema_version = 1;

/// Of a record, and of each struct that it consists of; of an environment, a device, a plan. A number that is not finite
/// becomes null.
template <typename T>
nlohmann::json to_json(const T& value);
/// Throws InputError with the place of what is wrong ("records/3/measurement/p50_us: …").
template <typename T>
T from_json(const JsonReader& in);

/// "provider", and "configuration", or "candidate": the key of one of another provider.
void add_candidate(nlohmann::json& out, const Candidate& candidate);

}  // namespace normtune
