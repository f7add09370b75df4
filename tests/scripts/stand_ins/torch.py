from tensors import Tensor

float32 = "fp32"


def empty(*shape, dtype, device):
    assert device == Tensor.device
    return Tensor("parts", shape, dtype)
