// Which shapes a fit does not see, so that it can be judged on them. Pure.
#pragma once

#include <string>

#include "judge/ladder.h"

namespace normtune {

class HoldOut {
public:
    /// "4": one shape in four, of the distinct M × N by N, then M: the 2nd, 6th, …; "4:1" the 1st, 5th, …; "none"; "MODEL/SITE", in which *
    /// and ? match as in a shell: the shapes that such a site of such a model has. Throws InputError.
    static HoldOut parse(const std::string& text);

    /// `index` is the shape's place among all.
    bool holds(const ShapeLosses& shape, std::size_t index) const;
    /// Does it name shapes, so that it is wrong where there are none of the name?
    bool by_name() const { return !model_.empty() || !site_.empty(); }
    const std::string& text() const { return text_; }

private:
    std::string text_ = "none";
    std::size_t every_ = 0;
    std::size_t first_ = 0;  // from 0
    std::string model_;
    std::string site_;
};

}  // namespace normtune
