#include "kernels/gpu/emulation/machine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

// The stack of the thread that runs, for the kernels' own test of what lies in it.
extern "C" {
char* emulation_stack = nullptr;
unsigned long emulation_stack_bytes = 0;
}

namespace normtune::emulation {
namespace {

Machine* the_machine = nullptr;

bool same(Site a, Site b) {
    return a.line == b.line && std::strcmp(a.file, b.file) == 0;
}

/// Where `at` lies from `base` on, or nothing.
std::size_t offset_from(const void* base, const void* at) {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(base));
}

}  // namespace

std::string text(Site site) {
    return site.line == 0 ? "the kernel's start" : fmt::format("{}:{}", site.file, site.line);
}

Machine::Machine(std::vector<Span> spans) : spans_(std::move(spans)) {
    for (const Span& span : spans_) {
        shadows_.emplace_back(static_cast<std::size_t>((span.rows - 1) * span.pitch_bytes + span.row_bytes), true);
    }
}

Machine& Machine::running() {
    return *the_machine;
}

std::string Machine::launch(const LaunchRequest& request) {
    request_ = request;
    the_machine = this;
    failure_.clear();
    if (request.cooperative && request.static_shared_bytes > 0) {
        return "static shared memory of programs that live at the same time is not emulated";
    }
    if (request.grid_x % request.cluster != 0) {
        return "the grid is no multiple of its cluster";
    }
    if (request.cluster > 1) {
        request_.static_shared_bytes = 0;  // of programs that live at the same time it is not emulated: none may use it
    }
    order_.begin_launch(request.grid_x * request.grid_y, request.threads, request.warp_size, request.overlaps);
    for (int y = 0; y < request.grid_y && failure_.empty(); ++y) {
        for (int x = 0; x < request.grid_x && failure_.empty(); ++x) {
            begin_program(x, y);
            if (!request.cooperative && (x + 1) % request.cluster == 0) {
                run_programs();
            }
        }
    }
    if (request.cooperative) {
        run_programs();
    }
    emulation_stack_bytes = 0;
    the_machine = nullptr;
    return failure_;
}

void Machine::begin_program(int x, int y) {
    auto program = std::make_unique<Program>();
    program->x = x;
    program->y = y;
    program->index = y * request_.grid_x + x;
    program->cluster = x % request_.cluster == 0 ? std::make_shared<Cluster>() : programs_.back()->cluster;
    program->cluster->programs.push_back(program.get());
    program->groups.resize(most_named_barriers);
    program->warps.resize(static_cast<std::size_t>((request_.threads - 1) / request_.warp_size + 1));
    const auto shared_bytes = static_cast<std::size_t>(request_.shared_bytes);
    program->shared_memory = std::make_unique_for_overwrite<std::byte[]>(shared_bytes + 16);
    const auto at = reinterpret_cast<std::uintptr_t>(program->shared_memory.get());
    program->shared = program->shared_memory.get() + ((at + 15) / 16 * 16 - at);
    std::memset(program->shared, 0xff, shared_bytes);  // NaN, whatever reads it
    program->shadow = std::make_unique<Shadow>(shared_bytes, false);
    if (request_.static_shared_bytes > 0) {
        const auto static_bytes = static_cast<std::size_t>(request_.static_shared_bytes);
        std::memset(request_.static_shared, 0xff, static_bytes);
        static_shadow_ = std::make_unique<Shadow>(static_bytes, false);
    }
    for (int i = 0; i < request_.threads; ++i) {
        if (threads_in_use_ == threads_.size()) {
            threads_.push_back(std::make_unique<Thread>());
        }
        Thread& thread = *threads_[threads_in_use_++];
        thread.program = program.get();
        thread.index = i;
        thread.number = static_cast<std::uint32_t>(program->index * request_.threads + i + 1);
        thread.waits_at = nullptr;
        thread.site = {};
        thread.spins = thread.ended = thread.arrived = false;
        thread.cluster_barriers = 0;
        thread.copies.assign(1, {});
        thread.bulk_stores.assign(1, {});
        thread.fibre.start(enter);
        program->threads.push_back(&thread);
        ready_.push_back(&thread);
    }
    programs_.push_back(std::move(program));
}

void Machine::enter() {
    Machine& machine = running();
    machine.request_.kernel(machine.request_.arguments);
    if (const auto& stores = machine.current_->bulk_stores;
        std::any_of(stores.begin(), stores.end(), [](const auto& g) { return !g.empty(); })) {
        machine.fail("ends while bulk copies may still read its shared memory");
    }
    machine.current_->ended = true;
    ++machine.progress_;
    machine.current_->fibre.switch_to(machine.scheduler_);
}

void Machine::run_thread(Thread& thread) {
    current_ = &thread;
    emulation_stack = thread.fibre.stack();
    emulation_stack_bytes = Fibre::stack_bytes;
    scheduler_.switch_to(thread.fibre);
}

/// Until all threads have ended, in turn, or none can go on.
void Machine::run_programs() {
    std::uint64_t seen = progress_;
    for (std::size_t idle = 0; (!ready_.empty() || !late_.empty()) && failure_.empty();) {
        if (!late_.empty() && (ready_.empty() || idle > 2 * ready_.size())) {
            ready_.insert(ready_.begin(), late_.begin(), late_.end());
            late_.clear();
            idle = 0;
        }
        Thread& thread = *ready_.front();
        ready_.pop_front();
        thread.spins = false;
        run_thread(thread);
        if (thread.spins) {
            ready_.push_back(&thread);
        }
        idle = seen == progress_ ? idle + 1 : 0;
        seen = progress_;
        if (idle > 2 * ready_.size() + 2) {
            failure_ = stuck();
        }
    }
    const auto in_use = threads_.begin() + static_cast<std::ptrdiff_t>(threads_in_use_);
    if (failure_.empty() && std::any_of(threads_.begin(), in_use, [](const auto& thread) { return !thread->ended; })) {
        failure_ = stuck();
    }
    for (const auto& program : programs_) {
        for (const auto& [offset, barrier] : program->bulk_barriers) {
            if (failure_.empty() && !barrier.copies.empty()) {
                failure_ = fmt::format("program {} ends while bytes are on their way to it", program->index);
            }
        }
    }
    ready_.clear();
    late_.clear();
    programs_.clear();
    threads_in_use_ = 0;
}

std::string Machine::who(const Thread& thread) const {
    const std::string program =
        request_.grid_y > 1 ? fmt::format("({}, {})", thread.program->x, thread.program->y) : fmt::format("{}", thread.program->x);
    return fmt::format("thread {} of program {}", thread.index, program);
}

void Machine::fail(const std::string& what) {
    failure_ = fmt::format("{} {} (after {})", who(*current_), what, text(current_->site));
    current_->fibre.switch_to(scheduler_);
    std::terminate();  // nobody goes on with a thread that has failed
}

/// "program 0 cannot go on: 63 threads at the barrier of layout.gpu.h:142 (thread 0, …), 1 thread ended (thread 63)".
std::string Machine::stuck() const {
    const auto in_use = threads_.begin() + static_cast<std::ptrdiff_t>(threads_in_use_);
    const auto blocked = std::find_if(threads_.begin(), in_use, [](const auto& thread) { return !thread->ended; });
    const Program& program = *(*blocked)->program;
    std::vector<std::pair<std::string, std::vector<int>>> states;  // in order of their first threads
    for (const Thread* thread : program.threads) {
        std::string state = "ended";
        if (!thread->ended) {
            const std::string what = thread->waits_at != nullptr ? fmt::format("at the {} of", thread->waits_at) : "spinning at";
            state = fmt::format("{} {}", what, text(thread->site));
        }
        auto known = std::find_if(states.begin(), states.end(), [&](const auto& s) { return s.first == state; });
        known = known == states.end() ? states.insert(known, {state, {}}) : known;
        known->second.push_back(thread->index);
    }
    std::vector<std::string> texts;
    for (const auto& [state, members] : states) {
        const bool one = members.size() == 1;
        texts.push_back(
            fmt::format("{} {} {} (thread {}{})", members.size(), one ? "thread" : "threads", state, members.front(), one ? "" : ", …"));
    }
    return fmt::format("program {} cannot go on: {}", program.index, fmt::join(texts, ", "));
}

/// True for the last to come: the others go on once it calls leave().
bool Machine::meet(Meeting& meeting, int expected, int detail, const char* kind, Site site) {
    if (!meeting.waiting.empty()) {
        const Thread& first = *meeting.waiting.front();
        if (!same(first.site, site)) {
            fail(fmt::format("comes to the {} of {} while thread {} waits at that of {}", kind, text(site), first.index, text(first.site)));
        }
        if (meeting.detail != detail) {
            fail(
                fmt::format("comes to the {} of {} with {} where thread {} has {}", kind, text(site), detail, first.index, meeting.detail));
        }
    }
    meeting.detail = detail;
    meeting.waiting.push_back(current_);
    current_->site = site;
    ++progress_;
    if (static_cast<int>(meeting.waiting.size()) == expected) {
        return true;
    }
    current_->waits_at = kind;
    current_->fibre.switch_to(scheduler_);
    return false;
}

void Machine::leave(Meeting& meeting) {
    for (Thread* thread : meeting.waiting) {
        thread->waits_at = nullptr;
        if (thread != current_) {
            ready_.push_back(thread);
        }
    }
    meeting.waiting.clear();
}

void Machine::program_barrier(Site site) {
    Program& program = *current_->program;
    if (meet(program.all, request_.threads, 0, "barrier", site)) {
        order_.pass_program_barrier(program.index);
        leave(program.all);
    }
}

void Machine::group_barrier(int group, int threads, Site site) {
    if (group < 0 || group + 1 >= most_named_barriers || threads % request_.warp_size != 0 || current_->index / threads != group) {
        fail(fmt::format("comes to the barrier of group {} with {} threads, which is none of its own", group, threads));
    }
    Program& program = *current_->program;
    Meeting& meeting = program.groups[static_cast<std::size_t>(group)];
    if (meet(meeting, threads, threads, "group barrier", site)) {
        std::vector<std::uint32_t> members;
        for (const Thread* thread : meeting.waiting) {
            members.push_back(thread->number);
        }
        order_.pass_group_barrier(program.index, group, members);
        leave(meeting);
    }
}

void Machine::warp_barrier(Site site) {
    Program& program = *current_->program;
    Meeting& meeting = program.warps[static_cast<std::size_t>(current_->index / request_.warp_size)];
    if (meet(meeting, request_.warp_size, 0, "warp's barrier", site)) {
        order_.pass_warp_barrier(current_->number);
        leave(meeting);
    }
}

float Machine::shuffle_xor(float value, int mask, Site site) {
    const int lane = current_->index % request_.warp_size;
    return shuffle(value, lane ^ mask, mask, site);
}

float Machine::shuffle_from(float value, int from, int lanes, Site site) {
    const int lane = current_->index % request_.warp_size;
    return shuffle(value, lane / lanes * lanes + from, from, site);
}

float Machine::shuffle(float value, int from, int detail, Site site) {
    if (from >= request_.warp_size) {
        fail(fmt::format("shuffles with lane {}, beyond its warp, at {}", from, text(site)));
    }
    current_->value = value;
    current_->from = from;
    Meeting& meeting = current_->program->warps[static_cast<std::size_t>(current_->index / request_.warp_size)];
    if (meet(meeting, request_.warp_size, detail, "shuffle", site)) {
        std::vector<float> values(static_cast<std::size_t>(request_.warp_size));
        for (const Thread* thread : meeting.waiting) {
            values[static_cast<std::size_t>(thread->index % request_.warp_size)] = thread->value;
        }
        for (Thread* thread : meeting.waiting) {
            thread->value = values[static_cast<std::size_t>(thread->from)];
        }
        leave(meeting);
    }
    return current_->value;
}

void Machine::access_shared(Shadow& shadow, std::size_t offset, std::size_t bytes, AccessKind kind, const char* memory) {
    if (const std::string wrong = shadow.access(offset, bytes, kind, current_->number, order_); !wrong.empty()) {
        fail(fmt::format("{}, at byte {} of {}", wrong, offset, memory));
    }
}

std::size_t Machine::offset_in_shared(const void* at, std::size_t bytes) {
    const std::size_t offset = offset_from(current_->program->shared, at);
    const auto size = static_cast<std::size_t>(request_.shared_bytes);
    if (offset >= size || offset + bytes > size) {
        fail(fmt::format("writes {} bytes outside of a program's shared memory", bytes));
    }
    return offset;
}

void Machine::access_span(std::size_t index, std::size_t offset, std::size_t bytes, AccessKind kind, std::uint32_t copy) {
    const Span& span = spans_[index];
    const auto pitch = static_cast<std::size_t>(span.pitch_bytes);
    const auto place = [&] { return fmt::format("{}, row {}, byte {}", span.name, offset / pitch, offset % pitch); };
    if (offset % pitch + bytes > static_cast<std::size_t>(span.row_bytes)) {
        fail(fmt::format("accesses {} bytes beyond the row's end, at {}", bytes, place()));
    }
    if (kind != AccessKind::read && !span.writable) {
        fail(fmt::format("writes to an input, at {}", place()));
    }
    if (const std::string wrong = shadows_[index].access(offset, bytes, kind, current_->number, order_, copy); !wrong.empty()) {
        fail(fmt::format("{}, at {}", wrong, place()));
    }
}

void Machine::access(const void* at, std::size_t bytes, AccessKind kind, std::uint32_t copy) {
    const auto within = [&](const void* base, std::int64_t size) {
        const std::size_t offset = offset_from(base, at);
        return offset < static_cast<std::size_t>(size) && offset + bytes <= static_cast<std::size_t>(size);
    };
    const Program& program = *current_->program;
    if (within(current_->fibre.stack(), Fibre::stack_bytes)) {
        return;
    }
    if (within(program.shared, request_.shared_bytes)) {
        access_shared(*program.shadow, offset_from(program.shared, at), bytes, kind, "shared memory");
        return;
    }
    if (within(request_.static_shared, request_.static_shared_bytes)) {
        access_shared(*static_shadow_, offset_from(request_.static_shared, at), bytes, kind, "static shared memory");
        return;
    }
    for (std::size_t i = 0; i < spans_.size(); ++i) {
        if (within(spans_[i].base, (spans_[i].rows - 1) * spans_[i].pitch_bytes + spans_[i].row_bytes)) {
            access_span(i, offset_from(spans_[i].base, at), bytes, kind, copy);
            return;
        }
    }
    fail(fmt::format("{} {} bytes outside of its memory", kind == AccessKind::read ? "reads" : "writes", bytes));
}

void Machine::vector_access(const void* at, std::size_t bytes, AccessKind kind) {
    if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) {
        fail(fmt::format("accesses {} bytes that do not lie at a multiple of as many", bytes));
    }
    access(at, bytes, kind);
}

void Machine::copy_async(void* to, const void* from, std::size_t bytes) {
    vector_access(to, bytes, AccessKind::async_write);
    PendingCopy copy{static_cast<std::byte*>(to), {}, bytes};
    if (from != nullptr) {
        vector_access(from, bytes, AccessKind::read);
        std::memcpy(copy.data, from, bytes);
    }
    current_->copies.back().push_back(copy);
}

void Machine::wait_async(std::size_t pending) {
    auto& groups = current_->copies;
    while (groups.size() > pending + 1) {
        for (const PendingCopy& copy : groups.front()) {
            std::memcpy(copy.to, copy.data, copy.bytes);
            current_->program->shadow->land(offset_from(current_->program->shared, copy.to), copy.bytes, order_.now(current_->number));
        }
        groups.erase(groups.begin());
    }
}

void Machine::release(const void* word) {
    order_.release(current_->number, word);
    ++progress_;
}

void Machine::come_late() {
    if (current_->program->index % 2 == 1) {
        late_.push_back(current_);
        current_->fibre.switch_to(scheduler_);
    }
}

void Machine::spin(Site site) {
    current_->site = site;
    current_->spins = true;
    current_->fibre.switch_to(scheduler_);
}

}  // namespace normtune::emulation
