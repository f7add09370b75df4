// The worker as a process: started, talked to, ended, and how it ended.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "run/worker/channel.h"
#include "trial/record.h"

namespace normtune {

struct WorkerCommand {
    std::vector<std::string> program;  // what comes before the worker's own words: this executable, or what loads it as a library
    Backend backend = Backend::cpu;
    int ordinal = 0;
    std::string replay_script;
    int cores = 0;       // that the worker may keep busy at most; 0: all
    std::string log;     // takes the worker's stdout and stderr; appended to
    std::string side{};  // of `ab`, of which it has the Python provider's candidates
};

/// How a worker died by itself, in words that a record can carry.
struct WorkerDeath {
    Outcome outcome = Outcome::crashed;  // crashed, or out_of_memory where the kernel's OOM killer took it
    std::string reason;                  // "the worker was killed by SIGSEGV (Segmentation fault); it said: …"
};

/// One worker process. It dies with this object, and with this process, however that ends.
class WorkerProcess {
public:
    /// Throws SystemError (no socket, no process, log not writable). A failing exec shows as an early death.
    explicit WorkerProcess(const WorkerCommand& command);
    ~WorkerProcess();
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    Channel& channel() { return channel_; }
    /// Ends it with SIGKILL, and whatever it started.
    void kill();
    /// For a worker whose channel closed: waits for its end (briefly, then kills) and tells it.
    WorkerDeath death();

private:
    std::string last_words() const;

    Channel channel_;
    pid_t pid_ = -1;
    std::string log_;
    off_t log_start_ = 0;
    long oom_kills_before_ = 0;
};

}  // namespace normtune
