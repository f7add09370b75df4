// Providers of kernels that are Python's: which there are, as a Python process answers it, and the worker that runs them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "space/device_info.h"
#include "trial/kernel_folder.h"

namespace normtune {

/// The names that normtune ships, for help and completion.
std::vector<std::string> shipped_python_providers();
/// Is it a shipped one, or where a factory is? The forms are for a message: "… is none of".
bool names_python_provider(const std::string& word);
std::string python_provider_forms();

/// What a user says of them.
struct PythonWish {
    std::vector<std::string> names;  // "liger", "MODULE:FACTORY", "FILE.py:FACTORY"
    std::string python;              // interpreter, or a virtual environment; empty: NORMTUNE_PYTHON, that of VIRTUAL_ENV, python3 of PATH
    std::string side = {};           // of `ab`: what its providers are called. A side has a worker of its own
};

class PythonProvider {
public:
    /// Starts Python, once, which says what there is for the problems; nothing is imported that only a kernel needs. Throws InputError: no
    /// such interpreter, a provider that is not there, not installed, or that fails.
    static std::vector<std::shared_ptr<const PythonProvider>> ask(const PythonWish& wish, Backend backend,
                                                                  const std::vector<Problem>& problems);

    const std::string& asked_as() const { return asked_as_; }  // what --provider named
    const std::string& python() const { return python_; }      // as the user gave it; may be empty
    const std::string& name() const { return name_; }          // of its candidates: its own, or that of its side
    const std::string& own_name() const { return own_name_; }
    const std::string& side() const { return side_; }
    std::string versioned() const { return own_name_ + " " + version_; }
    /// "liger 0.8.5", and of `ab` with its side.
    std::string labelled() const { return side_.empty() ? versioned() : side_ + ": " + versioned(); }
    /// What a message calls it: "--provider: liger", "before: liger".
    std::string named() const;
    /// What two have alike that give the same kernels.
    const std::string& digest() const { return digest_; }
    /// Of a problem that it was asked about.
    FolderPlan plan(const Problem& problem, bool list_pruned) const;

private:
    struct Kernel {
        std::shared_ptr<LaunchManifest> manifest;
        std::map<std::string, std::string> refused;  // by the problem's key: why it is not for it
    };
    void read(const JsonReader& in, const std::vector<Problem>& problems, bool alone);

    std::string asked_as_;
    std::string python_;
    std::string side_;
    std::string name_;
    std::string own_name_;
    std::string version_;
    std::string digest_;
    std::vector<Kernel> kernels_;
};

/// The words that start a worker in Python; a worker's arguments follow. Throws InputError.
std::vector<std::string> python_worker(const PythonProvider& provider);
/// Where the interpreter is that a user wishes. Throws InputError: there is none.
std::string python_interpreter(const PythonWish& wish);

}  // namespace normtune
