// Records as JSON and back; the schema is schemas/results.schema.json. The worker protocol uses the same functions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "trial/record.h"

namespace normtune {

/// Raised by a change that an older reader would misread. Readers accept 1…this.
inline constexpr int schema_version = 1;

nlohmann::json to_json(const Problem& problem);
nlohmann::json to_json(const Configuration& configuration);  // every axis by name, with "key"
/// "provider", and "configuration", or "candidate": the key of one of another provider.
void add_candidate(nlohmann::json& out, const Candidate& candidate);
nlohmann::json to_json(const DeviceInfo& device);
nlohmann::json to_json(const CompileInfo& compile);
nlohmann::json to_json(const Verification& verification);
nlohmann::json to_json(const Measurement& measurement);
nlohmann::json to_json(const Environment& environment);
nlohmann::json to_json(const Record& record);

/// Each throws InputError with the JSON path of what is wrong ("records/3/measurement/p50_us: …").
Problem problem_from_json(const nlohmann::json& value);
Configuration configuration_from_json(const nlohmann::json& value);
DeviceInfo device_info_from_json(const nlohmann::json& value);
CompileInfo compile_info_from_json(const nlohmann::json& value);
Verification verification_from_json(const nlohmann::json& value);
Measurement measurement_from_json(const nlohmann::json& value);
Environment environment_from_json(const nlohmann::json& value);
Record record_from_json(const nlohmann::json& value);

}  // namespace normtune
