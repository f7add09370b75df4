#include "run/interrupt.h"

#include <array>
#include <atomic>

namespace normtune {

namespace {

constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_signal(int) {
    requested.store(true, std::memory_order_relaxed);
}

}  // namespace

bool interrupt_requested() {
    return requested.load(std::memory_order_relaxed);
}

InterruptGuard::InterruptGuard() {
    requested.store(false, std::memory_order_relaxed);
    for (std::size_t i = 0; i < signals.size(); ++i) {
        sigaction(signals[i], nullptr, &previous_[i]);
        if (previous_[i].sa_handler == SIG_IGN) {
            continue;
        }
        struct sigaction action {};
        action.sa_handler = note_signal;
        // The second signal finds the default action, so a sweep that does not stop in time can still be ended by hand.
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, nullptr);
    }
}

InterruptGuard::~InterruptGuard() {
    for (std::size_t i = 0; i < signals.size(); ++i) {
        sigaction(signals[i], &previous_[i], nullptr);
    }
}

}  // namespace normtune
