// Each death is a child's: signals end a process.
#include "run/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace normtune {
namespace {

/// The status of a child that does so under an InterruptGuard, and then exits with 7.
template <typename Do>
int status_of(const Do& work) {
    const pid_t child = fork();
    if (child == 0) {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
            ::signal(signal, SIG_DFL);
        }
        work();
        _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

TEST(Interrupt, TheFirstSignalAsksAndTheSecondEndsWhateverItsKind) {
    for (const int first : {SIGINT, SIGTERM, SIGHUP}) {
        for (const int second : {SIGINT, SIGTERM, SIGHUP}) {
            const int one = status_of([&] {
                const InterruptGuard guard;
                raise(first);
                _exit(interrupt_requested() ? 8 : 9);
            });
            EXPECT_TRUE(WIFEXITED(one));
            EXPECT_EQ(WEXITSTATUS(one), 8);
            const int two = status_of([&] {
                const InterruptGuard guard;
                raise(first);
                raise(second);
            });
            EXPECT_TRUE(WIFSIGNALED(two)) << first << ", " << second;
            EXPECT_EQ(WTERMSIG(two), second);
        }
    }
}

TEST(Interrupt, WhatWasIgnoredStaysSoBehindTheFirstSignal) {
    const int status = status_of([] {
        ::signal(SIGHUP, SIG_IGN);
        const InterruptGuard guard;
        raise(SIGHUP);
        if (interrupt_requested()) {
            _exit(9);
        }
        raise(SIGINT);
        raise(SIGHUP);
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Interrupt, TheNextGuardAsksAgain) {
    const int status = status_of([] {
        for (int i = 0; i < 2; ++i) {
            const InterruptGuard guard;
            if (interrupt_requested()) {
                _exit(9);
            }
            raise(SIGTERM);
        }
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace normtune
