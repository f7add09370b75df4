// hiprtc's entry points over NVRTC. For tests alone.
#include <cstring>
#include <string>
#include <vector>

#include "code_object.h"
#include "devices/cuda/nvrtc.h"
#include "devices/device.h"

namespace {

constexpr int good = 0;
constexpr int compilation_error = 6;  // HIPRTC_ERROR_COMPILATION

struct Program {
    std::string source;
    std::string log;
    std::string code;
};

int number_after(const std::string& log, std::size_t from, const char* what) {
    const std::size_t at = log.find(what, from);
    return at == std::string::npos ? 0 : std::atoi(log.c_str() + at + std::strlen(what));
}

/// ptxas names each entry before its figures: "Compiling entry function 'nt_forward' for 'sm_90'".
std::vector<hip_over_cuda::KernelNote> kernels_of(const normtune::CompiledCode& compiled) {
    std::vector<hip_over_cuda::KernelNote> out;
    constexpr const char* entry = "entry function '";
    for (std::size_t at = compiled.log.find(entry); at != std::string::npos; at = compiled.log.find(entry, at + 1)) {
        const std::size_t name = at + std::strlen(entry);
        out.push_back({compiled.log.substr(name, compiled.log.find('\'', name) - name), number_after(compiled.log, at, "Used "),
                       compiled.spill_bytes, compiled.shared_bytes});
    }
    return out;
}

}  // namespace

extern "C" {

int hiprtcVersion(int* major, int* minor) {
    *major = 6;
    *minor = 0;
    return good;
}
const char* hiprtcGetErrorString(int result) {
    return result == good ? "HIPRTC_SUCCESS" : "HIPRTC_ERROR_COMPILATION";
}
int hiprtcCreateProgram(Program** program, const char* source, const char*, int, const char* const*, const char* const*) {
    *program = new Program{source, {}, {}};
    return good;
}
int hiprtcDestroyProgram(Program** program) {
    delete *program;
    *program = nullptr;
    return good;
}
int hiprtcCompileProgram(Program* program, int count, const char* const* options) {
    normtune::CompileJob job;
    job.source = normtune::SourceText(program->source);
    constexpr const char* architecture = "--gpu-architecture=";
    for (int i = 0; i < count; ++i) {
        if (std::strncmp(options[i], architecture, std::strlen(architecture)) == 0) {
            job.arch = options[i] + std::strlen(architecture);
        } else {
            job.options.emplace_back(options[i]);
        }
    }
    try {
        const normtune::CompiledCode compiled = normtune::cuda::nvrtc_compile(job);
        program->log = compiled.log;
        program->code = hip_over_cuda::wrap(kernels_of(compiled), compiled.image);
        return good;
    } catch (const normtune::DeviceError& error) {
        program->log = error.what();
        return compilation_error;
    }
}
int hiprtcGetCodeSize(Program* program, std::size_t* size) {
    *size = program->code.size();
    return good;
}
int hiprtcGetCode(Program* program, char* code) {
    std::memcpy(code, program->code.data(), program->code.size());
    return good;
}
int hiprtcGetProgramLogSize(Program* program, std::size_t* size) {
    *size = program->log.size() + 1;
    return good;
}
int hiprtcGetProgramLog(Program* program, char* log) {
    std::memcpy(log, program->log.c_str(), program->log.size() + 1);
    return good;
}

}  // extern "C"
