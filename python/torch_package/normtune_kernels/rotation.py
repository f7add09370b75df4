"""How many calls a sample is made of, and over how many sets of tensors: as `normtune sweep` has it on a GPU. Without PyTorch."""

SAMPLE_US = 400  # so that a graph's start and the two events weigh little
MOST_CALLS = 256
MOST_SETS = 512
OVER_CACHE = 32  # bytes of all sets over those of the last-level cache,
OF_MEMORY = 8  # but no more than this part of the memory,
LEAST_OVER_CACHE = 4  # where it is over so many times the cache
ALIGNED = 512


def tensors(mode, rows, cols, element):
    """Bytes of what each call has for itself, and of gamma, which all share. `element`: bytes of an element."""
    row_wise, scales = rows * cols * element, 4 * rows
    return ([row_wise, row_wise, scales] if mode == "forward" else [row_wise, row_wise, row_wise, scales, cols * element]), cols * element


def set_bytes(mode, rows, cols, element):
    """Of a set of inputs and outputs."""
    return sum(-(-size // ALIGNED) * ALIGNED for size in tensors(mode, rows, cols, element)[0])


def sets(of_one, cache_bytes, memory_bytes):
    """Sets that calls rotate over."""
    wanted = max(LEAST_OVER_CACHE * cache_bytes, min(OVER_CACHE * cache_bytes, memory_bytes // OF_MEMORY))
    return min(MOST_SETS, max(2, -(-wanted // of_one)))


def calls(mode, rows, cols, element, bytes_a_us, measured_us):
    """Of a sample: by what the least bytes take at the memory's own rate; a call that takes four times as long has a quarter of it."""
    own, shared = tensors(mode, rows, cols, element)
    expected_us = (4 if mode == "forward" else 6) + (sum(own) + shared) / bytes_a_us
    while measured_us >= 4 * expected_us:
        expected_us *= 4
    return max(1, min(MOST_CALLS, int(-(-SAMPLE_US // expected_us))))


def stays_cold(of_one, count, calls, cache_bytes):
    """Are enough bytes touched between two uses of a set, where calls are sampled in turn? Else the cache is emptied before each sample."""
    between = min(count, *(launched for _, launched in windows(count, calls)))
    return of_one * between >= LEAST_OVER_CACHE * cache_bytes


def windows(count, calls):
    """(first set, calls) of successive samples over `count` sets: whole turns, or parts of one of much the same size."""
    parts = -(-count // calls)
    if parts == 1:
        return [(0, -(-calls // count) * count)]
    return [(count * i // parts, count * (i + 1) // parts - count * i // parts) for i in range(parts)]
