// Where a gate's verdict goes: files for CI servers, and what GitHub shows.
#pragma once

#include <span>
#include <string>

#include "cli/option_set.h"
#include "judge/gate.h"

namespace normtune::cli {

class GateOutput {
public:
    void declare(OptionSet& options);
    /// Before anything is measured: of the files none is another one, or one of what is read. Throws InputError.
    void require_apart(std::span<const std::string> inputs) const;
    /// The files that were asked for, and the step summary. Throws SystemError.
    void write(const GateVerdict& verdict) const;
    /// After the report for people: annotations, where GitHub is to show them.
    void annotate(const GateVerdict& verdict) const;

private:
    std::string junit_;
    std::string markdown_;
    bool github_ = false;
};

/// By what a gate's verdict says.
ExitCode exit_code_of(const GateVerdict& verdict);

}  // namespace normtune::cli
