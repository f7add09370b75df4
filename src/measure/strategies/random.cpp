// Some candidates of each problem, drawn at random; each is measured until the stop rule ends it.
#include "measure/strategies/strategy.h"

namespace normtune {

namespace {

class RandomDraw : public Strategy {
public:
    std::string_view name() const override { return "random"; }
    std::unique_ptr<Scheduler> schedule(const ScheduledProblem& of) const override { return measure_alike(of); }
    bool draws() const override { return true; }
};

}  // namespace

const Strategy& random_strategy() {
    static const RandomDraw strategy;
    return strategy;
}

}  // namespace normtune
