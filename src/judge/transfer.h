// What the winners of one device lose on another, where both were measured. Pure. docs/audit.md, "Another device".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/loss_group.h"

namespace normtune {

/// The winner of a problem on one device, on another.
struct TransferredWinner {
    const ProblemRanking* from = nullptr;  // where it won
    const ProblemRanking* to = nullptr;    // the same problem on the other device
    const Standing* there = nullptr;       // null: it was not measured there
    std::string why_not;                   // then: "pruned", "crashed", …; "not run"
    bool again = false;                    // it loses more than the tolerance, or was not measured: the problem needs measuring of its own
};

struct Transfer {
    std::string from_name;  // what tells the two apart: their devices' names, or files of one device
    std::string to_name;
    DeviceInfo from;
    DeviceInfo to;
    double tolerance = 0;
    std::vector<TransferredWinner> problems;  // those that both have, what loses most first
    std::vector<LossGroup> groups;            // by op and mode, then all where there are several
    std::size_t again = 0;
    LossSummary<ProblemRanking> after;  // once those are measured again: they lose nothing
    std::size_t only_from = 0;          // problems that one of both has alone
    std::size_t only_to = 0;
};

/// Rankings of one device each; of a problem in several runs the one that started last holds. They have to outlive it. Throws InputError:
/// no problem in common, or one was measured cold and the other on data in cache.
Transfer transfer(std::span<const ProblemRanking> from, std::span<const ProblemRanking> to, double tolerance);

}  // namespace normtune
