#include "cli/commands.h"
#include "cli/output.h"
#include "cli/table_options.h"
#include "devices/registry.h"
#include "report/device_report.h"

namespace normtune::cli {
namespace {

class DevicesCommand : public Command {
public:
    void declare(OptionSet& options) override {
        table_.declare(options);
        options.example("normtune devices");
        options.example("normtune devices --format csv");
    }

    ExitCode run(const std::vector<std::string>&) override {
        const std::vector<DeviceReport> reports = find_devices();
        if (table_.is("table") && !table_.orders()) {
            print(device_text(reports, table_.style()));
        } else {
            table_.show({device_section(reports)});
        }
        return ExitCode::good;
    }

private:
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_devices_command() {
    return std::make_unique<DevicesCommand>();
}

}  // namespace normtune::cli
