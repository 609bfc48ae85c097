#!/usr/bin/env python3
"""How time and memory of a likelihood of SNPs grow with individuals and reticulations.

    bench/snp_sizes.py --programs build/host-clang/bin [--species 14] [--reticulations 3] [--networks 3] [--memory GB]
                       [--output FILE]

Networks of the birth-hybridization process with 0, 1, ... reticulations, so many of each; 1000 polymorphic sites of 2, 6 and 20
diploids of every species; one evaluation on one thread, processor time and peak memory of the whole process. Prints a table
in Markdown: the range over the networks. What needs more than --memory is refused by the program and counted.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())


def networks(programs, folder, species, wanted, most):
    """Of each number of reticulations up to `most`, `wanted` networks."""
    names = ",".join(f"S{i + 1}" for i in range(species))
    path = os.path.join(folder, "networks.nwk")
    subprocess.run([os.path.join(programs, "quintet-snp-simulate"), "--species", names, "--max-reticulations", str(most),
                    "--networks", "400", "--seed", "1", "--output-networks", path, "--prior", "netdiv = fixed(20)",
                    "--prior", "turnover = fixed(0.2)", "--prior", "origin = fixed(0.2)", "--prior",
                    "theta = common fixed(0.01)", "--prior", "pi1 = fixed(0.5)", "--quiet"], check=True)
    found = {r: [] for r in range(most + 1)}
    for line in open(path, encoding="utf-8"):
        count = line.count("#") // 2
        if line.strip() and count in found and len(found[count]) < wanted:
            found[count].append(line.strip())
    return found


def measure(programs, folder, network, copies, memory):
    """(seconds, bytes) of one evaluation, or None where it is refused."""
    data, result = os.path.join(folder, "data.csv"), os.path.join(folder, "result.json")
    with open(os.path.join(folder, "network.nwk"), "w", encoding="utf-8") as file:
        file.write(network)
    subprocess.run([os.path.join(programs, "quintet-snp-simulate"), "--network", file.name, "--copies", str(copies),
                    "--sites", "1000", "--polymorphic-only", "--seed", "1", "--theta", "0.01", "--output", data, "--quiet"],
                   check=True)
    if os.path.exists(result):
        os.remove(result)
    child = subprocess.Popen([os.path.join(programs, "quintet-snp-likelihood"), "--data", data, "--network", file.name,
                              "--theta", "0.01", "--u", "1", "--v", "1", "--memory", str(memory), "--threads", "1", "--json",
                              result, "--quiet"], stderr=subprocess.PIPE, text=True)
    message = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        if any(words in message for words in ("more than the limit", "out of reach", "combinations of lineage numbers")):
            return None
        sys.exit(message)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, json.load(open(result))["results"]["largest_group"]


def span(values, form):
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, help="folder of the programs")
    parser.add_argument("--species", type=int, default=14)
    parser.add_argument("--reticulations", type=int, default=3, help="at most")
    parser.add_argument("--networks", type=int, default=3, help="of each number of reticulations")
    parser.add_argument("--memory", type=float, default=6, help="GB that an evaluation may take")
    parser.add_argument("--output", help="writes the table there")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count, all_of in networks(options.programs, folder, options.species, options.networks,
                                      options.reticulations).items():
            for diploids in (2, 6, 20):
                found = [measure(options.programs, folder, one, 2 * diploids, options.memory) for one in all_of]
                done = [one for one in found if one]
                print(count, diploids, found, file=sys.stderr, flush=True)
                rows.append((count, diploids, done, len(found) - len(done)))
    out = f"One evaluation, {options.species} species, 1000 sites, one thread of: {processor()}.\n\n"
    out += "| reticulations | diploids per species | largest group, states | seconds | MB | refused |\n|---|---|---|---|---|---|\n"
    for count, diploids, done, refused in rows:
        cells = [span([d[2] for d in done], "d"), span([d[0] for d in done], ".2g"), span([d[1] / 1e6 for d in done], ".0f")] if done \
            else ["", "", ""]
        out += f"| {count} | {diploids} | " + " | ".join(cells) + f" | {refused} of {refused + len(done)} |\n"
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(out)
    print(out)


main()
