"""The innermost loops of kernels, from the PTX that the device link made (see --assembly of check_resources)."""
import dataclasses
import re


@dataclasses.dataclass
class Loop:
    """Numbers of PTX instructions: all; of these floating-point, to and from team memory, to and from other memory."""
    instructions: int = 0
    arithmetic: int = 0
    shared: int = 0
    memory: int = 0


ARITHMETIC = re.compile(r"(fma|mad|mul|add|sub)(\.rn)?(\.ftz)?\.(f32|f64)\b")


def loop_of(lines):
    loop = Loop()
    for line in lines:
        words = line.split()
        operation = words[1] if words[0].startswith("@") else words[0]
        loop.instructions += 1
        loop.arithmetic += bool(ARITHMETIC.match(operation))
        loop.shared += operation.startswith(("ld.shared", "st.shared"))
        loop.memory += operation.startswith(("ld.global", "st.global", "ld.u", "st.u", "ld.f", "st.f", "ld.v", "st.v"))
    return loop


def innermost(body):
    """The innermost loops of one kernel: from a label to the last branch back to it, without such a loop inside."""
    code, labels, ranges = [], {}, {}
    for line in body:
        line = line.split("//")[0].strip()
        if match := re.fullmatch(r"(\$L\w+):", line):
            labels[match.group(1)] = len(code)
        elif line.endswith(";") and not line.startswith("."):
            if (match := re.search(r"\bbra(?:\.uni)?\s+(\$L\w+);", line)) and match.group(1) in labels:
                ranges[labels[match.group(1)]] = len(code) + 1
            code.append(line)
    for begin, end in ranges.items():
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in ranges.items()):
            yield loop_of(code[begin:end])


def heaviest_loops(path):
    """Symbol of a kernel -> its innermost loop with the most floating-point operations, or with the most instructions."""
    found, symbol, body = {}, None, []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if match := re.search(r"\.entry (\w+)\(", line.replace("$", "_DOLLAR_")):
                symbol, body = match.group(1).replace("_DOLLAR_", "$"), []
            elif symbol and line.startswith("}"):
                loops = list(innermost(body))
                if loops:
                    found[symbol] = max(loops, key=lambda loop: (loop.arithmetic, loop.instructions))
                symbol = None
            elif symbol:
                body.append(line)
    return found
