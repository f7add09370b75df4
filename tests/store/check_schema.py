#!/usr/bin/python3
"""Checks results.json and journal.jsonl against the schema, and the schema against broken results.

usage: check_schema.py SCHEMA RESULTS [JOURNAL]        exit code 0: all fits; 1: something does not; 3: no jsonschema
"""
import copy
import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("check_schema.py needs the module jsonschema (Debian: apt-get install python3-jsonschema)")


def closed(node):
    """The schema with no member allowed that it does not describe: nothing is written undescribed."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: closed(value) for key, value in node.items()}
    if node.get("type") == "object" and "properties" in node:
        out["additionalProperties"] = False
    return out


def undescribed(node, path="#"):
    """Members of objects that have no description of their own."""
    if not isinstance(node, dict):
        return
    for name, member in node.get("properties", {}).items():
        structured = member.get("type") == "object" or "$ref" in member
        if "description" not in member and not structured:
            yield f"{path}/{name}"
    for key, value in node.items():
        for child in value if isinstance(value, list) else [value]:
            yield from undescribed(child, f"{path}/{key}")


def leaves(node, path=()):
    if isinstance(node, (dict, list)) and node:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(value, path + (key,))
    else:
        yield path


def replaced(document, path, value):
    out = copy.deepcopy(document)
    place = out
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return out


def main():
    schema_path, results_path, *journal_path = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    failures = [f"{place} has no description" for place in undescribed(schema)]
    strict = closed(schema)
    validator = jsonschema.Draft202012Validator(strict)

    with open(results_path, encoding="utf-8") as file:
        results = json.load(file, parse_constant=lambda word: failures.append(f"{results_path}: {word} is not JSON"))
    failures += [f"{results_path}: {error.json_path}: {error.message[:200]}" for error in validator.iter_errors(results)]

    if journal_path:
        line_validator = jsonschema.Draft202012Validator({"$defs": strict["$defs"], "$ref": "#/$defs/journal_line"})
        with open(journal_path[0], encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                failures += [f"{journal_path[0]}:{number}: {error.json_path}: {error.message[:200]}"
                             for error in line_validator.iter_errors(json.loads(line))]

    # A schema that accepts anything would pass all of the above: it has to refuse each value of a wrong type. The
    # empty array in `leaves` is one that stays valid when it is replaced by itself.
    small = dict(results, records=results["records"][:1])
    broken = 0
    for path in leaves(small):
        wrong = {} if replaced(small, path, []) == small else []
        broken += 1
        if validator.is_valid(replaced(small, path, wrong)):
            failures.append(f"the schema accepts {json.dumps(wrong)} at {'/'.join(map(str, path))}")

    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    if not failures:
        print(f"{len(results['records'])} records fit; {broken} broken documents are refused")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
