// What `fit --traffic` says beside its ladders: expected times, and what they rest on.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "judge/fit.h"
#include "report/sections.h"

namespace normtune {

/// "0.8% ±0.1": what the ladder loses over the batches; "±?" where the interval is not known.
std::string expected_loss_text(const TrafficFit& traffic);

/// The fit has a traffic.
std::vector<Section> traffic_sections(const Fit& fit);

nlohmann::json traffic_json(const TrafficFit& traffic);

}  // namespace normtune
