#include "store/record.h"

namespace normtune {

std::string Record::trial_key() const {
    return problem.key() + ' ' + configuration.key();
}

}  // namespace normtune
