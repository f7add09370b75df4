// Comparison with a file below tests/golden; NORMTUNE_UPDATE_GOLDEN=1 writes it anew (then read the difference).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/atomic_file.h"

namespace normtune::testing {

inline void expect_golden(const std::string& actual, const std::string& name) {
    const std::string path = std::string(NORMTUNE_SOURCE_DIR) + "/tests/golden/" + name;
    if (std::getenv("NORMTUNE_UPDATE_GOLDEN") != nullptr) {
        write_file_atomically(path, actual);
    }
    EXPECT_EQ(actual, read_file(path)) << "NORMTUNE_UPDATE_GOLDEN=1 writes " << path << " anew";
}

}  // namespace normtune::testing
