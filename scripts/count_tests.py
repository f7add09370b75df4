#!/usr/bin/env python3
"""Prints which tests of a JUnit report that ctest wrote failed, which were skipped and why (those of one suite for one reason in a line), and how
many; fails where no test ran.

    scripts/count_tests.py REPORT
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


def main():
    cases = list(xml.parse(sys.argv[1]).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.get("status") == "fail"]
    skipped = [case for case in cases if case.find("skipped") is not None]
    for case in failed:
        print(f"failed: {case.get('name')}")
    alike = {}
    for case in skipped:
        name = case.get("name").split("  #")[0]
        suite = ".".join(name.split(".")[:2])  # a folder's test executable, a suite
        alike.setdefault((suite, why_skipped(case)), []).append(name)
    for (suite, reason), names in alike.items():
        print(f"skipped: {names[0] if len(names) == 1 else f'{len(names)} of {suite}'}: {reason}")
    print(f"{len(cases) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 0 if cases else 1


if __name__ == "__main__":
    sys.exit(main())
