// How values are laid out along an axis of a plot, and where its ticks are. Pure.
#pragma once

#include <string>
#include <vector>

namespace normtune {

struct Tick {
    double value;
    std::string label;
};

class Scale {
public:
    /// From 0 to 1 until it is given.
    Scale() = default;
    /// Widened to whole ticks, and around values that labels would not tell apart.
    static Scale linear(double low, double high);
    /// 0 < low. With ticks at 1, 2, 5, …; `at`, where given, are the only places of ticks.
    static Scale log(double low, double high, const std::vector<double>& at = {});
    /// Of a share that is 0 or more: linear up to 1%, logarithmic beyond, so that 0 has a place and decades have room.
    static Scale loss(double high);
    /// Of a ratio: logarithmic, with 1 on it, and ticks in percent of change.
    static Scale change(double low, double high);

    /// Days since 1970, with dates as ticks.
    static Scale dates(double first, double last);

    /// 0…1 from the low end; what lies beyond an end is at it.
    double at(double value) const;
    const std::vector<Tick>& ticks() const { return ticks_; }

private:
    enum class Kind { linear, log, loss };
    double place(double value) const;

    Kind kind_ = Kind::linear;
    double low_ = 0;
    double high_ = 1;
    std::vector<Tick> ticks_;
};

}  // namespace normtune
