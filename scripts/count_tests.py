#!/usr/bin/env python3
"""Prints which tests of a JUnit report that ctest wrote failed, which were skipped and why, and how many; fails where no test ran.

    scripts/count_tests.py REPORT
    scripts/count_tests.py --leak-checker-crashed REPORT    exit code 0: all that failed passed, and then LeakSanitizer's own tracer crashed
                                                            (GCC 12's does now and then in a process that had loaded NVRTC)
"""

import sys
import xml.etree.ElementTree as xml


def why_skipped(case):
    """The words of GTEST_SKIP, which follow a line that ends in 'Skipped', or the last line that the test printed."""
    output = case.findtext("system-out") or ""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line, reason in zip(lines, lines[1:]):
        if line.endswith(": Skipped"):
            return reason
    return lines[-1] if lines else case.find("skipped").get("message", "")


def leak_checker_crashed(case):
    output = case.findtext("system-out") or ""
    return "LeakSanitizer has encountered a fatal error" in output and "[  PASSED  ]" in output and "[  FAILED  ]" not in output


def main():
    cases = list(xml.parse(sys.argv[-1]).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.get("status") == "fail"]
    skipped = [case for case in cases if case.find("skipped") is not None]
    if sys.argv[1] == "--leak-checker-crashed":
        for case in filter(leak_checker_crashed, failed):
            print(f"LeakSanitizer's tracer crashed after the test had passed, which is run again, three times at most: {case.get('name')}")
        return 0 if failed and all(map(leak_checker_crashed, failed)) else 1
    for case in failed:
        print(f"failed: {case.get('name')}")
    for case in skipped:
        print(f"skipped: {case.get('name')}: {why_skipped(case)}")
    print(f"{len(cases) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 0 if cases else 1


if __name__ == "__main__":
    sys.exit(main())
