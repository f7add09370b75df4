// A source of bytes that come a few at a time, so that what is read lies across reads.
#pragma once

#include <algorithm>
#include <string_view>

#include "support/byte_source.h"

namespace normtune::testing {

class Trickle : public ByteSource {
public:
    Trickle(std::string_view text, std::size_t step) : text_(text), step_(step) {}
    std::size_t read(char* into, std::size_t most) override { return text_.read(into, std::min(most, step_)); }

private:
    MemorySource text_;
    std::size_t step_;
};

}  // namespace normtune::testing
