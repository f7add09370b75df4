// The worker's command line: how the parent starts this executable as its worker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "space/device_info.h"

namespace normtune {

/// argv[1] of a worker process; not a command for people.
inline constexpr const char* worker_command = "worker";

/// Arguments after the executable's name: "worker", descriptor, backend, ordinal, script, cores.
std::vector<std::string> worker_arguments(int descriptor, Backend backend, int ordinal, const std::string& script, int cores);

/// Serves as a worker where the command line says so, and returns its exit code; else nothing. The first thing that
/// main does: a worker must not read configuration, print or install handlers before.
std::optional<int> run_as_worker(int argc, const char* const* argv);

}  // namespace normtune
