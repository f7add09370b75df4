// SIGINT, SIGTERM and SIGHUP during a sweep: the first one asks it to stop, a second one ends the process at once.
#pragma once

#include <csignal>
#include <exception>

namespace normtune {

/// True once one of the signals came while an InterruptGuard lived.
bool interrupt_requested();

/// Installs the handlers for its lifetime. A signal that was ignored before (nohup, a background job) stays ignored.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

private:
    struct sigaction previous_[3];
};

/// Thrown where a wait was cut short by a signal; the sweep catches it and writes what it has.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace normtune
