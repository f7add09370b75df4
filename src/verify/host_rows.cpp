#include "verify/host_rows.h"

#include <cstring>

#include "support/float_formats.h"

namespace normtune {

namespace {

template <typename Code>
Code load(const std::byte* from, std::size_t element) {
    Code code;
    std::memcpy(&code, from + element * sizeof(Code), sizeof(Code));
    return code;
}

template <typename Number>
void decode_to(Dtype dtype, const std::byte* tensor, std::int64_t index, std::span<Number> out) {
    const std::byte* from = tensor + index * bytes_of(dtype);
    switch (dtype) {
        case Dtype::fp32:
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = load<float>(from, i);
            }
            break;
        case Dtype::bf16:
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = bf16_to_float(load<std::uint16_t>(from, i));
            }
            break;
        case Dtype::fp16:
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = fp16_to_float(load<std::uint16_t>(from, i));
            }
            break;
    }
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
    if (dtype == Dtype::fp32) {
        std::memcpy(to, values.data(), values.size_bytes());
        return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t code = dtype == Dtype::bf16 ? bf16_from_float(values[i]) : fp16_from_float(values[i]);
        std::memcpy(to + i * sizeof(code), &code, sizeof(code));
    }
}

}  // namespace normtune
