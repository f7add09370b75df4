#include "run/interrupt.h"

#include <array>
#include <atomic>

namespace normtune {

namespace {

constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
std::atomic<bool> requested{false};
std::array<std::atomic<bool>, signals.size()> handled{};  // by note_signal: the others are ignored
static_assert(std::atomic<bool>::is_always_lock_free);

void default_action(int signal) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

// The second signal, of whatever kind, finds the default action, so a sweep that does not stop in time can still be ended by hand.
extern "C" void note_signal(int) {
    requested.store(true, std::memory_order_relaxed);
    for (std::size_t i = 0; i < signals.size(); ++i) {
        if (handled[i].load(std::memory_order_relaxed)) {
            default_action(signals[i]);
        }
    }
}

}  // namespace

bool interrupt_requested() {
    return requested.load(std::memory_order_relaxed);
}

InterruptGuard::InterruptGuard() {
    requested.store(false, std::memory_order_relaxed);
    for (std::size_t i = 0; i < signals.size(); ++i) {
        sigaction(signals[i], nullptr, &previous_[i]);
        handled[i] = previous_[i].sa_handler != SIG_IGN;
        if (!handled[i]) {
            continue;
        }
        struct sigaction action {};
        action.sa_handler = note_signal;
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
