// How many threads are worth starting.
#pragma once

#include <string>
#include <vector>

namespace normtune {

/// The logical processors that this process may run on, ascending; processor 0 where the system does not tell.
std::vector<int> allowed_processors();

/// Whole processors that a control group's quota allows ("max 100000", "150000 100000"); 0: no limit.
int quota_processors(const std::string& cpu_max);

/// The quota of this process's control group; 0: no limit.
int quota_processors();

/// Processors that threads of this process may keep busy, 1 or more: those that it may run on, within its control
/// group's quota and `limit_cores`.
int usable_cores();

/// This process is one of several that share the machine: it keeps `most` busy at most. 0: no limit.
void limit_cores(int most);

}  // namespace normtune
