#include "cli/torch_folder.h"

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "devices/registry.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/content_hash.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/plural.h"
#include "support/version.h"

namespace normtune::cli {
namespace {

constexpr std::string_view module_folder = "normtune_kernels/";

std::vector<std::vector<std::byte>> compiled(const TorchPackage& package) {
    std::vector<std::unique_ptr<CodeCompiler>> compilers;
    for (const DeviceInfo& device : package.devices) {
        compilers.push_back(open_compiler(device));
    }
    std::vector<std::vector<std::byte>> out;
    try {
        for (const TorchCode& code : package.codes) {
            compilers[code.device]->ahead(code.problem, Candidate(code.configuration));
        }
        for (const TorchCode& code : package.codes) {
            out.push_back(compilers[code.device]->image(code.problem, Candidate(code.configuration)));
        }
    } catch (const DeviceError& error) {
        throw SystemError(error.what());
    }
    return out;
}

/// Which are not what was measured: another normtune or another compiler made that.
std::string other_code_text(const TorchPackage& package, const std::vector<std::vector<std::byte>>& images) {
    std::size_t others = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
        const std::string& measured = package.codes[i].measured;
        others += !measured.empty() && content_hash(images[i].data(), images[i].size()) != measured ? 1 : 0;
    }
    return others == 0 ? ""
                       : fmt::format(
                             "{} of {} kernels {} other machine code than what was measured, of the same configuration: another "
                             "normtune or compiler made that. A sweep measures the present code.\n",
                             others, images.size(), others == 1 ? "is" : "are");
}

}  // namespace

std::string write_torch_package(const TorchPackage& package, const std::string& out) {
    const NewRunFolder folder(out);
    const std::vector<std::vector<std::byte>> images = compiled(package);
    std::size_t bytes = 0;
    std::string contents;  // paths and hashes of all that decides the version
    fill_folder(folder.path(), [&](const std::string& place) {
        const auto write = [&](const std::string& path, std::string_view text) {
            const std::filesystem::path file = place + "/" + path;
            std::filesystem::create_directories(file.parent_path());
            write_file_atomically(file.string(), text);
            bytes += text.size();
            contents += fmt::format("{} {}\n", path, content_hash(text));
        };
        for (const TorchFile& file : torch_files()) {
            write(std::string(file.path), file.text);
        }
        write(fmt::format("{}kernels.txt", module_folder), package.table);
        for (std::size_t i = 0; i < images.size(); ++i) {
            write(std::string(module_folder) + package.codes[i].file, {reinterpret_cast<const char*>(images[i].data()), images[i].size()});
        }
        // A local version (PEP 440): pip takes packages of other contents for others. Digits without the letter would be a number.
        write(fmt::format("{}version.txt", module_folder), fmt::format("{}+h{}\n", version(), content_hash(contents).substr(0, 12)));
    });
    std::string devices;
    for (const DeviceInfo& device : package.devices) {
        devices += fmt::format("{}{} ({})", devices.empty() ? "" : ", ", for_terminal(device.name), for_terminal(device.arch));
    }
    std::string text = fmt::format("{} of {}, as {}, {:.1f} MB, in {}\n", counted(package.winners, "winner"), devices,
                                   counted(images.size(), "kernel"), static_cast<double>(bytes) / 1e6, folder.path());
    return text + other_code_text(package, images) + package.left_out.text("no call of the package names it");
}

}  // namespace normtune::cli
