// Which worker a candidate belongs to.
#include "run/worker/worker_sessions.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

WorkerCommand of_side(std::string side) {
    WorkerCommand command;
    command.side = std::move(side);
    return command;
}

TEST(WorkerSessions, ACandidateIsInItsSidesWorker) {
    WorkerSessions sessions({of_side("before"), of_side("after")}, {});  // never started
    for (const char* provider : {"after", "after.liger", "after.my.norms"}) {
        EXPECT_NE(&sessions.of(Candidate::named(provider, "rms_norm")), &sessions.first()) << provider;
    }
    for (const char* provider : {"before", "before.liger", "afterwards", "before.after", "liger"}) {
        EXPECT_EQ(&sessions.of(Candidate::named(provider, "rms_norm")), &sessions.first()) << provider;
    }
    EXPECT_EQ(&sessions.of(Candidate(Configuration{})), &sessions.first());
}

TEST(WorkerSessions, OneHasAll) {
    WorkerSessions sessions({of_side("after")}, {});
    EXPECT_EQ(&sessions.of(Candidate::named("after", "rms_norm")), &sessions.first());
    EXPECT_EQ(&sessions.of(Candidate::named("before", "rms_norm")), &sessions.first());
}

}  // namespace
}  // namespace normtune
