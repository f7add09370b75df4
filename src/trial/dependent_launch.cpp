#include "trial/dependent_launch.h"

#include "trial/launch_manifest.h"

namespace normtune {

bool launched_dependent(const Candidate& candidate) {
    if (const Configuration* own = candidate.configuration()) {
        return own->dependent_launch == DependentLaunch::on;
    }
    const LaunchManifest* manifest = candidate.manifest().get();
    return manifest != nullptr &&
           (manifest->python_dependent || (!manifest->plan.launches.empty() && manifest->plan.launches.front().overlaps));
}

}  // namespace normtune
