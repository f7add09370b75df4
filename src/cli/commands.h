// One function a command; each lives in its own file.
#pragma once

#include <memory>

#include "cli/command.h"

namespace normtune::cli {

std::unique_ptr<Command> make_sweep_command();
std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_verify_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_best_command();
std::unique_ptr<Command> make_merge_command();
std::unique_ptr<Command> make_audit_command();
std::unique_ptr<Command> make_fit_command();
std::unique_ptr<Command> make_emit_command();
std::unique_ptr<Command> make_compare_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_gate_command();
std::unique_ptr<Command> make_ab_command();
std::unique_ptr<Command> make_history_command();
std::unique_ptr<Command> make_selfcheck_command();
std::unique_ptr<Command> make_devices_command();
std::unique_ptr<Command> make_shapes_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_man_command();

}  // namespace normtune::cli
