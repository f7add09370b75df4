// Compiles kernels for one architecture on all cores, ahead of the device, with the cache on disk before it.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "devices/compile/compile_cache.h"

namespace normtune {

class CompilePool {
public:
    /// Compiles one job, on any thread. Throws DeviceError.
    using Compile = std::function<CompiledCode(const CompileJob&)>;

    /// `name`: the compiler and its version. `threads` 0: one a core. They start with the first job that is queued.
    CompilePool(std::string name, std::string arch, int threads, Compile compile);
    ~CompilePool();
    CompilePool(const CompilePool&) = delete;
    CompilePool& operator=(const CompilePool&) = delete;

    struct Result {
        CompiledCode code;
        bool from_cache = false;
        std::string code_hash;
    };

    /// Queues a job; of equal jobs one is compiled.
    void ahead(const std::vector<std::string>& options, const SourceText& source);
    /// The job's result, compiled now if it was not queued before. Throws DeviceError.
    std::shared_ptr<const Result> get(const std::vector<std::string>& options, const SourceText& source);
    /// "NVRTC 13.0".
    const std::string& name() const { return compiler_; }

private:
    struct Entry {
        CompileJob job;
        std::shared_ptr<const Result> result;
        std::exception_ptr failure;
        bool queued = false;
        bool started = false;
        bool done = false;
        bool taken = false;
    };
    std::shared_ptr<Entry> entry(const std::string& key, const std::vector<std::string>& options, const SourceText& source);
    void compile_entry(Entry& job, std::unique_lock<std::mutex>& lock);
    void work();
    void start_threads();

    std::size_t most_threads_;

    std::string arch_;
    std::string compiler_;
    Compile compile_;
    CompileCache cache_{""};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::shared_ptr<Entry>> entries_;  // by options and source: the queued and the latest
    std::deque<std::shared_ptr<Entry>> queue_;
    std::deque<std::string> taken_;  // keys of entries whose result was given out, oldest first
    std::vector<std::jthread> threads_;
    bool stopping_ = false;
};

}  // namespace normtune
