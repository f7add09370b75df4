#include "cli/commands.h"
#include "cli/output.h"
#include "devices/registry.h"
#include "report/device_report.h"

namespace normtune::cli {
namespace {

class DevicesCommand : public Command {
public:
    void declare(OptionSet& options) override { options.example("normtune devices"); }

    ExitCode run(const std::vector<std::string>&) override {
        print(device_text(find_devices(), style_of(stdout)));
        return ExitCode::good;
    }
};

}  // namespace

std::unique_ptr<Command> make_devices_command() {
    return std::make_unique<DevicesCommand>();
}

}  // namespace normtune::cli
