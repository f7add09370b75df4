#!/usr/bin/env python3
"""The JUnit XML of gate is what CI servers read: the elements, attributes and order of the usual schema (Jenkins' junit-10.xsd),
and counts that agree with the cases."""

import argparse
import sys
import xml.etree.ElementTree as tree

import harness

REPLAY = "--backend replay --replay-script"
SELECTION = "--shapes shapes.yaml --space space.yaml --tokens 20000,400000"
SWEEPS = " && ".join(
    f"normtune sweep --strategy exhaustive {SELECTION} {REPLAY} {script} --quiet --out {name} >/dev/null"
    for script, name in (("replay.yaml", "before"), ("replay_slower.yaml", "slower"))
)
GATES = [
    (f"{SWEEPS} && normtune gate --baseline before --candidate slower --policy policy.yaml --junit gate.xml", 1),
    ("normtune gate --baseline liger_before.csv --candidate liger_after.csv --junit gate.xml", 1),
]
# Element: attributes that it must have, those that it may have, children.
SCHEMA = {
    "testsuites": ({"tests", "failures"}, {"name", "time", "disabled", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "hostname", "id", "package"},
        {"testcase", "properties", "system-out", "system-err"},
    ),
    "testcase": ({"name"}, {"classname", "time", "assertions", "status"}, {"failure", "skipped", "error"}),
    "failure": (set(), {"message", "type"}, set()),
    "system-out": (set(), set(), set()),
    "skipped": (set(), {"message", "type"}, set()),
}


def faults(element):
    required, optional, children = SCHEMA[element.tag]
    attributes = set(element.attrib)
    if not required <= attributes <= required | optional:
        yield f"<{element.tag}> has {sorted(attributes)}"
    for child in element:
        if child.tag not in children:
            yield f"<{child.tag}> in <{element.tag}>"
        else:
            yield from faults(child)
    counts = {"tests": "testcase", "failures": "failure", "skipped": "skipped"}
    for attribute, tag in counts.items():
        if attribute in attributes and int(element.get(attribute)) != len(list(element.iter(tag))):
            yield f"<{element.tag} {attribute}={element.get(attribute)}> holds {len(list(element.iter(tag)))}"
    names = [(case.get("classname"), case.get("name")) for case in element if case.tag == "testcase"]
    if len(names) != len(set(names)):
        yield "two cases of one name"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    wrong = []
    for command, code in GATES:
        with harness.Folder(arguments.normtune) as folder:
            result = folder.run(command)
            root = tree.parse(folder.work / "gate.xml").getroot()
        if root.tag != "testsuites" or result.returncode != code:
            wrong.append(f"<{root.tag}>, exit code {result.returncode}: {result.stderr.decode()}")
        wrong += faults(root)
        if not list(root.iter("failure")) or not list(root.iter("skipped")):
            wrong.append("neither failures nor skipped cases to look at")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
