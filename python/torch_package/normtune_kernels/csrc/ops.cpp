// The operations as PyTorch has them: schemas, checks, shapes for tracing, autograd, and the short way from Python.
#include <Python.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/library.h>

#include "kernels.h"

namespace {

using at::Tensor;
using normtune_torch::Options;
using Maybe = std::optional<Tensor>;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

Tensor or_none(const Maybe& t) {
    return t.has_value() ? *t : Tensor();
}

c10::SymIntArrayRef leading(const Tensor& x) {
    return x.sym_sizes().slice(0, static_cast<std::size_t>(x.dim() - 1));
}

at::ScalarType scales_type(const Tensor& x) {
    return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

void check_row_wise(const Tensor& x, const Tensor& other, const char* name) {
    TORCH_CHECK(other.sym_sizes() == x.sym_sizes() && other.scalar_type() == x.scalar_type() && other.device() == x.device(), name,
                " must have x's shape, dtype and device: x is ", x.scalar_type(), " ", x.sym_sizes(), " on ", x.device(), ", ", name,
                " is ", other.scalar_type(), " ", other.sym_sizes(), " on ", other.device());
}

void check_arguments(const Tensor& x, const Tensor& weight, double eps, std::int64_t casting, std::int64_t offset) {
    TORCH_CHECK(x.dim() > 0, "x must have rows: it is a scalar");
    TORCH_CHECK(at::isFloatingType(x.scalar_type()), "x must be of a floating type, not ", x.scalar_type());
    TORCH_CHECK(eps >= 0, "eps must not be negative: ", eps);
    TORCH_CHECK(casting >= 0 && casting <= 2, "casting is 0 (llama), 1 (gemma) or 2 (none), not ", casting);
    TORCH_CHECK(offset == 0 || offset == 1, "offset is 0 or 1, not ", offset);
    if (weight.defined()) {
        TORCH_CHECK(weight.dim() == 1 && weight.sym_size(0) == x.sym_size(-1), "weight must have x's last dimension, ", x.sym_size(-1),
                    ": its shape is ", weight.sym_sizes());
        TORCH_CHECK(weight.device() == x.device(), "weight must be on x's device, ", x.device(), ", not on ", weight.device());
        TORCH_CHECK(at::isFloatingType(weight.scalar_type()), "weight must be of a floating type, not ", weight.scalar_type());
    }
}

void check_backward(const Tensor& dy, const Maybe& ds, const Tensor& x, const Tensor& weight, const Tensor& rstd, double eps,
                    std::int64_t casting, std::int64_t offset) {
    check_arguments(x, weight, eps, casting, offset);
    check_row_wise(x, dy, "dy");
    if (ds.has_value()) {
        check_row_wise(x, *ds, "ds");
    }
    const at::ScalarType type = scales_type(x);
    TORCH_CHECK(rstd.sym_sizes() == leading(x) && rstd.scalar_type() == type && rstd.device() == x.device(), "rstd must have a value of ",
                type, " for each row of x, on x's device: x is ", x.sym_sizes(), " on ", x.device(), ", rstd is ", rstd.scalar_type(), " ",
                rstd.sym_sizes(), " on ", rstd.device());
}

// On any device.

Two rms_norm(const Tensor& x, const Maybe& weight, double eps, std::int64_t casting, std::int64_t offset) {
    check_arguments(x, or_none(weight), eps, casting, offset);
    auto out = normtune_torch::forward(x, {}, or_none(weight), {eps, casting, offset});
    return {out.y, out.rstd};
}

Three fused_add_rms_norm(const Tensor& x, const Tensor& residual, const Maybe& weight, double eps, std::int64_t casting,
                         std::int64_t offset) {
    check_arguments(x, or_none(weight), eps, casting, offset);
    check_row_wise(x, residual, "residual");
    auto out = normtune_torch::forward(x, residual, or_none(weight), {eps, casting, offset});
    return {out.y, out.s, out.rstd};
}

/// An operation has two results; without a weight the second is empty.
Two both(Two result, const Tensor& x) {
    if (!std::get<1>(result).defined()) {
        std::get<1>(result) = at::empty({0}, x.options());
    }
    return result;
}

Two rms_norm_backward(const Tensor& dy, const Maybe& ds, const Tensor& x, const Maybe& weight, const Tensor& rstd, double eps,
                      std::int64_t casting, std::int64_t offset) {
    check_backward(dy, ds, x, or_none(weight), rstd, eps, casting, offset);
    return both(normtune_torch::backward(dy, or_none(ds), x, or_none(weight), rstd, {eps, casting, offset}), x);
}

// Shapes alone, which may be symbols.

Tensor like_rows(const Tensor& x) {
    return at::empty_symint(x.sym_sizes(), x.options());
}

Tensor scales_of(const Tensor& x) {
    return at::empty_symint(leading(x), x.options().dtype(scales_type(x)));
}

Two rms_norm_meta(const Tensor& x, const Maybe& weight, double eps, std::int64_t casting, std::int64_t offset) {
    check_arguments(x, or_none(weight), eps, casting, offset);
    return {like_rows(x), scales_of(x)};
}

Three fused_add_rms_norm_meta(const Tensor& x, const Tensor& residual, const Maybe& weight, double eps, std::int64_t casting,
                              std::int64_t offset) {
    check_arguments(x, or_none(weight), eps, casting, offset);
    check_row_wise(x, residual, "residual");
    return {like_rows(x), like_rows(x), scales_of(x)};
}

Two rms_norm_backward_meta(const Tensor& dy, const Maybe& ds, const Tensor& x, const Maybe& weight, const Tensor& rstd, double eps,
                           std::int64_t casting, std::int64_t offset) {
    check_backward(dy, ds, x, or_none(weight), rstd, eps, casting, offset);
    return both({like_rows(x), weight.has_value() ? at::empty_symint(weight->sym_sizes(), weight->options()) : Tensor()}, x);
}

// Autograd.

template <typename Function>
auto operation(const char* name) {
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Function>();
}

auto& rms_norm_op() {
    static auto op = operation<decltype(rms_norm)>("normtune::rms_norm");
    return op;
}
auto& fused_add_rms_norm_op() {
    static auto op = operation<decltype(fused_add_rms_norm)>("normtune::fused_add_rms_norm");
    return op;
}
auto& backward_op() {
    static auto op = operation<decltype(rms_norm_backward)>("normtune::rms_norm_backward");
    return op;
}

bool wants_gradient(const Tensor& t) {
    return t.defined() && t.requires_grad();
}
bool has_tangent(const Tensor& t) {
    return t.defined() && t._fw_grad(0).defined();
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Of both operations: inputs are x, (residual,) weight, eps, casting and offset; results y, (s,) rstd.
struct Norm : torch::autograd::Function<Norm> {
    static variable_list forward(AutogradContext* ctx, const Tensor& x, const Maybe& residual, const Maybe& weight, double eps,
                                 std::int64_t casting, std::int64_t offset) {
        const at::AutoDispatchBelowADInplaceOrView below;
        variable_list out;
        if (residual.has_value()) {
            auto [y, s, rstd] = fused_add_rms_norm_op().call(x, *residual, weight, eps, casting, offset);
            out = {y, s, rstd};
        } else {
            auto [y, rstd] = rms_norm_op().call(x, weight, eps, casting, offset);
            out = {y, rstd};
        }
        ctx->save_for_backward({residual.has_value() ? out[1] : x, or_none(weight), out.back()});
        ctx->mark_non_differentiable({out.back()});
        ctx->saved_data["options"] = std::tuple(eps, casting, offset);
        ctx->saved_data["fused"] = residual.has_value();
        return out;
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const variable_list saved = ctx->get_saved_variables();
        const auto options = ctx->saved_data["options"].to<std::tuple<double, std::int64_t, std::int64_t>>();
        const bool fused = ctx->saved_data["fused"].toBool();
        const auto [eps, casting, offset] = options;
        auto [dx, dgamma] = backward_op().call(gradients[0], fused ? Maybe(gradients[1]) : std::nullopt, saved[0],
                                               saved[1].defined() ? Maybe(saved[1]) : std::nullopt, saved[2], eps, casting, offset);
        return {dx, fused ? dx : Tensor(), saved[1].defined() ? dgamma : Tensor(), Tensor(), Tensor(), Tensor()};
    }
};

/// Forward derivatives are the reference's.
bool by_reference(const Tensor& x, const Tensor& residual, const Tensor& weight) {
    return has_tangent(x) || has_tangent(residual) || has_tangent(weight);
}

Two rms_norm_autograd(const Tensor& x, const Maybe& weight, double eps, std::int64_t casting, std::int64_t offset) {
    const Tensor w = or_none(weight);
    if (by_reference(x, {}, w)) {
        check_arguments(x, w, eps, casting, offset);
        normtune_torch::count_reference();
        return normtune_torch::reference_forward(x, w, {eps, casting, offset});
    }
    if (at::GradMode::is_enabled() && (wants_gradient(x) || wants_gradient(w))) {
        const variable_list out = Norm::apply(x, Maybe(), weight, eps, casting, offset);
        return {out[0], out[1]};
    }
    const at::AutoDispatchBelowADInplaceOrView below;
    return rms_norm_op().call(x, weight, eps, casting, offset);
}

Three fused_add_rms_norm_autograd(const Tensor& x, const Tensor& residual, const Maybe& weight, double eps, std::int64_t casting,
                                  std::int64_t offset) {
    const Tensor w = or_none(weight);
    if (by_reference(x, residual, w)) {
        check_arguments(x, w, eps, casting, offset);
        check_row_wise(x, residual, "residual");
        normtune_torch::count_reference();
        const Tensor s = x + residual;
        auto [y, rstd] = normtune_torch::reference_forward(s, w, {eps, casting, offset});
        return {y, s, rstd};
    }
    if (at::GradMode::is_enabled() && (wants_gradient(x) || wants_gradient(residual) || wants_gradient(w))) {
        const variable_list out = Norm::apply(x, Maybe(residual), weight, eps, casting, offset);
        return {out[0], out[1], out[2]};
    }
    const at::AutoDispatchBelowADInplaceOrView below;
    return fused_add_rms_norm_op().call(x, residual, weight, eps, casting, offset);
}

/// A gradient that is to be differentiated again is the reference's.
Two rms_norm_backward_autograd(const Tensor& dy, const Maybe& ds, const Tensor& x, const Maybe& weight, const Tensor& rstd, double eps,
                               std::int64_t casting, std::int64_t offset) {
    const Tensor w = or_none(weight);
    if (at::GradMode::is_enabled() && (wants_gradient(dy) || wants_gradient(or_none(ds)) || wants_gradient(x) || wants_gradient(w))) {
        check_backward(dy, ds, x, w, rstd, eps, casting, offset);
        normtune_torch::count_reference();
        return both(normtune_torch::reference_backward(dy, or_none(ds), x, w, {}, {eps, casting, offset}), x);
    }
    const at::AutoDispatchBelowADInplaceOrView below;
    return backward_op().call(dy, ds, x, weight, rstd, eps, casting, offset);
}

// From Python: plain tensors go to the dispatcher at once; everything else gets NotImplemented, and takes torch.ops.

bool is_plain(PyObject* object) {
    return THPVariable_CheckExact(object);
}

/// weight, eps, casting, offset, from `at` on.
struct Rest {
    Maybe weight;
    double eps;
    long casting;
    long offset;
    Rest(PyObject* const* a, int at)
        : weight(a[at] == Py_None ? Maybe() : Maybe(THPVariable_Unpack(a[at]))),
          eps(PyFloat_AsDouble(a[at + 1])),
          casting(PyLong_AsLong(a[at + 2])),
          offset(PyLong_AsLong(a[at + 3])) {}
};

PyObject* python_rms_norm(PyObject*, PyObject* const* a, Py_ssize_t count) {
    HANDLE_TH_ERRORS
    if (count != 5 || !is_plain(a[0]) || !(a[1] == Py_None || is_plain(a[1]))) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    const Rest rest(a, 1);
    if (PyErr_Occurred() != nullptr) {
        return nullptr;
    }
    Tensor y;
    {
        const Tensor& x = THPVariable_Unpack(a[0]);
        const pybind11::gil_scoped_release released;
        y = std::get<0>(rms_norm_op().call(x, rest.weight, rest.eps, rest.casting, rest.offset));
    }
    return THPVariable_Wrap(y);
    END_HANDLE_TH_ERRORS
}

PyObject* python_fused_add_rms_norm(PyObject*, PyObject* const* a, Py_ssize_t count) {
    HANDLE_TH_ERRORS
    if (count != 6 || !is_plain(a[0]) || !is_plain(a[1]) || !(a[2] == Py_None || is_plain(a[2]))) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    const Rest rest(a, 2);
    if (PyErr_Occurred() != nullptr) {
        return nullptr;
    }
    Three out;
    {
        const Tensor& x = THPVariable_Unpack(a[0]);
        const Tensor& residual = THPVariable_Unpack(a[1]);
        const pybind11::gil_scoped_release released;
        out = fused_add_rms_norm_op().call(x, residual, rest.weight, rest.eps, rest.casting, rest.offset);
    }
    return Py_BuildValue("(NN)", THPVariable_Wrap(std::get<0>(out)), THPVariable_Wrap(std::get<1>(out)));
    END_HANDLE_TH_ERRORS
}

PyObject* python_open(PyObject*, PyObject* folder) {
    HANDLE_TH_ERRORS
    const char* const path = PyUnicode_AsUTF8(folder);
    if (path == nullptr) {
        return nullptr;
    }
    normtune_torch::open_kernels(path);
    Py_RETURN_NONE;
    END_HANDLE_TH_ERRORS
}

PyObject* python_counts(PyObject*, PyObject*) {
    const auto [tuned, reference] = normtune_torch::counts();
    return Py_BuildValue("(KK)", static_cast<unsigned long long>(tuned), static_cast<unsigned long long>(reference));
}

PyMethodDef methods[]{
    {"rms_norm", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(python_rms_norm)), METH_FASTCALL, nullptr},
    {"fused_add_rms_norm", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(python_fused_add_rms_norm)), METH_FASTCALL, nullptr},
    {"open", python_open, METH_O, nullptr},
    {"counts", python_counts, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef module_definition{PyModuleDef_HEAD_INIT, "_C", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

TORCH_LIBRARY(normtune, m) {
    m.def("rms_norm(Tensor x, Tensor? weight, float eps, int casting, int offset) -> (Tensor, Tensor)", {at::Tag::pt2_compliant_tag});
    m.def("fused_add_rms_norm(Tensor x, Tensor residual, Tensor? weight, float eps, int casting, int offset) -> (Tensor, Tensor, Tensor)",
          {at::Tag::pt2_compliant_tag});
    m.def(
        "rms_norm_backward(Tensor dy, Tensor? ds, Tensor x, Tensor? weight, Tensor rstd, float eps, int casting, int offset) -> "
        "(Tensor, Tensor)",
        {at::Tag::pt2_compliant_tag});
}

#define NORMTUNE_KERNELS(key, suffix)                             \
    TORCH_LIBRARY_IMPL(normtune, key, m) {                        \
        m.impl("rms_norm", rms_norm##suffix);                     \
        m.impl("fused_add_rms_norm", fused_add_rms_norm##suffix); \
        m.impl("rms_norm_backward", rms_norm_backward##suffix);   \
    }
NORMTUNE_KERNELS(CompositeExplicitAutograd, )
NORMTUNE_KERNELS(Meta, _meta)
NORMTUNE_KERNELS(Autograd, _autograd)

PyMODINIT_FUNC PyInit__C() {
    return PyModule_Create(&module_definition);
}
