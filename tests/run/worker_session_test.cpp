// What a session asks its worker, and in which order.
#include "run/worker/worker_session.h"

#include <gtest/gtest.h>

#include "run/requests_log.h"
#include "run/sweep_fixture.h"
#include "support/atomic_file.h"

namespace normtune {
namespace {

class SessionRequests : public ::testing::Test {
protected:
    std::string made() { return read_file(log_); }

    testing::TemporaryFolder folder_;
    std::string log_ = folder_.path("requests");
    WorkerSession session_{{{"/proc/self/exe", testing::requests_log_command, log_}, Backend::replay, 0, "", 0, folder_.path("log")}, {}};
};

TEST_F(SessionRequests, CompilingAheadForANamedProblemDoesNotWaitForTheOpenOne) {
    const Problem problem = testing::small_problem(256);
    session_.set_problem({problem, {}, 0});
    session_.compile_ahead({{Configuration{}}, true, problem});
    EXPECT_EQ(made(), "ahead\n");
    ASSERT_TRUE(std::holds_alternative<OpenedReply>(session_.open()));
    session_.compile_ahead({{Configuration{}}, true, std::nullopt});
    EXPECT_EQ(made(), "ahead\nopen\nahead\n");
}

TEST_F(SessionRequests, CompilingAheadForTheOpenProblemOpensIt) {
    session_.set_problem({testing::small_problem(256), {}, 0});
    session_.compile_ahead({{Configuration{}}, true, std::nullopt});
    EXPECT_EQ(made(), "open\nahead\n");
}

}  // namespace
}  // namespace normtune
