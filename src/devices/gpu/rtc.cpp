#include "devices/gpu/rtc.h"

#include <algorithm>

namespace normtune::gpu {
namespace {

constexpr Symbol<Rtc> functions[] = {
    symbol<&Rtc::version>("Version"),
    symbol<&Rtc::create>("CreateProgram"),
    symbol<&Rtc::destroy>("DestroyProgram"),
    symbol<&Rtc::compile>("CompileProgram"),
    symbol<&Rtc::log_size>("GetProgramLogSize"),
    symbol<&Rtc::log>("GetProgramLog"),
    symbol<&Rtc::error_string>("GetErrorString"),
};
constexpr Symbol<Rtc> code_functions[] = {symbol<&Rtc::code_size>("Size"), symbol<&Rtc::code>("")};

}  // namespace

std::string load_rtc(const DynamicLibrary& library, const std::string& prefix, const std::string& code, Rtc& rtc) {
    std::string missing;
    library.load(rtc, functions, missing, prefix);
    library.load(rtc, code_functions, missing, prefix + "Get" + code);
    return missing;
}

RtcResult compile(const Rtc& rtc, const std::string& source, const char* file, const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) {
        words.push_back(option.c_str());
    }
    RtcResult out;
    Program program = nullptr;
    int result = rtc.create(&program, source.c_str(), file, 0, nullptr, nullptr);
    if (result == 0) {
        result = rtc.compile(program, static_cast<int>(words.size()), words.data());
        std::size_t size = 0;
        if (rtc.log_size(program, &size) == 0 && size > 1) {
            out.log.resize(size);
            rtc.log(program, out.log.data());
            out.log.resize(size - 1);
        }
        if (result == 0 && (result = rtc.code_size(program, &size)) == 0) {
            out.code.resize(size);
            result = rtc.code(program, reinterpret_cast<char*>(out.code.data()));
        }
        rtc.destroy(&program);
    }
    if (result != 0) {
        out.error = rtc.error_string(result);
    }
    return out;
}

std::string first_error(const std::string& log) {
    std::size_t at = log.find("error:");
    at = at == std::string::npos ? log.find_first_not_of(" \n") : at;
    if (at == std::string::npos) {
        return {};
    }
    const std::size_t begin = log.rfind('\n', at) + 1;  // npos + 1: the log's begin
    return log.substr(begin, std::min<std::size_t>(log.find('\n', at) - begin, 300));
}

}  // namespace normtune::gpu
