#include "support/child_process.h"

#include <signal.h>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune {
namespace {

using namespace std::chrono_literals;

class ChildProcess : public ::testing::Test {
protected:
    ChildEnd shell(const std::string& script, std::chrono::seconds limit = 20s) {
        return run_child({"/bin/sh", "-c", script}, log_, limit);
    }
    std::string said() const {
        std::ifstream file(log_);
        std::ostringstream out;
        out << file.rdbuf();
        return out.str();
    }

    testing::TemporaryFolder folder_;
    std::string log_ = folder_.path() + "/log";
};

TEST_F(ChildProcess, LeavesItsOutputAndStatus) {
    const ChildEnd end = shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(end.status, 3);
    EXPECT_EQ(end.signal, 0);
    EXPECT_EQ(end.description(), "exit status 3");
    EXPECT_EQ(said(), "out\nerr\n");
}

TEST_F(ChildProcess, HasNoInput) {
    EXPECT_EQ(shell("read line && exit 1; exit 0").status, 0);
}

TEST_F(ChildProcess, ThatCrashesSaysByWhatSignal) {
    const ChildEnd end = shell("kill -ABRT $$");
    EXPECT_EQ(end.signal, SIGABRT);
    EXPECT_EQ(end.description(), "SIGABRT (Aborted)");
}

TEST_F(ChildProcess, ThatHangsIsKilledWithItsChildren) {
    const auto start = std::chrono::steady_clock::now();
    const ChildEnd end = shell("sleep 60 & sleep 60", 1s);
    EXPECT_TRUE(end.timed_out);
    EXPECT_EQ(end.description(), "no end within its time");
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST_F(ChildProcess, ThatIsNotThereIsAnError) {
    EXPECT_THROW(run_child({"/nonexistent/compiler"}, log_, 5s), SystemError);
}

}  // namespace
}  // namespace normtune
