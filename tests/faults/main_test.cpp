// This executable is its own worker, as normtune is.
#include <gtest/gtest.h>

#include "run/worker/worker.h"

#include "faults/frame_relay.h"

int main(int argc, char** argv) {
    if (const auto status = normtune::testing::run_as_relay(argc, argv)) {
        return *status;
    }
    if (const auto status = normtune::run_as_worker(argc, argv)) {
        return *status;
    }
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
