#include "problem/elements.h"

#include <cstring>

namespace normtune {

namespace {

template <typename Number>
void decode_to(Dtype dtype, const std::byte* tensor, std::int64_t index, std::span<Number> out) {
    const std::byte* from = tensor + index * bytes_of(dtype);
    with_dtype(dtype, [from, out]<Dtype T>() {
        for (std::size_t i = 0; i < out.size(); ++i) {
            typename ElementFormat<T>::Code code;
            std::memcpy(&code, from + i * sizeof(code), sizeof(code));
            out[i] = ElementFormat<T>::decode(code);
        }
    });
}

}  // namespace

void decode(Dtype dtype, const std::byte* tensor, std::int64_t index, std::span<float> out) {
    decode_to(dtype, tensor, index, out);
}

void decode(Dtype dtype, const std::byte* tensor, std::int64_t index, std::span<double> out) {
    decode_to(dtype, tensor, index, out);
}

void encode(Dtype dtype, std::span<const float> values, std::int64_t index, std::byte* tensor) {
    std::byte* to = tensor + index * bytes_of(dtype);
    with_dtype(dtype, [to, values]<Dtype T>() {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto code = ElementFormat<T>::encode(values[i]);
            std::memcpy(to + i * sizeof(code), &code, sizeof(code));
        }
    });
}

}  // namespace normtune
