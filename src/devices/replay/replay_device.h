// A device that computes nothing: it plays a script's times and faults, or the records of an earlier run.
#pragma once

#include <memory>
#include <string>

#include "devices/registry.h"

namespace normtune {

/// It expresses every configuration. A script says how many devices it plays, and what verification finds.
BackendRow replay_backend();

/// `script` is a file's path. Throws InputError.
std::unique_ptr<Device> open_replay(const std::string& script, int ordinal);

}  // namespace normtune
