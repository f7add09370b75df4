#include "kernels/cpu/element.h"

#include "support/float_formats.h"

namespace normtune::cpu {

float to_float(bf16 value) {
    return bf16_to_float(value.bits);
}

bf16 to_bf16(float value) {
    return {bf16_from_float(value)};
}

float to_float(fp16 value) {
    return fp16_to_float(value.bits);
}

fp16 to_fp16(float value) {
    return {fp16_from_float(value)};
}

}  // namespace normtune::cpu
