#!/usr/bin/env python3
"""Prints 'N passed, N failed, N skipped' of a JUnit report that ctest wrote; fails where no test ran."""

import sys
import xml.etree.ElementTree as xml


def main():
    cases = list(xml.parse(sys.argv[1]).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.get("status") == "fail"]
    skipped = [case for case in cases if case.find("skipped") is not None]
    for case in failed:
        print(f"failed: {case.get('name')}")
    for case in skipped:
        print(f"skipped: {case.get('name')}: {case.find('skipped').get('message', '')}")
    print(f"{len(cases) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 0 if cases else 1


if __name__ == "__main__":
    sys.exit(main())
