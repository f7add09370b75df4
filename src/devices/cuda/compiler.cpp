#include "devices/cuda/compiler.h"

#include <algorithm>

#include <fmt/format.h>

#include "devices/cuda/nvrtc.h"

namespace normtune::cuda {

Compiler::Compiler(std::string arch, int threads) : arch_(std::move(arch)) {
    std::string why_not;
    compiler_ = fmt::format("NVRTC {}", nvrtc_version(why_not));
    const int count = threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    for (int i = 0; i < count; ++i) {
        threads_.emplace_back([this] { work(); });
    }
}

Compiler::~Compiler() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

Compiler::Entry& Compiler::entry(const std::vector<std::string>& options, const std::string& source) {
    std::string key = fmt::format("{}\n", fmt::join(options, "\n"));
    key += content_hash(source.data(), source.size());
    std::unique_ptr<Entry>& slot = entries_[key];
    if (slot == nullptr) {
        slot = std::make_unique<Entry>();
        slot->job = {compiler_, arch_, options, source};
    }
    return *slot;
}

void Compiler::ahead(const std::vector<std::string>& options, const std::string& source) {
    {
        const std::lock_guard lock(mutex_);
        Entry& wanted = entry(options, source);
        if (wanted.started) {
            return;
        }
        queue_.push_back(&wanted);
    }
    changed_.notify_one();
}

const Compiler::Result& Compiler::get(const std::vector<std::string>& options, const std::string& source) {
    std::unique_lock lock(mutex_);
    Entry& wanted = entry(options, source);
    if (!wanted.started) {
        compile(wanted, lock);
    }
    changed_.wait(lock, [&] { return wanted.done; });
    if (wanted.failure) {
        std::rethrow_exception(wanted.failure);
    }
    return wanted.result;
}

void Compiler::compile(Entry& job, std::unique_lock<std::mutex>& lock) {
    job.started = true;
    lock.unlock();
    Result result;
    std::exception_ptr failure;
    try {
        if (std::optional<CompiledCode> cached = cache_.find(job.job)) {
            result = {std::move(*cached), true};
        } else {
            result = {nvrtc_compile(job.job), false};
            cache_.store(job.job, result.code);
        }
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    job.result = std::move(result);
    job.failure = failure;
    job.done = true;
    changed_.notify_all();
}

void Compiler::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (stopping_) {
            return;
        }
        Entry* next = queue_.front();
        queue_.pop_front();
        if (!next->started) {
            compile(*next, lock);
        }
    }
}

}  // namespace normtune::cuda
