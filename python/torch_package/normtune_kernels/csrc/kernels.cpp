#include "kernels.h"

#include <c10/core/DeviceGuard.h>
#include <dlfcn.h>

#include <optional>

#include "launcher.h"

namespace normtune_torch {
namespace {

// Whose tensors the kernels take. A test names the CPU, and has a driver that computes there.
#ifndef NORMTUNE_KERNELS_DEVICE
#define NORMTUNE_KERNELS_DEVICE CUDA
#endif
constexpr c10::DeviceType served = c10::DeviceType::NORMTUNE_KERNELS_DEVICE;

Launcher* launcher = nullptr;  // null: no NVIDIA driver. Outlives the last graph, which gives memory back to it.
std::atomic<std::uint64_t> tuned{0};
std::atomic<std::uint64_t> by_reference{0};

/// PyTorch's current stream, without its CUDA headers, which need a CUDA toolkit's.
Stream current_stream(int device) {
    if (served != c10::DeviceType::CUDA) {
        return nullptr;
    }
    using Get = int (*)(std::int32_t, void**);
    static const Get get = [] {
        void* const library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
        return library == nullptr ? nullptr : reinterpret_cast<Get>(dlsym(library, "aoti_torch_get_current_cuda_stream"));
    }();
    void* stream = nullptr;
    TORCH_CHECK(get != nullptr && get(device, &stream) == 0, "normtune_kernels: this PyTorch does not tell its current CUDA stream");
    return static_cast<Stream>(stream);
}

std::optional<Dtype> dtype_of(const at::Tensor& t) {
    switch (t.scalar_type()) {
        case at::kFloat:
            return Dtype::fp32;
        case at::kBFloat16:
            return Dtype::bf16;
        case at::kHalf:
            return Dtype::fp16;
        default:
            return std::nullopt;
    }
}

/// The stride of rows that lie evenly, elements side by side; 0: they do not. Of a single row what the tensor has as a stride, so that it
/// gets the kernel of more rows of the same tensor.
std::int64_t row_stride(const at::Tensor& t) {
    const at::IntArrayRef sizes = t.sizes();
    const at::IntArrayRef strides = t.strides();
    const auto last = static_cast<std::ptrdiff_t>(sizes.size()) - 1;
    if (sizes[last] > 1 && strides[last] != 1) {
        return 0;
    }
    std::int64_t stride = 0;    // of the innermost dimension of more than one row
    std::int64_t expected = 0;  // of the next one
    for (std::ptrdiff_t d = last - 1; d >= 0; --d) {
        if (sizes[d] == 1) {
            continue;
        }
        if (stride == 0) {
            stride = strides[d];
            expected = stride;
        }
        if (strides[d] != expected || stride < sizes[last]) {
            return 0;
        }
        expected *= sizes[d];
    }
    return stride != 0 ? stride : last > 0 ? std::max(strides[last - 1], sizes[last]) : sizes[last];
}

bool is_aligned(const at::Tensor& t) {
    return reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % 16 == 0;
}

/// The tensor, or a copy that a kernel can read.
at::Tensor readable(const at::Tensor& t) {
    const at::Tensor out = t.contiguous();
    return is_aligned(out) ? out : out.clone();
}

/// A call of the package's kernels.
struct Call {
    Launcher::Place* place = nullptr;
    const Step* step = nullptr;  // null: the reference has to do it
    Work work;
    at::Tensor x;
    std::int64_t rows = 0;
};

/// Which step it is; x is copied where no kernel takes its row stride.
Call find(Op op, Mode mode, const at::Tensor& x, const at::Tensor& weight, const Options& options) {
    Call call;
    const std::optional<Dtype> dtype = dtype_of(x);
    const std::optional<Dtype> weight_dtype = weight.defined() ? dtype_of(weight) : dtype;
    if (launcher == nullptr || x.device().type() != served || !dtype || !weight_dtype || x.numel() == 0) {
        return call;
    }
    call.place = &launcher->place(std::max(0, static_cast<int>(x.get_device())));
    if (call.place->tuned == nullptr) {
        return call;
    }
    const std::int64_t cols = x.size(-1);
    call.rows = x.numel() / cols;
    call.work = {op,
                 mode,
                 *dtype,
                 *weight_dtype,
                 static_cast<Casting>(options.casting),
                 weight.defined(),
                 static_cast<int>(options.offset),
                 cols,
                 row_stride(x)};
    const auto choose = [&] { call.step = call.place->tuned->choose(call.work, call.rows, call.place->compute_units, call.place->limits); };
    if (call.work.row_stride > 0 && is_aligned(x)) {
        choose();
    }
    call.x = x;
    if (call.step == nullptr) {
        call.work.row_stride = cols;
        choose();
        call.x = call.step != nullptr ? readable(x) : x;
    }
    return call;
}

void run(const Call& call, Tensors tensors, const at::TensorOptions& options) {
    const Stream stream = current_stream(call.place->ordinal);
    const Workspace needed = workspace(*call.step, call.work, call.rows, call.place->compute_units);
    at::Tensor memory;
    if (needed.bytes > 0) {
        const at::TensorOptions bytes = options.dtype(at::kByte);
        if (needed.zeroed) {
            tensors.workspace = launcher->is_capturing(*call.place, stream)
                                    ? launcher->graph_memory(*call.place, *call.step, stream, needed.bytes)
                                    : launcher->kept_memory(*call.place, *call.step, stream, needed.bytes);
        }
        if (tensors.workspace == nullptr) {
            // Where no memory is left for what stays at 0, some of PyTorch's is set to 0 at each launch.
            memory = needed.zeroed ? at::zeros({needed.bytes}, bytes) : at::empty({needed.bytes}, bytes);
            tensors.workspace = static_cast<char*>(memory.data_ptr());
        }
    }
    launcher->launch(*call.place, *call.step, plan(*call.step, call.work, tensors, call.place->compute_units), stream);
    tuned.fetch_add(1, std::memory_order_relaxed);
}

const void* address(const at::Tensor& t) {
    return t.defined() ? t.const_data_ptr() : nullptr;
}

}  // namespace

void open_kernels(const std::string& folder) {
    Table table = Table::read(contents(folder + "/kernels.txt"));
    if (const Driver* const driver = load_driver()) {
        launcher = new Launcher(folder, std::move(table), *driver);
    }
}

void count_reference() {
    by_reference.fetch_add(1, std::memory_order_relaxed);
}

Counts counts() {
    return {tuned.load(), by_reference.load()};
}

Normalised forward(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight, const Options& options) {
    const bool fused = residual.defined();
    const Call call = find(fused ? Op::fused_add_rms_norm : Op::rms_norm, Mode::forward, x, weight, options);
    if (call.step == nullptr) {
        count_reference();
        const at::Tensor s = fused ? (x + residual).contiguous() : at::Tensor();
        auto [y, rstd] = reference_forward(fused ? s : x, weight, options);
        return {y, s, rstd};
    }
    const c10::DeviceGuard guard(x.device());
    const at::TensorOptions like = x.options();
    Normalised out{at::empty(x.sizes(), like), fused ? at::empty(x.sizes(), like) : at::Tensor(),
                   at::empty(x.sizes().slice(0, x.sizes().size() - 1), like.dtype(at::kFloat))};
    const at::Tensor gamma = weight.defined() ? readable(weight) : weight;
    const at::Tensor added = fused ? readable(residual) : residual;
    Tensors t;
    t.x = address(call.x);
    t.residual = address(added);
    t.gamma = address(gamma);
    t.y = out.y.data_ptr();
    t.s = fused ? out.s.data_ptr() : nullptr;
    t.rstd = out.rstd.data_ptr<float>();
    t.rows = call.rows;
    t.eps = static_cast<float>(options.eps);
    run(call, t, like);
    return out;
}

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& dy, const at::Tensor& ds, const at::Tensor& x, const at::Tensor& weight,
                                            const at::Tensor& rstd, const Options& options) {
    const Call call = find(ds.defined() ? Op::fused_add_rms_norm : Op::rms_norm, Mode::backward, x, weight, options);
    if (call.step == nullptr) {
        count_reference();
        return reference_backward(dy, ds, x, weight, rstd, options);
    }
    const c10::DeviceGuard guard(x.device());
    at::Tensor dx = at::empty(x.sizes(), x.options());
    at::Tensor dgamma = weight.defined() ? at::empty(weight.sizes(), weight.options()) : at::Tensor();
    const at::Tensor gamma = weight.defined() ? readable(weight) : weight;
    const at::Tensor incoming = readable(dy);
    const at::Tensor incoming_sum = ds.defined() ? readable(ds) : ds;
    const at::Tensor scales = readable(rstd);
    Tensors t;
    t.x = address(call.x);
    t.gamma = address(gamma);
    t.dy = address(incoming);
    t.ds = address(incoming_sum);
    t.rstd = static_cast<float*>(scales.data_ptr());
    t.dx = dx.data_ptr();
    t.dgamma = weight.defined() ? dgamma.data_ptr() : nullptr;
    t.rows = call.rows;
    run(call, t, x.options());
    return {dx, dgamma};
}

}  // namespace normtune_torch
