#include "devices/compile/compile_pool.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/cores.h"
#include "support/parallel.h"

namespace normtune {

namespace {

// Results that are kept after they were given out: verification's smaller shapes often share their problem's code.
constexpr std::size_t most_taken = 256;

std::string key_of(const std::vector<std::string>& options, const SourceText& source) {
    return fmt::format("{}\n{}", fmt::join(options, "\n"), source.hash());
}

}  // namespace

CompilePool::CompilePool(std::string name, std::string arch, int threads, Compile compile)
    : most_threads_(static_cast<std::size_t>(threads > 0 ? threads : usable_cores())),
      arch_(std::move(arch)),
      compiler_(std::move(name)),
      compile_(std::move(compile)) {}

void CompilePool::start_threads() {
    while (threads_.size() < most_threads_ && start_thread(threads_, [this] { work(); })) {  // whoever waits compiles, too
    }
}

CompilePool::~CompilePool() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    threads_.clear();
}

std::shared_ptr<CompilePool::Entry> CompilePool::entry(const std::string& key, const std::vector<std::string>& options,
                                                       const SourceText& source) {
    std::shared_ptr<Entry>& slot = entries_[key];
    if (slot == nullptr) {
        slot = std::make_shared<Entry>();
        slot->job = {compiler_, arch_, options, source};
    }
    return slot;
}

void CompilePool::ahead(const std::vector<std::string>& options, const SourceText& source) {
    const std::string key = key_of(options, source);
    {
        const std::lock_guard lock(mutex_);
        start_threads();
        std::shared_ptr<Entry> wanted = entry(key, options, source);
        if (wanted->started || wanted->queued) {
            return;
        }
        wanted->queued = true;
        queue_.push_back(std::move(wanted));
    }
    changed_.notify_all();
}

std::shared_ptr<const CompilePool::Result> CompilePool::get(const std::vector<std::string>& options, const SourceText& source) {
    const std::string key = key_of(options, source);
    std::unique_lock lock(mutex_);
    const std::shared_ptr<Entry> wanted = entry(key, options, source);
    if (!wanted->started) {
        compile_entry(*wanted, lock);
    }
    changed_.wait(lock, [&] { return wanted->done; });
    if (!wanted->taken) {
        wanted->taken = true;
        taken_.push_back(key);
        if (taken_.size() > most_taken) {
            entries_.erase(taken_.front());
            taken_.pop_front();
        }
    }
    if (wanted->failure) {
        std::rethrow_exception(wanted->failure);
    }
    return wanted->result;
}

void CompilePool::compile_entry(Entry& job, std::unique_lock<std::mutex>& lock) {
    job.started = true;
    lock.unlock();
    Result result;
    std::exception_ptr failure;
    try {
        if (std::optional<CompiledCode> cached = cache_.find(job.job)) {
            result = {std::move(*cached), true, {}};
        } else {
            result = {compile_(job.job), false, {}};
            cache_.store(job.job, result.code);
        }
        result.code_hash = code_hash(result.code);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    job.result = std::make_shared<const Result>(std::move(result));
    job.failure = failure;
    job.done = true;
    changed_.notify_all();
}

void CompilePool::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (stopping_) {
            return;
        }
        const std::shared_ptr<Entry> next = queue_.front();
        queue_.pop_front();
        if (!next->started) {
            compile_entry(*next, lock);
        }
    }
}

}  // namespace normtune
