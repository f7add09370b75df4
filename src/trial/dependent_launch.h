// Which candidates are launched while the launch ahead still runs: their times leave out what a plain launch waits for.
#pragma once

#include "trial/candidate.h"

namespace normtune {

/// Does its first kernel begin before the op ahead has ended: `dependent_launch: on`, in a launch.json
/// `programmatic_stream_serialization` of its first launch, or a Python kernel that says so? Its limit and floor are then of a copy
/// and an empty kernel launched so.
bool launched_dependent(const Candidate& candidate);

}  // namespace normtune
