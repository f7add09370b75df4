#include "trial/record.h"

namespace normtune {

std::string Record::trial_key() const {
    return problem.key() + ' ' + candidate.identity();
}

bool Record::may_win() const {
    return outcome == Outcome::passed && measurement && measurement->stop_reason != StopReason::dropped;
}

}  // namespace normtune
