// A coroutine with a stack of its own.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace normtune::emulation {

class Fibre {
public:
    static constexpr std::size_t stack_bytes = std::size_t{64} << 10;

    /// `body` must not return; it starts with the next switch to this fibre.
    void start(void (*body)()) {
        if (stack_ == nullptr) {
            stack_ = std::make_unique_for_overwrite<char[]>(stack_bytes);
        }
        getcontext(&context_);
        context_.uc_stack.ss_sp = stack_.get();
        context_.uc_stack.ss_size = stack_bytes;
        context_.uc_link = nullptr;
        makecontext(&context_, body, 0);
        begun_ = false;
    }
    /// Leaves this fibre, which runs, for another. swapcontext would do, but asks the kernel for the signal mask, which takes a third of
    /// the machine's time; setjmp's functions are a sanitizer's, which knows no fibres.
    [[gnu::noinline]] void switch_to(Fibre& other) {
        begun_ = true;
        if (__builtin_setjmp(place_) == 0) {
            other.go_on();
        }
    }
    char* stack() const { return stack_.get(); }

private:
    /// Another function than the one that calls __builtin_setjmp, as the compiler asks.
    [[noreturn, gnu::noinline]] void go_on() {
        if (begun_) {
            __builtin_longjmp(place_, 1);
        }
        setcontext(&context_);
        std::abort();  // it does not come back
    }

    ucontext_t context_{};  // where it begins
    void* place_[5]{};      // where it goes on
    bool begun_ = false;
    std::unique_ptr<char[]> stack_;  // null: the thread's own
};

}  // namespace normtune::emulation
