// Descriptors of ops against tensors, bytes and contracts written out.
#include <string>

#include <gtest/gtest.h>

#include "problem/problem.h"

namespace normtune {
namespace {

struct Expected {
    Op op;
    Mode mode;
    const char* tensors;  // ">": output, "<>": in place, read and written over
    const char* in_place;
    int rows;     // tensors of rows × cols that the passes read or write
    int weights;  // of cols
    int values;   // of one fp32 value a row
};

constexpr Expected expected_ops[] = {
    {Op::rms_norm, Mode::forward, "x gamma >y >rstd", "x gamma >y >rstd", 2, 1, 1},
    {Op::rms_norm, Mode::backward, "x gamma dy rstd >dx >dgamma", "x gamma <>dy rstd >dgamma", 3, 2, 1},
    {Op::rms_norm, Mode::full, "x gamma dy >y >rstd >dx >dgamma", "x gamma <>dy >y >rstd >dgamma", 5, 3, 2},
    {Op::rms_norm, Mode::inference, "x gamma >y", "<>x gamma", 2, 1, 0},
    {Op::fused_add_rms_norm, Mode::forward, "x residual gamma >y >s >rstd", "x residual gamma >y >s >rstd", 4, 1, 1},
    {Op::fused_add_rms_norm, Mode::backward, "x gamma dy ds rstd >dx >dgamma", "x gamma <>dy ds rstd >dgamma", 4, 2, 1},
    {Op::fused_add_rms_norm, Mode::full, "x residual gamma dy ds >y >s >rstd >dx >dgamma", "x residual gamma <>dy ds >y >s >rstd >dgamma",
     8, 3, 2},
    {Op::fused_add_rms_norm, Mode::inference, "x residual gamma >y >s", "<>x <>residual gamma", 4, 1, 0},
};

std::string text(const std::vector<Tensor>& tensors) {
    std::string out;
    for (const Tensor& t : tensors) {
        out += out.empty() ? "" : " ";
        out += t.access == Access::in ? "" : t.access == Access::out ? ">" : "<>";
        out += tensor_names.name(t.role);
    }
    return out;
}

std::string without(std::string text, const std::string& word) {
    const std::size_t at = text.find(word);
    return at == std::string::npos ? text : text.erase(at, word.size());
}

void expect_tensors(const Problem& problem, const Expected& want) {
    const Operation& op = problem.operation;
    const Shape& shape = problem.shape;
    const std::vector<Tensor> found = tensors(problem);
    const std::string all = op.in_place ? want.in_place : want.tensors;
    EXPECT_EQ(text(found), op.affine ? all : without(without(all, " gamma"), " >dgamma"));
    std::int64_t span_bytes = 0;
    for (const Tensor& t : found) {
        const bool weight = t.role == TensorRole::gamma || t.role == TensorRole::dgamma;
        const bool value = t.role == TensorRole::rstd;
        EXPECT_EQ(t.dtype, weight ? op.weight_dtype : value ? Dtype::fp32 : op.dtype);
        EXPECT_EQ(t.rows, weight ? 1 : shape.rows);
        EXPECT_EQ(t.cols, value ? 1 : shape.cols);
        EXPECT_EQ(t.row_stride, value ? 1 : t.role == TensorRole::x ? shape.row_stride : shape.cols);
        EXPECT_EQ(t.shared(), t.role == TensorRole::gamma);
        const TensorRole over = t.role == TensorRole::dy ? TensorRole::dx : t.role == TensorRole::x ? TensorRole::y : TensorRole::s;
        EXPECT_EQ(t.result, t.access == Access::in_out ? over : t.role);
        EXPECT_EQ(op.holder_of(t.result), t.role);
        EXPECT_EQ(tensor_of(problem, t.role).span_bytes(), t.span_bytes());
        span_bytes += ((t.rows - 1) * t.row_stride + t.cols) * (t.dtype == Dtype::fp32 ? 4 : 2);
    }
    EXPECT_EQ(tensor_bytes(problem), span_bytes);
    const std::int64_t element = op.dtype == Dtype::fp32 ? 4 : 2;
    const std::int64_t weight = !op.affine ? 0 : op.weight_dtype == Dtype::fp32 ? 4 : 2;
    EXPECT_EQ(least_bytes(problem),
              want.rows * shape.rows * shape.cols * element + want.weights * shape.cols * weight + want.values * shape.rows * 4);
}

void expect_contract(const Operation& op) {
    const bool narrow = op.dtype != Dtype::fp32;
    const bool none = narrow && op.casting == Casting::none;
    const bool normal = narrow && op.casting != Casting::gemma;
    const RoundingContract contract{{.squares = none, .scale = none, .normal = normal, .gain = none},
                                    {.scale = none, .normal = normal, .gain = none, .gradient = none, .terms = none}};
    EXPECT_EQ(op.contract(), contract);
}

TEST(Ops, HaveTheTensorsAndBytesOfEachModeAndOption) {
    for (const Expected& want : expected_ops) {
        for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
            for (const Dtype weights : {dtype, Dtype::fp32}) {
                for (const Casting casting : {Casting::llama, Casting::gemma, Casting::none}) {
                    for (const ResidualPrecision residual : {ResidualPrecision::rounded, ResidualPrecision::fp32}) {
                        for (int options = 0; options < 4; ++options) {
                            Problem problem{{7, 12, 20}, {want.op, want.mode, dtype, casting, weights}, {}};
                            problem.operation.residual = residual;
                            problem.operation.affine = (options & 1) == 0;
                            problem.operation.in_place = (options & 2) != 0 && problem.operation.can_be_in_place();
                            problem.shape.row_stride = problem.operation.can_have_stride() ? 20 : 12;
                            SCOPED_TRACE(problem.key());
                            expect_tensors(problem, want);
                            expect_contract(problem.operation);
                        }
                    }
                }
            }
        }
    }
}

TEST(Ops, AnswerWhatBackendsAsk) {
    const auto operation = [](const char* key) { return parse_problem_key(key).operation; };
    const Operation plain = operation("rms_norm/full/bf16/llama/8x8");
    const Operation fused = operation("fused_add_rms_norm/full/bf16/llama/8x8");
    EXPECT_FALSE(plain.adds_residual());
    EXPECT_TRUE(fused.adds_residual());
    EXPECT_TRUE(operation("fused_add_rms_norm/backward/bf16/llama/8x8").adds_residual());
    EXPECT_EQ(plain.row_inputs(false), 1);
    EXPECT_EQ(plain.row_inputs(true), 2);
    EXPECT_EQ(fused.row_inputs(false), 2);
    EXPECT_EQ(fused.row_inputs(true), 3);
    EXPECT_EQ(plain.backward_input(), TensorRole::x);
    EXPECT_EQ(fused.backward_input(), TensorRole::s);
    EXPECT_EQ(operation("fused_add_rms_norm/backward/bf16/llama/8x8").backward_input(), TensorRole::x);
    EXPECT_FALSE(operation("rms_norm/backward/bf16/llama/8x8/weightless").has(TensorRole::dgamma));
    EXPECT_FALSE(operation("rms_norm/forward/bf16/llama/8x8").has(TensorRole::dgamma));
    EXPECT_TRUE(operation("rms_norm/backward/bf16/llama/8x8/in_place").has(TensorRole::dx));
    EXPECT_TRUE(operation("rms_norm/inference/bf16/llama/8x8/in_place").has(TensorRole::y));
    EXPECT_FALSE(operation("rms_norm/inference/bf16/llama/8x8").has(TensorRole::rstd));
    EXPECT_EQ(operation("fused_add_rms_norm/full/bf16/llama/8x8/in_place").holder_of(TensorRole::y), TensorRole::y)
        << "its backward reads x";
    EXPECT_THROW(tensor_of(parse_problem_key("rms_norm/full/bf16/llama/8x8"), TensorRole::s), std::logic_error);
}

TEST(Ops, StandInTheOrderOfTheirEnumeration) {
    EXPECT_EQ(descriptor_of(Op::rms_norm).name, "rms_norm");
    EXPECT_EQ(descriptor_of(Op::fused_add_rms_norm).name, "fused_add_rms_norm");
    for (const OpDescriptor& op : op_registry) {
        EXPECT_EQ(op.liger_kernel, op.name);
        for (std::size_t i = 1; i < op.tensors.size(); ++i) {
            EXPECT_LT(op.tensors[i - 1].role, op.tensors[i].role) << op.name;
        }
    }
}

TEST(Dtypes, StandInTheOrderOfTheirEnumeration) {
    EXPECT_EQ(row_of(Dtype::fp32).torch_name, "torch.float32");
    EXPECT_EQ(row_of(Dtype::bf16).torch_name, "torch.bfloat16");
    EXPECT_EQ(row_of(Dtype::fp16).torch_name, "torch.float16");
    for (const DtypeRow& row : dtype_rows) {
        EXPECT_EQ(row.poison & row.exponent, row.exponent) << row.name << ": the poison is a NaN";
    }
    EXPECT_THROW(bytes_of(static_cast<Dtype>(dtype_rows.size())), std::out_of_range);
    EXPECT_THROW(with_dtype(static_cast<Dtype>(dtype_rows.size()), []<Dtype T>() { return bytes_of(T); }), std::logic_error);
}

}  // namespace
}  // namespace normtune
