// For tests of the emulated kernels' own code.
#pragma once

#include <gtest/gtest.h>

#include "support/sanitized.h"

namespace normtune::testing {

/// Left out where tests are compiled with a sanitizer: it takes minutes there and sees neither kernels nor machine.
template <class Parameter>
class WithoutSanitizer : public ::testing::TestWithParam<Parameter> {
protected:
    void SetUp() override {
        if (sanitized) {
            GTEST_SKIP() << "neither kernels nor machine are compiled with a sanitizer";
        }
    }
};

}  // namespace normtune::testing
