// This executable is its own worker, as normtune is.
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include "run/requests_log.h"
#include "run/worker/worker.h"

int main(int argc, char** argv) {
    if (const auto status = normtune::run_as_worker(argc, argv)) {
        return *status;
    }
    if (argc > 4 && std::string_view(argv[1]) == normtune::testing::requests_log_command) {
        return normtune::testing::serve_requests_log(argv[2], std::atoi(argv[4]));
    }
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
