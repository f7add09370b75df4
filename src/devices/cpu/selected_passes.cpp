#include "devices/cpu/selected_passes.h"

#include <fmt/format.h>

#include <string_view>

#include "devices/cpu/traits.h"
#include "devices/device.h"
#include "support/build_id.h"
#include "support/random.h"

namespace normtune::cpu {

namespace {

/// Notes each pass under a name that leaves out what its code does not depend on.
class Selection {
public:
    Selection(const PassSet& set, const Problem& problem, const Configuration& configuration)
        : set_(set), operation_(problem.operation), cols_(problem.shape.cols), configuration_(configuration) {
        const TileShape tile = tile_shape(configuration, set.lanes);
        passes_.rows = tile.rows;
        passes_.vectors = tile.vectors;
        code_ = set.name;
    }

    SelectedPasses select() {
        const bool resident = configuration_.residency == Residency::registers;
        if (operation_.has_forward()) {
            if (resident) {
                pick(passes_.resident_forward, set_.resident_forward, "resident_forward", casting(), reduction());
            } else {
                pick(passes_.square_sum, set_.square_sum, "square_sum", operation_.contract().forward.squares ? "none" : "", reduction());
                pick(passes_.scale_rows, set_.scale_rows, "scale_rows", casting() == "gemma" ? "gemma" : "", stores());
            }
        }
        if (operation_.has_backward()) {
            if (resident) {
                pick(passes_.resident_backward, set_.resident_backward, "resident_backward", casting(), reduction());
            } else {
                pick(passes_.gradient_sum, set_.gradient_sum, "gradient_sum", casting(), reduction());
                pick(passes_.gradient_rows, set_.gradient_rows, "gradient_rows", operation_.contract().backward.gradient ? "none" : "",
                     stores());
            }
            if (operation_.has(TensorRole::dgamma) && configuration_.dgamma == DgammaMethod::split) {
                passes_.column_gradient = set_.column_gradient(key(1));
                code_ += fmt::format(" column_gradient.{}", casting());
            }
            passes_.fold = set_.fold(key(1));
        }
        passes_.prepare_gamma = set_.prepare_gamma(key(1));
        passes_.fence = set_.fence;
        static const std::string build = build_id();
        passes_.code_hash = fmt::format("{:016x}{:016x}", fnv1a(code_), fnv1a(build));
        return passes_;
    }

private:
    std::string_view casting() const { return is_narrow(operation_.dtype) ? casting_names.name(operation_.casting) : ""; }
    /// A row in registers is one step, so that `guard` is decided here: even, or masked.
    Reduction form() const {
        if (configuration_.residency != Residency::registers || configuration_.reduction != Reduction::guard) {
            return configuration_.reduction;
        }
        return cols_ == columns_at_once(configuration_, operation_.dtype) ? Reduction::even : Reduction::masked;
    }
    std::string_view reduction() const { return reduction_names.name(form()); }
    std::string_view stores() const { return cache_hint_names.name(configuration_.store_hint); }

    PassKey key(int rows) const {
        return {.dtype = operation_.dtype,
                .casting = operation_.casting,
                .reduction = form(),
                .stream = configuration_.store_hint == CacheHint::streaming,
                .vectors = passes_.vectors,
                .rows = rows};
    }

    template <class Pass>
    void pick(Pass (&passes)[2], Pass (*find)(const PassKey&), std::string_view name, std::string_view rounding, std::string_view form) {
        passes[0] = find(key(passes_.rows));
        passes[1] = find(key(1));
        if (passes[0] == nullptr || passes[1] == nullptr) {
            throw DeviceError(DeviceFault::unsupported, fmt::format("no {} kernel of {} is built for {} rows of {} vectors", set_.name,
                                                                    name, passes_.rows, passes_.vectors));
        }
        code_ += fmt::format(" {}.{}.{}.{}.{}x{}", name, dtype_names.name(operation_.dtype), rounding, form, passes_.rows, passes_.vectors);
    }

    const PassSet& set_;
    const Operation& operation_;
    const std::int64_t cols_;
    const Configuration& configuration_;
    SelectedPasses passes_;
    std::string code_;
};

}  // namespace

SelectedPasses select_passes(const PassSet& set, const Problem& problem, const Configuration& configuration) {
    return Selection(set, problem, configuration).select();
}

}  // namespace normtune::cpu
