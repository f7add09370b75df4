// RMSNorm forward in bf16, a program a row: rstd = 1/sqrt(mean(x²) + eps), y = T(T(x · rstd) · gamma).
// Its macros are what launch.json says: the columns COLS and three tunables.
//   THREADS  of a program
//   VECTOR   elements that a thread takes at once
//   KEEP     1: the row waits in registers for its sum; 0: it is read again, from cache

struct alignas(2 * VECTOR) Pack {
    unsigned short of[VECTOR];
};

__device__ float widened(unsigned short bits) {
    return __uint_as_float(static_cast<unsigned>(bits) << 16);
}

// To the nearest, ties to even.
__device__ unsigned short narrowed(float v) {
    const unsigned bits = __float_as_uint(v);
    return static_cast<unsigned short>(v != v ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

__device__ float sum_of_program(float v) {
    constexpr int warps = THREADS / 32;
    __shared__ float of_warp[warps];
    for (int lane = 16; lane > 0; lane /= 2) {
        v += __shfl_xor_sync(0xffffffffu, v, lane);
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = v;
    }
    __syncthreads();
    float sum = 0;
    for (int warp = 0; warp < warps; ++warp) {
        sum += of_warp[warp];
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    rms_norm(const Pack* x, const Pack* gamma, Pack* y, float* rstd, long long row_stride, float eps) {
    constexpr int packs = COLS / VECTOR;
    constexpr int rounds = (packs + THREADS - 1) / THREADS;
    const long long row = blockIdx.x;
    const Pack* from = x + row * (row_stride / VECTOR);
    Pack* to = y + row * packs;
    Pack kept[KEEP ? rounds : 1];
    float squares = 0;
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
        const int at = round * THREADS + threadIdx.x;
        if (at < packs) {
            Pack& pack = kept[KEEP ? round : 0];
            pack = from[at];
            for (int i = 0; i < VECTOR; ++i) {
                squares += widened(pack.of[i]) * widened(pack.of[i]);
            }
        }
    }
    const float scale = rsqrtf(sum_of_program(squares) / COLS + eps);
    if (threadIdx.x == 0) {
        rstd[row] = scale;
    }
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
        const int at = round * THREADS + threadIdx.x;
        if (at < packs) {
            Pack pack = KEEP ? kept[KEEP ? round : 0] : from[at];
            const Pack gain = gamma[at];
            for (int i = 0; i < VECTOR; ++i) {
                pack.of[i] = narrowed(widened(narrowed(widened(pack.of[i]) * scale)) * widened(gain.of[i]));
            }
            to[at] = pack;
        }
    }
}
