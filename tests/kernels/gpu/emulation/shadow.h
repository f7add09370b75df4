// Who last wrote and read each piece of a memory, and what is wrong with the next access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/gpu/emulation/order.h"

namespace normtune::emulation {

// bulk_read, bulk_write: by a bulk copy, which sees of shared memory what has been fenced for it.
enum class AccessKind { read, write, atomic, async_write, bulk_read, bulk_write };

/// Pieces of two bytes, the smallest element. Of a piece are kept its last write (of atomic ones the last by another
/// program, too) and its last two reads by different threads.
class Shadow {
public:
    /// `starts_written`: memory that has its values from before the launch.
    Shadow(std::size_t bytes, bool starts_written);

    /// Records the access. Empty, or what is wrong: "reads 4 bytes that thread 7 of program 0 wrote, …". `offset` and
    /// `bytes` lie within the memory.
    /// `copy`: not the thread itself accesses it, but a bulk copy that this barrier counts.
    std::string access(std::size_t offset, std::size_t bytes, AccessKind kind, std::uint32_t thread, const Order& order,
                       std::uint32_t copy = 0);
    /// An asynchronous write has been waited for, or a bulk copy's phase has ended: it counts as written by then.
    void land(std::size_t offset, std::size_t bytes, Stamp stamp);
    /// A bulk copy has read what lay there.
    void leave(std::size_t offset, std::size_t bytes, Stamp stamp, const Order& order);

private:
    struct Piece {
        Stamp write;
        Stamp other_atomic;  // the last before it by another program, where both are atomic
        Stamp reads[2];
        bool atomic = false;   // the last write was
        bool pending = false;  // … asynchronous, and nobody has waited for it yet
        bool leaving = false;  // a bulk copy may still read it
    };
    /// What of the piece's past the access is not ordered with, or null.
    static const Stamp* conflict(const Piece& piece, AccessKind kind, std::uint32_t thread, const Order& order);
    static std::string describe(const Piece& piece, AccessKind kind, const Stamp& other, const Order& order);
    static void record(Piece& piece, AccessKind kind, Stamp now, const Order& order);

    bool starts_written_;
    std::vector<Piece> pieces_;
};

}  // namespace normtune::emulation
