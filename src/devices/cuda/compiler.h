// Compiles kernels for one architecture on all cores, ahead of the device, with the cache on disk before it.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "store/compile_cache.h"

namespace normtune::cuda {

class Compiler {
public:
    /// `threads` 0: one a core.
    Compiler(std::string arch, int threads);
    ~Compiler();
    Compiler(const Compiler&) = delete;
    Compiler& operator=(const Compiler&) = delete;

    struct Result {
        CompiledCode code;
        bool from_cache = false;
    };

    /// Queues a job; of equal jobs one is compiled.
    void ahead(const std::vector<std::string>& options, const std::string& source);
    /// The job's result, compiled now if it was not queued before. Throws DeviceError.
    const Result& get(const std::vector<std::string>& options, const std::string& source);

private:
    struct Entry {
        CompileJob job;
        Result result;
        std::exception_ptr failure;
        bool started = false;
        bool done = false;
    };
    Entry& entry(const std::vector<std::string>& options, const std::string& source);
    void compile(Entry& entry, std::unique_lock<std::mutex>& lock);
    void work();

    std::string arch_;
    std::string compiler_;
    CompileCache cache_{""};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::unique_ptr<Entry>> entries_;  // by options and source
    std::deque<Entry*> queue_;
    std::vector<std::thread> threads_;
    bool stopping_ = false;
};

}  // namespace normtune::cuda
