// What comparing the bits of a trial's outputs found: plain data, part of a record.
#pragma once

#include <string>

namespace normtune {

struct BitsCheck {
    std::string row_bits;     // digest of what fixed rows give, alone and in each batch; empty: they differ
    std::string rows_differ;  // where they do first; one line
    std::string runs_differ;  // where dgamma differs from launch to launch; empty: it does not, or there is none
    friend bool operator==(const BitsCheck&, const BitsCheck&) = default;
};

}  // namespace normtune
