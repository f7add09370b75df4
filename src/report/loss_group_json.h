// A group of losses as JSON, as the schemas of audit and of its --transfer have it.
#pragma once

#include <nlohmann/json.hpp>

#include "judge/loss_group.h"

namespace normtune {

nlohmann::json loss_group_json(const LossGroup& group);

}  // namespace normtune
