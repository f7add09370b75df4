// Bulk copies between global and shared memory, and the barriers that count their bytes.
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/gpu/emulation/machine.h"

namespace normtune::emulation {
namespace {

constexpr std::size_t barrier_bytes = 8;
constexpr std::size_t unit = 16;  // of sizes and addresses

}  // namespace

void Machine::begin_bulk_barrier(void* barrier) {
    Program& program = *current_->program;
    const std::size_t offset = offset_in_shared(barrier, barrier_bytes);
    vector_access(barrier, barrier_bytes, AccessKind::write);
    const auto [known, added] = program.bulk_barriers.try_emplace(offset);
    if (!added) {
        fail("begins a barrier of bulk copies again");
    }
    known->second.program = &program;
    known->second.number = order_.new_bulk_barrier();
    known->second.begun = order_.now(current_->number);
}

Machine::BulkBarrier& Machine::bulk_barrier(void* at, AccessKind kind) {
    const auto known = current_->program->bulk_barriers.find(offset_in_shared(at, barrier_bytes));
    const bool begun = known != current_->program->bulk_barriers.end();
    if (!begun || !known->second.is_shared_with(*current_)) {
        vector_access(at, barrier_bytes, kind);
    }
    if (!begun) {
        fail("uses a barrier of bulk copies that nobody has begun");
    }
    return known->second;
}

void Machine::expect_bulk(void* barrier, std::size_t bytes) {
    BulkBarrier& known = bulk_barrier(barrier, AccessKind::atomic);
    if (known.told) {
        fail("tells the bytes of a phase twice");
    }
    known.told = true;
    known.expected = bytes;
    try_to_end_phase(known);
}

void Machine::wait_bulk(void* barrier, unsigned parity, Site site) {
    current_->site = site;
    BulkBarrier& known = bulk_barrier(barrier, AccessKind::atomic);
    if ((known.phase & 1U) == parity) {
        known.waiting.push_back(current_);
        current_->waits_at = "bulk barrier";
        ++progress_;
        try_to_end_phase(known);
        if (current_->waits_at != nullptr) {
            current_->fibre.switch_to(scheduler_);
        }
    }
    order_.await_bulk(current_->number, known.number);
}

void Machine::try_to_end_phase(BulkBarrier& barrier) {
    if (barrier.waiting.empty() || !barrier.told || barrier.expected != barrier.copied) {
        return;
    }
    const Program& program = *barrier.program;
    const Stamp now = order_.end_bulk_phase(barrier.number);
    for (const BulkBytes& copy : barrier.copies) {
        std::memcpy(program.shared + copy.offset, copy.data.data(), copy.data.size());
        program.shadow->land(copy.offset, copy.data.size(), now);
    }
    barrier.copies.clear();
    barrier.told = false;
    barrier.expected = barrier.copied = 0;
    ++barrier.phase;
    ++progress_;
    for (Thread* thread : std::exchange(barrier.waiting, {})) {
        thread->waits_at = nullptr;
        if (thread != current_) {
            ready_.push_back(thread);
        }
    }
}

/// Both ends of a copy: whole units at multiples of one, every one of them accessed.
void Machine::check_bulk(const void* memory, const void* shared, std::size_t bytes, AccessKind kind, std::uint32_t copy) {
    const auto lies_at_unit = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % unit == 0; };
    if (bytes == 0 || bytes % unit != 0 || !lies_at_unit(memory) || !lies_at_unit(shared)) {
        fail(fmt::format("copies {} bytes in bulk: they and both addresses must be multiples of {}", bytes, unit));
    }
    for (std::size_t at = 0; at < bytes; at += unit) {
        access(static_cast<const std::byte*>(memory) + at, unit, kind == AccessKind::bulk_write ? AccessKind::read : AccessKind::write,
               copy);
    }
    access_shared(*current_->program->shadow, offset_in_shared(shared, bytes), bytes, kind, "shared memory");
}

void Machine::load_bulk(void* to, const void* from, std::size_t bytes, void* barrier) {
    BulkBarrier& known = bulk_barrier(barrier, AccessKind::atomic);
    if (!order_.seen_by_bulk(known.begun)) {
        fail("copies in bulk with a barrier that was begun without a fence for bulk copies");
    }
    check_bulk(from, to, bytes, AccessKind::bulk_write, known.number);
    const auto* data = static_cast<const std::byte*>(from);
    known.copies.push_back({offset_in_shared(to, bytes), {data, data + bytes}});
    known.copied += bytes;
    try_to_end_phase(known);
}

void Machine::store_bulk(void* to, const void* from, std::size_t bytes) {
    check_bulk(to, from, bytes, AccessKind::bulk_read, 0);
    std::memcpy(to, from, bytes);
    current_->bulk_stores.back().push_back({offset_in_shared(from, bytes), std::vector<std::byte>(bytes)});
}

void Machine::wait_bulk_read(std::size_t pending) {
    auto& groups = current_->bulk_stores;
    while (groups.size() > pending + 1) {
        for (const BulkBytes& store : groups.front()) {
            current_->program->shadow->leave(store.offset, store.data.size(), order_.now(current_->number), order_);
        }
        groups.erase(groups.begin());
    }
}

}  // namespace normtune::emulation
