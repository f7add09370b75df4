// A library in NVML's place: a device at 0000:18:00.0 whose locks are noted in the file that FAKE_NVML_NOTES names.
// FAKE_NVML_REFUSES: what locking answers.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int note(const char* what, unsigned mhz) {
    const char* const path = std::getenv("FAKE_NVML_NOTES");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
    if (file == nullptr) {
        return 999;
    }
    std::fprintf(file, "%s %u\n", what, mhz);
    std::fclose(file);
    return 0;
}

int the_device = 0;

}  // namespace

extern "C" {
int nvmlInit_v2() {
    return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
    std::snprintf(text, length, "1.2.3");
    return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
    *device = &the_device;
    return std::strcmp(bus_id, "0000:18:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
    *mhz = type == 1 ? 1980 : type == 2 ? 2619 : 0;
    return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
    *reasons = 0x4;
    return 0;
}
int nvmlDeviceSetGpuLockedClocks(void* device, unsigned least_mhz, unsigned most_mhz) {
    if (const char* const refuses = std::getenv("FAKE_NVML_REFUSES")) {
        return std::atoi(refuses);
    }
    return device == &the_device && least_mhz == most_mhz ? note("lock", most_mhz) : 2;
}
int nvmlDeviceResetGpuLockedClocks(void*) {
    return note("unlock", 0);
}
const char* nvmlErrorString(int result) {
    return result == 4 ? "Insufficient Permissions" : "Not Found";
}
}
