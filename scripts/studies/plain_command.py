"""A recorded command without the paths of the machine that ran it, for files that are shipped."""


def plain_command(words, name):
    plain = ["normtune", *words[1:]]
    for option, value in (("--out", f"measured/{name}"), ("--python", "python3")):
        if option in plain:
            plain[plain.index(option) + 1] = value
    return plain
