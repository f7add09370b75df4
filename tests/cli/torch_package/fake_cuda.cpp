// A libcuda.so.1 that computes on the CPU what a kernel of a package for PyTorch, or one that emit wrote, would. Its machine code is a line
// of text: DTYPE WEIGHT_DTYPE OFFSET COLS ROW_STRIDE DGAMMA GROUPS_IN_MEMORY
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Code {
    char dtype[8];
    char weight_dtype[8];
    int offset;
    long cols;
    long stride;  // of x
    char dgamma[16];
    int groups;
};
struct Kernel {
    const Code* code;
    std::string name;
};
struct Config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void* stream;
    void* attributes;
    unsigned attribute_count;
};

float get(const char* dtype, const void* at, long i) {
    if (std::strcmp(dtype, "fp32") == 0) {
        return static_cast<const float*>(at)[i];
    }
    if (std::strcmp(dtype, "fp16") == 0) {
        return static_cast<float>(static_cast<const _Float16*>(at)[i]);
    }
    const std::uint32_t bits = static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(at)[i]) << 16;
    float out;
    std::memcpy(&out, &bits, 4);
    return out;
}

void put(const char* dtype, void* at, long i, float value) {
    if (std::strcmp(dtype, "fp32") == 0) {
        static_cast<float*>(at)[i] = value;
    } else if (std::strcmp(dtype, "fp16") == 0) {
        static_cast<_Float16*>(at)[i] = static_cast<_Float16>(value);
    } else {
        std::uint32_t bits;
        std::memcpy(&bits, &value, 4);
        static_cast<std::uint16_t*>(at)[i] = static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
}

template <typename Value>
Value argument(void** arguments, int i) {
    return *static_cast<Value*>(arguments[i]);
}
template <typename Value = void>
Value* pointer(void** arguments, int i) {
    return static_cast<Value*>(argument<void*>(arguments, i));
}

bool is_aligned(void** arguments, int count) {
    for (int i = 0; i < count; ++i) {
        if (argument<std::uintptr_t>(arguments, i) % 16 != 0) {
            return false;
        }
    }
    return true;
}

float gain(const Code& c, const void* gamma, long i) {
    return gamma == nullptr ? 1.0F : get(c.weight_dtype, gamma, i) + static_cast<float>(c.offset);
}

bool forward(const Code& c, void** a) {
    const long rows = argument<std::int64_t>(a, 6);
    const auto eps = argument<float>(a, 9);
    std::vector<float> row(c.cols);
    for (long r = 0; r < rows; ++r) {
        float sum = 0;
        for (long i = 0; i < c.cols; ++i) {
            row[i] = get(c.dtype, pointer(a, 0), r * c.stride + i);
            if (const void* residual = pointer(a, 1)) {
                put(c.dtype, pointer(a, 4), r * c.cols + i, row[i] + get(c.dtype, residual, r * c.cols + i));
                row[i] = get(c.dtype, pointer(a, 4), r * c.cols + i);
            }
            sum += row[i] * row[i];
        }
        const float rstd = 1 / std::sqrt(sum / static_cast<float>(c.cols) + eps);
        pointer<float>(a, 5)[r] = rstd;
        for (long i = 0; i < c.cols; ++i) {
            put(c.dtype, pointer(a, 3), r * c.cols + i, row[i] * rstd * gain(c, pointer(a, 2), i));
        }
    }
    return is_aligned(a, 6);
}

std::vector<float> sums_of(const Code& c, const void* x, const void* dy, const float* rstd, long rows) {
    std::vector<float> sums(c.cols);
    for (long r = 0; r < rows; ++r) {
        for (long i = 0; i < c.cols; ++i) {
            sums[i] += get(c.dtype, dy, r * c.cols + i) * get(c.dtype, x, r * c.stride + i) * rstd[r];
        }
    }
    return sums;
}

void put_row(const Code& c, void* at, const std::vector<float>& row) {
    for (long i = 0; i < c.cols; ++i) {
        put(c.weight_dtype, at, i, row[i]);
    }
}

/// The sums in the last of so many rows, the others 0. Where they have to be 0 before, were they?
bool write_partials(const Code& c, float* partials, long count, const std::vector<float>& sums, bool wants_zero) {
    bool zero = true;
    for (long i = 0; i < count * c.cols; ++i) {
        zero = zero && partials[i] == 0;
    }
    std::fill_n(partials, count * c.cols, 0.0F);
    std::copy(sums.begin(), sums.end(), partials + (count - 1) * c.cols);
    return zero || !wants_zero;
}

bool backward(const Code& c, void** a) {
    const long rows = argument<std::int64_t>(a, 9);
    const auto* rstd = pointer<float>(a, 4);
    std::vector<float> m(c.cols);
    for (long r = 0; r < rows; ++r) {
        float sum = 0;
        for (long i = 0; i < c.cols; ++i) {
            m[i] = get(c.dtype, pointer(a, 2), r * c.cols + i) * gain(c, pointer(a, 1), i);
            sum += m[i] * get(c.dtype, pointer(a, 0), r * c.stride + i);
        }
        const float part = sum / static_cast<float>(c.cols) * rstd[r] * rstd[r] * rstd[r];
        for (long i = 0; i < c.cols; ++i) {
            const float ds = pointer(a, 3) == nullptr ? 0.0F : get(c.dtype, pointer(a, 3), r * c.cols + i);
            put(c.dtype, pointer(a, 5), r * c.cols + i, m[i] * rstd[r] - get(c.dtype, pointer(a, 0), r * c.stride + i) * part + ds);
        }
    }
    bool good = is_aligned(a, 9);
    auto* const dgamma = pointer(a, 6);
    if (dgamma != nullptr) {
        const std::vector<float> sums = sums_of(c, pointer(a, 0), pointer(a, 2), rstd, rows);
        const std::string method = c.dgamma;
        auto* const partials = pointer<float>(a, 7);
        if (partials == nullptr) {
            put_row(c, dgamma, sums);
            return good;
        }
        const long count = method == "atomic" ? 1 : argument<std::int32_t>(a, 10) * std::max(1, c.groups);
        const bool reduces = method == "partials" || method == "published";
        good = write_partials(c, partials, count, sums, method != "partials") && good;
        if (!reduces) {
            put_row(c, dgamma, sums);
            std::fill_n(partials, count * c.cols, 0.0F);
        }
    }
    return good;
}

bool split(const Code& c, void** a) {
    const std::vector<float> sums = sums_of(c, pointer(a, 0), pointer(a, 1), pointer<float>(a, 2), argument<std::int64_t>(a, 5));
    if (auto* const partials = pointer<float>(a, 4)) {
        return write_partials(c, partials, argument<std::int32_t>(a, 6), sums, false);
    }
    put_row(c, pointer(a, 3), sums);
    return is_aligned(a, 5);
}

bool reduce(const Code& c, void** a) {
    auto* const partials = pointer<float>(a, 0);
    const long count = argument<std::int32_t>(a, 3);
    std::vector<float> sums(c.cols);
    for (long i = 0; i < count * c.cols; ++i) {
        sums[i % c.cols] += partials[i];
    }
    put_row(c, pointer(a, 1), sums);
    if (pointer(a, 2) != nullptr) {  // published: left at 0 for the next launch
        std::fill_n(partials, count * c.cols, 0.0F);
    }
    return is_aligned(a, 3);
}

/// With FAKE_CAPTURE every stream captures, graph after graph, though what is launched is computed at once.
bool captures() {
    return std::getenv("FAKE_CAPTURE") != nullptr;
}
struct Object {
    void* object;
    void (*destroy)(void*);
};
std::vector<Object> retained;  // of the graph that is captured
std::uint64_t capture = 1;
int launches = 0;  // in it
int allocations = 0;

}  // namespace

extern "C" {
int cuGetErrorName(int, const char** name) {
    *name = "CUDA_ERROR_LAUNCH_FAILED";
    return 0;
}
int cuInit(unsigned) {
    return 0;
}
int cuDeviceGet(int* device, int) {
    return *device = 0;
}
int cuDeviceGetName(char* name, int length, int) {
    std::snprintf(name, length, "NVIDIA H100 80GB HBM3");
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 16 ? 132 : attribute == 75 ? 9 : 0;
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = context;
    return 0;
}
int cuCtxGetCurrent(void** context) {
    *context = nullptr;
    return 0;
}
int cuCtxSetCurrent(void*) {
    return 0;
}
int cuModuleLoadData(void** module, const void* image) {
    auto* const c = new Code;
    *module = c;
    return std::sscanf(static_cast<const char*>(image), "%7s %7s %d %ld %ld %15s %d", c->dtype, c->weight_dtype, &c->offset, &c->cols,
                       &c->stride, c->dgamma, &c->groups) == 7
               ? 0
               : 200;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    *function = new Kernel{static_cast<const Code*>(module), name};
    return 0;
}
int cuFuncSetAttribute(void*, int, int) {
    return 0;
}
int cuStreamIsCapturing(void*, int* status) {
    *status = captures() ? 1 : 0;
    return 0;
}
int cuStreamGetCaptureInfo_v2(void*, int* status, std::uint64_t* id, void** graph, const void**, std::size_t*) {
    if (launches > 40) {  // the graph is destroyed, the next one begun
        for (const auto& [object, destroy] : std::exchange(retained, {})) {
            destroy(object);
        }
        launches = 0;
        ++capture;
    }
    *status = captures() ? 1 : 0;
    *id = capture;
    *graph = &capture;
    return 0;
}
int cuUserObjectCreate(void** made, void* object, void (*destroy)(void*), unsigned, unsigned) {
    *made = new Object{object, destroy};
    return 0;
}
int cuUserObjectRelease(void*, unsigned) {
    return 1;  // nobody has to
}
int cuGraphRetainUserObject(void*, void* object, unsigned, unsigned) {
    retained.push_back(*static_cast<Object*>(object));
    delete static_cast<Object*>(object);
    return 0;
}
int cuMemAlloc_v2(void** at, std::size_t bytes) {
    if (++allocations % 5 == 0) {
        return 2;  // CUDA_ERROR_OUT_OF_MEMORY
    }
    *at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(*at, 0x7f, bytes);
    return 0;
}
int cuMemcpyHtoD_v2(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    return 0;
}
int cuMemcpyDtoH_v2(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    return 0;
}
int cuMemsetD8Async(void* at, unsigned char value, std::size_t bytes, void*) {
    std::memset(at, value, bytes);
    return 0;
}
int cuStreamCreate(void** stream, unsigned) {
    *stream = &capture;
    return 0;
}
int cuStreamSynchronize(void*) {
    return 0;
}
int cuThreadExchangeStreamCaptureMode(int*) {
    return 0;
}
int cuLaunchKernelEx(const Config* config, void* function, void** arguments, void**) {
    const Kernel& kernel = *static_cast<const Kernel*>(function);
    ++launches;
    const bool good = kernel.name == "nt_forward"    ? forward(*kernel.code, arguments)
                      : kernel.name == "nt_backward" ? backward(*kernel.code, arguments)
                      : kernel.name == "nt_dgamma"   ? split(*kernel.code, arguments)
                                                     : reduce(*kernel.code, arguments);
    return good && config->grid[0] > 0 && config->block[0] > 0 ? 0 : 719;
}
}
