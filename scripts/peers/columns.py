"""Liger-Kernel's benchmark columns, as normtune's liger.csv has them: what both peers' and normtune's rows are matched by."""

import json
import statistics

HEADER = ["kernel_name", "kernel_provider", "kernel_operation_mode", "metric_name", "metric_unit", "x_name", "x_label",
          "x_value", "y_value_50", "y_value_20", "y_value_80", "extra_benchmark_config_str", "gpu_name", "timestamp",
          "liger_version"]


def parse_shape(text):
    """"8192x4096" → (8192, 4096)."""
    rows, separator, cols = text.partition("x")
    if not (separator and rows.isdigit() and cols.isdigit() and int(rows) > 0 and int(cols) > 0):
        raise SystemExit(f"a shape reads ROWSxCOLS, like 8192x4096; '{text}' does not")
    return int(rows), int(cols)


def quantiles(samples):
    """p20, p50, p80, interpolated between samples."""
    if len(samples) == 1:
        return (samples[0],) * 3
    cuts = statistics.quantiles(samples, n=10, method="inclusive")
    return cuts[1], statistics.median(samples), cuts[7]


def row(op, provider, mode, rows, cols, dtype, eps, samples_us, gpu, timestamp, version):
    p20, p50, p80 = (value / 1000 for value in quantiles(samples_us))
    config = json.dumps({"M": rows, "dtype": f"torch.{dtype}", "eps": eps})
    return [op, provider, mode, "speed", "ms", "H", "hidden size", cols, f"{p50:.7f}", f"{p20:.7f}", f"{p80:.7f}", config,
            gpu, timestamp, version]
