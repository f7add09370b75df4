// What `audit --transfer` prints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/transfer.h"
#include "report/sections.h"

namespace normtune {

std::vector<Section> transfer_sections(std::span<const Transfer> transfers);

/// schemas/transfer.schema.json.
std::string transfer_json(std::span<const Transfer> transfers);

}  // namespace normtune
