// One device of a sweep: its worker, and the problems that it takes.
#pragma once

#include <memory>
#include <vector>

#include "run/problem_run.h"
#include "run/problem_trials.h"
#include "run/work_queue.h"

namespace normtune {

/// What the device workers of a sweep share; all of it outlives them.
struct DeviceWorkerContext {
    const SweepOptions& options;
    const std::vector<ProblemTrials>& plans;  // of options.problems
    Recorder& recorder;
    Experience& experience;
    WorkQueue& queue;
    Deadline end;  // of the budget, if there is one
};

class DeviceWorker {
public:
    /// `index`: of the device in the queue.
    DeviceWorker(const DeviceWorkerContext& context, std::size_t index, DeviceInfo device, const std::vector<WorkerCommand>& workers);

    /// Takes problems until none is left. A device that is lost gives back what it has not finished, unless it is the
    /// last one. Throws Interrupted, DeviceLost (of the last one), SystemError.
    void run();

private:
    /// A problem of a budget, run again and again.
    struct Owned {
        std::size_t problem;
        std::unique_ptr<ProblemRun> run;
    };

    ProblemRun begin(std::size_t problem);
    void run_whole();
    void repeat();
    void spend_budget();
    void run_slice(std::size_t i, double seconds);
    void note(std::size_t problem);
    ProblemRun::Next compile_ahead_for(std::optional<std::size_t> problem);
    WorkGroup unfinished();

    const DeviceWorkerContext& context_;
    std::size_t index_;
    DeviceInfo device_;
    WorkerSessions sessions_;
    WorkGroup group_;                   // taken whole, and what is left of it
    std::vector<std::size_t> done_;     // problems that further processes measure again
    std::vector<Owned> owned_;          // with a budget
    std::vector<ProblemState> states_;  // of owned_
};

}  // namespace normtune
