#include "kernels/gpu/emulation/shadow.h"

#include <fmt/format.h>

namespace normtune::emulation {
namespace {

constexpr std::size_t piece_bytes = 2;

const char* verb(AccessKind kind) {
    switch (kind) {
        case AccessKind::read:
            return "reads";
        case AccessKind::write:
            return "writes";
        case AccessKind::atomic:
            return "adds atomically to";
        case AccessKind::bulk_read:
            return "copies away";
        case AccessKind::async_write:
        case AccessKind::bulk_write:
            break;
    }
    return "copies asynchronously to";
}

}  // namespace

Shadow::Shadow(std::size_t bytes, bool starts_written)
    : starts_written_(starts_written), pieces_((bytes + piece_bytes - 1) / piece_bytes) {}

const Stamp* Shadow::conflict(const Piece& piece, AccessKind kind, std::uint32_t thread, const Order& order) {
    const bool bulk = kind == AccessKind::bulk_read || kind == AccessKind::bulk_write;
    const auto unordered = [&](const Stamp& stamp) {
        return stamp.thread != 0 && !order.before(stamp, thread, bulk, kind == AccessKind::write);
    };
    const bool both_atomic = piece.atomic && kind == AccessKind::atomic;
    const bool reads = kind == AccessKind::read || kind == AccessKind::bulk_read;
    if (piece.leaving && !reads) {
        return &piece.reads[0];
    }
    if (bulk && piece.write.thread != 0 && !order.seen_by_bulk(piece.write)) {
        return &piece.write;
    }
    if (piece.pending || (!both_atomic && unordered(piece.write))) {
        return &piece.write;
    }
    if (!both_atomic && unordered(piece.other_atomic)) {
        return &piece.other_atomic;
    }
    for (const Stamp& read : piece.reads) {
        if (!reads && unordered(read)) {
            return &read;
        }
    }
    return nullptr;
}

/// "thread 7 of program 0 wrote, with nothing that orders the two".
std::string Shadow::describe(const Piece& piece, AccessKind kind, const Stamp& other, const Order& order) {
    const std::string who = order.from_earlier_launch(other) ? "the launch ahead"
                            : by_bulk_copy(other)            ? "a bulk copy"
                                                             : fmt::format("thread {} of program {}", order.thread_in_program(other.thread),
                                                                           order.program_of(other.thread));
    const bool wrote = &other == &piece.write || &other == &piece.other_atomic;
    if (piece.leaving && !wrote) {
        return "a bulk copy of " + who + " may still read";
    }
    if (piece.pending) {
        return who + " copies to asynchronously, and has not waited for it";
    }
    const bool bulk = kind == AccessKind::bulk_read || kind == AccessKind::bulk_write;
    if (bulk && wrote && !order.seen_by_bulk(other)) {
        return who + " wrote, with no fence for bulk copies behind it";
    }
    return fmt::format("{} {}, with nothing that orders the two", who, wrote ? "wrote" : "read");
}

void Shadow::record(Piece& piece, AccessKind kind, Stamp now, const Order& order) {
    if (kind == AccessKind::read || kind == AccessKind::bulk_read) {
        piece.leaving = piece.leaving || kind == AccessKind::bulk_read;
        if (piece.reads[0].thread != now.thread) {
            piece.reads[1] = piece.reads[0];
        }
        piece.reads[0] = now;
        return;
    }
    Stamp other_atomic;
    if (kind == AccessKind::atomic && piece.atomic) {
        const bool another =
            !order.from_earlier_launch(piece.write) && order.program_of(piece.write.thread) != order.program_of(now.thread);
        other_atomic = another ? piece.write : piece.other_atomic;
    }
    const bool pending = kind == AccessKind::async_write || kind == AccessKind::bulk_write;
    piece = {now, other_atomic, {}, kind == AccessKind::atomic, pending, false};
}

std::string Shadow::access(std::size_t offset, std::size_t bytes, AccessKind kind, std::uint32_t thread, const Order& order,
                           std::uint32_t copy) {
    const Stamp now = order.now(copy != 0 ? copy : thread);
    for (std::size_t i = offset / piece_bytes; i * piece_bytes < offset + bytes; ++i) {
        Piece& piece = pieces_[i];
        if (const Stamp* other = conflict(piece, kind, thread, order)) {
            return fmt::format("{} {} bytes that {}", verb(kind), bytes, describe(piece, kind, *other, order));
        }
        if ((kind == AccessKind::read || kind == AccessKind::bulk_read) && !starts_written_ && piece.write.thread == 0) {
            return fmt::format("reads {} bytes that nobody has written", bytes);
        }
        record(piece, kind, now, order);
    }
    return {};
}

void Shadow::land(std::size_t offset, std::size_t bytes, Stamp stamp) {
    for (std::size_t i = offset / piece_bytes; i * piece_bytes < offset + bytes; ++i) {
        pieces_[i].pending = false;
        pieces_[i].write = stamp;
    }
}

void Shadow::leave(std::size_t offset, std::size_t bytes, Stamp stamp, const Order& order) {
    for (std::size_t i = offset / piece_bytes; i * piece_bytes < offset + bytes; ++i) {
        pieces_[i].leaving = false;
        record(pieces_[i], AccessKind::read, stamp, order);
    }
}

}  // namespace normtune::emulation
