// The readers of record_json.h for a value inside a larger document, so that errors name the place in that document.
#pragma once

#include "support/json_reader.h"
#include "trial/plan_summary.h"
#include "trial/record.h"

namespace normtune {

Record read_record(const JsonReader& in);
Environment read_environment(const JsonReader& in);
PlanSummary read_plan_summary(const JsonReader& in);
nlohmann::json to_json(const PlanSummary& plan);

}  // namespace normtune
