#include "reference.h"

#include "dispatch.h"

namespace normtune_torch {
namespace {

/// In fp32, or fp64 where x is; rounded to x's type where the casting says so, as in normtune's docs/semantics.md.
class Rounding {
public:
    Rounding(const at::Tensor& x, const Options& options)
        : type_(x.scalar_type()),
          wide_(type_ == at::kDouble ? at::kDouble : at::kFloat),
          narrow_(type_ != wide_),
          none_(narrow_ && options.casting == static_cast<std::int64_t>(Casting::none)),
          llama_(narrow_ && options.casting == static_cast<std::int64_t>(Casting::llama)) {}

    at::Tensor wide(const at::Tensor& t) const { return t.to(wide_); }
    at::Tensor narrow(const at::Tensor& t) const { return t.to(type_); }
    at::Tensor if_none(const at::Tensor& t) const { return none_ ? wide(narrow(t)) : t; }
    at::Tensor if_llama(const at::Tensor& t) const { return llama_ ? wide(narrow(t)) : t; }
    at::Tensor normal(const at::Tensor& x32, const at::Tensor& rstd) const { return if_none(if_llama(x32 * if_none(rstd))); }

private:
    at::ScalarType type_;
    at::ScalarType wide_;
    bool narrow_;
    bool none_;
    bool llama_;
};

at::Tensor scale_of(const Rounding& rounding, const at::Tensor& x32, double eps) {
    return (rounding.if_none(x32 * x32).mean(-1, true) + eps).rsqrt();
}

at::Tensor gain_of(const Rounding& rounding, const at::Tensor& weight, std::int64_t offset) {
    const at::Tensor g = rounding.if_none(rounding.wide(weight));
    return offset == 0 ? g : rounding.if_none(g + static_cast<double>(offset));
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> reference_forward(const at::Tensor& x, const at::Tensor& weight, const Options& options) {
    const Rounding rounding(x, options);
    const at::Tensor x32 = rounding.wide(x);
    const at::Tensor rstd = scale_of(rounding, x32, options.eps);
    at::Tensor y = rounding.normal(x32, rstd);
    if (weight.defined()) {
        y = y * gain_of(rounding, weight, options.offset);
    }
    return {rounding.narrow(y).contiguous(), rstd.squeeze(-1)};
}

std::tuple<at::Tensor, at::Tensor> reference_backward(const at::Tensor& dy, const at::Tensor& ds, const at::Tensor& x,
                                                      const at::Tensor& weight, const at::Tensor& rstd, const Options& options) {
    const Rounding rounding(x, options);
    const at::Tensor x32 = rounding.wide(x);
    const at::Tensor dy32 = rounding.wide(dy);
    const at::Tensor scale = rstd.defined() ? rstd.unsqueeze(-1) : scale_of(rounding, x32, options.eps);
    const at::Tensor m = weight.defined() ? rounding.if_none(dy32 * gain_of(rounding, weight, options.offset)) : dy32;
    at::Tensor dx = m * scale - x32 * (scale * scale * scale * (m * x32).mean(-1, true));
    if (ds.defined()) {
        dx = dx + rounding.wide(ds);
    }
    at::Tensor dgamma;
    if (weight.defined()) {
        const at::Tensor terms = rounding.if_none(dy32 * rounding.normal(x32, scale));
        dgamma = (terms.dim() > 1 ? terms.flatten(0, -2).sum(0) : terms).to(weight.scalar_type());
    }
    return {rounding.narrow(dx).contiguous(), dgamma};
}

}  // namespace normtune_torch
