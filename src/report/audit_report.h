// An audit for people and programs.
#pragma once

#include <span>
#include <vector>

#include "judge/audit.h"
#include "report/sections.h"
#include "support/text_sink.h"

namespace normtune {

/// Of each device the losses of heuristics and rules by op and mode, the dearest rules, then heuristics by problem.
std::vector<Section> audit_sections(std::span<const Audit> audits);

/// schemas/audit.schema.json; an entry a device.
void write_audit_json(TextSink& out, std::span<const Audit> audits);

}  // namespace normtune
