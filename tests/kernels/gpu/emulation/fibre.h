// A coroutine with a stack of its own.
#pragma once

#include <ucontext.h>

#include <cstddef>
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
    }
    /// Leaves this fibre, which runs, for another.
    void switch_to(Fibre& other) { swapcontext(&context_, &other.context_); }
    char* stack() const { return stack_.get(); }

private:
    ucontext_t context_{};
    std::unique_ptr<char[]> stack_;  // null: the thread's own
};

}  // namespace normtune::emulation
