// The workers of a device: one, or of `ab` with Python providers on both sides one a side, as what they import cannot share a process.
#pragma once

#include <string>
#include <vector>

#include "run/worker/worker_session.h"

namespace normtune {

class WorkerSessions {
public:
    /// `commands`: at least one. The first one's worker has all candidates but those of the sides that the others name.
    WorkerSessions(const std::vector<WorkerCommand>& commands, SessionLimits limits) {
        for (const WorkerCommand& command : commands) {
            workers_.push_back({command.side, WorkerSession(command, limits)});
        }
    }

    /// The one that measures the copy and the empty launch.
    WorkerSession& first() { return workers_.front().session; }
    WorkerSession& of(const Candidate& candidate) {
        for (std::size_t i = 1; i < workers_.size(); ++i) {
            if (is_of_side(candidate.provider(), workers_[i].side)) {
                return workers_[i].session;
            }
        }
        return first();
    }
    void set_problem(const OpenRequest& problem) {
        for (Worker& worker : workers_) {
            worker.session.set_problem(problem);
        }
    }
    /// Ends all; the next request to one starts another.
    void retire() {
        for (Worker& worker : workers_) {
            worker.session.retire();
        }
    }

private:
    /// "after", or "after.liger" where a side has several providers.
    static bool is_of_side(std::string_view provider, std::string_view side) {
        return provider.starts_with(side) && (provider.size() == side.size() || provider[side.size()] == '.');
    }

    struct Worker {
        std::string side;
        WorkerSession session;
    };
    std::vector<Worker> workers_;
};

}  // namespace normtune
