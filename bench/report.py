#!/usr/bin/env python3
"""Writes docs/performance.md, and the table of families in README.md, from the tables of bench/results; and the tables of
errors in the pages of the families from tests/accuracy/baseline.json.

    bench/report.py             writes all of them
    bench/report.py --check     fails (exit status 1) when a figure of bench/results is another one in README or performance

No figure is typed twice: what stands in these pages was measured, and is in bench/results with machine, date and command.
"""
import argparse
import json
import os
import re
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- bench/report.py: begin -->", "<!-- bench/report.py: end -->"
NOT_MEASURED = "not measured"


def read(name):
    with open(os.path.join(ROOT, "bench", "results", name), encoding="utf-8") as file:
        return file.read()


def table(name, first):
    """Rows of the table in results/NAME whose heading begins with `first`, as dictionaries."""
    lines = read(name).split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"| {first}"))
    cells = lambda line: [c.strip() for c in line.strip().strip("|").split("|")]  # noqa: E731
    rows = []
    for line in lines[begin + 2:]:
        if not line.startswith("|"):
            return [named(cells(lines[begin]), row) for row in rows]
        rows.append(cells(line))
    return [named(cells(lines[begin]), row) for row in rows]


def named(columns, row):
    """A row by the names of its columns; a name that comes again gets its place: "x numpy", "x numpy 5"."""
    names = [c if c not in columns[:i] else f"{c} {i}" for i, c in enumerate(columns)]
    return dict(zip(names, row))


def number(text):
    return float(re.match(r"[\d.]+", text.strip("*"))[0])


def short(value):
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def machine(facts):
    """compare.py's line of facts in words."""
    processor = facts.split(" Ceilings")[0]
    rates = {}
    for name, rate, unit in re.findall(r"([\w<>]+), threads \d+: ([\d.]+) (\w+/s)", facts):
        rates.setdefault((name, unit), []).append(rate)
    words = {"multiply_adds<float>": "multiply-adds in float", "multiply_adds<double>": "in double", "stream": "memory"}
    return processor + " Measured in the same run, on one and two threads: " + ", ".join(
        f"{words.get(name, name)} {' and '.join(values)} {unit}" for (name, unit), values in rates.items()) + "."


class Figures:
    def __init__(self):
        peers = table("peers.md", "family")
        # Ours beside ours is no peer.
        self.peers = [row for row in peers if not row["peer"].startswith("our ")]
        self.own = [row for row in peers if row["peer"].startswith("our full")]
        self.products = [row for row in table("spgemm.md", "matrix") if not row["matrix"].startswith("geometric")]
        self.svd = table("svd.md", "type, n")
        self.symmetric = table("svd.md", "type, rows")
        self.few = table("few_dimensions.md", "task | peer")
        self.snp = table("snp.md", "case | patterns")
        self.facts = machine(re.search(r"compare.py: begin -->\n(.*)", read("peers.md"))[1])

    def best(self, family, task=None):
        """For every task of the family, the row of the fastest peer."""
        best = {}
        for row in self.peers:
            if row["family"] != family or (task is not None and task not in row["task"]):
                continue
            if row["task"] not in best or number(row["peer / ours"]) < number(best[row["task"]]["peer / ours"]):
                best[row["task"]] = row
        return list(best.values())

    def few_ratios(self, peer):
        """The least and the largest ratio of wall times in few dimensions, in words."""
        ratios = sorted(number(r["ratio, wall"]) for r in self.few if peer in r["peer"] and " 384," not in r["task"])
        return f"{short(ratios[0])}–{short(ratios[-1])}×"

    def one_thread_ratios(self, peer):
        """The least and the largest ratio of CPU seconds in few dimensions on one thread."""
        ratios = sorted(number(r["peer / ours"]) for r in self.peers if r["family"] == "few_dimensions" and peer in r["peer"])
        return f"{short(ratios[0])}–{short(ratios[-1])}×"


WHAT = {"eigh": "w, V", "eigvalsh": "w"}  # names of compare.py


def family_of(row):
    """The family of README that a row of peers.md belongs to."""
    if row["family"] == "few_dimensions":
        return "neighbours" if "nearest" in row["task"] else "hdbscan"
    parts = {"svd_shapes": "svd", "sparse": "spgemm", "scipy": "spgemm", "sweep": "hdbscan", "hyperbolic": "poincare",
             "bits": "neighbours"}
    return parts.get(row["family"], row["family"])


def losses(figures):
    """(family, task, peer, ratio) of everything in which another program is faster."""
    found = [(family_of(row), row["task"], row["peer"], number(row["peer / ours"]))
             for row in figures.peers if number(row["peer / ours"]) < 1]
    # What stands in peers.md is newer than the other tables.
    told = {row["task"].removesuffix(", 1 thread") for row in figures.peers}
    squares = {m[1] for task in told if (m := re.match(r"square of ([^,]+),", task))}
    for row in figures.svd:
        for column, peer in (("x gesdd", "OpenBLAS gesdd"), ("x gesvj", "OpenBLAS gesvj"), ("x Eigen Jacobi", "Eigen JacobiSVD"),
                             ("x Eigen BDC", "Eigen BDCSVD")):
            kind, n = row["type, n"].split()
            task = f"U, S, V of {n} x {n} {kind}"
            if row[column] != "-" and number(row[column]) < 1 and task not in told:
                found.append(("svd", f"{task}, 1 thread", peer, number(row[column])))
    for row in figures.symmetric:
        kind, n = row["type, rows"].split()
        for column, what, peer in ((2, "eigh", "numpy"), (3, "eigh", "torch"), (5, "eigvalsh", "numpy"), (6, "eigvalsh", "torch")):
            task, ratio = f"{WHAT[what]} of symmetric {n} x {n} {kind}", number(list(row.values())[column])
            if ratio < 1 and task not in told:
                found.append(("svd", f"{task}, 1 thread", peer, ratio))
    for row in figures.products:
        for column, peer in (("GraphBLAS, 1", "SuiteSparse:GraphBLAS"), ("Eigen", "Eigen")):
            if number(row[column]) < 1 and row["matrix"] not in squares:
                found.append(("spgemm", f"square of {row['matrix']} ({row['products']} products)", peer, number(row[column])))
    for row in figures.few:
        if number(row["ratio, wall"]) < 1:
            family = "neighbours" if "nearest" in row["task"] else "hdbscan"
            found.append((family, row["task"], row["peer"], number(row["ratio, wall"])))
    return sorted(found)


TOLD = 3  # tasks of one peer that README names


def lost(figures, family, otherwise):
    """The column "loses": every program that is faster somewhere, with the least and the largest of its ratios."""
    by_peer = {}
    for where, task, peer, ratio in losses(figures):
        if where == family:
            by_peer.setdefault(peer, []).append((1 / ratio, task))
    if not by_peer:
        return otherwise
    parts = []
    for peer, found in sorted(by_peer.items()):
        times, tasks = [t for t, _ in found], [task for _, task in sorted(found, reverse=True)]
        span = f"{min(times):.2f}" + (f" to {max(times):.2f}" if len(times) > 1 else "")
        more = len(tasks) - TOLD
        parts.append(f"`{peer}` is {span} times as fast: " + "; ".join(tasks[:TOLD] if more > 1 else tasks) + (
            f" and [{more} more](docs/performance.md#where-others-are-faster)" if more > 1 else ""))
    return ". ".join(parts)


def readme_table(f):
    clustering = f.best("hdbscan", "exact clustering")[0]
    ball = f.best("poincare")[0]
    # Beside the fastest of the other programs, whichever that is.
    small = [number(row["peer / ours"]) for n in (8, 32) for row in f.best("svd", f"U, S, V of {n} x {n} ")]
    squares = [number(row["peer / ours"]) for row in f.best("spgemm", ", 1 thread")]
    ratios = [number(row["peer / ours"]) for row in f.own if "a quarter" in row["task"]]
    spread = lambda row: row["min to max"].replace(" to ", "–")  # noqa: E731
    rows = [
        ("[hdbscan](docs/hdbscan.md)", "exact HDBSCAN* of embeddings, prediction, soft clustering, validity",
         f"`hdbscan`, brute force: **{number(clustering['peer / ours']):.1f}×** ({spread(clustering)}) at 5000 x 384; "
         f"in 2 to 10 dimensions `fast_hdbscan`: **{f.few_ratios('fast_hdbscan')}**, oneDAL: {f.few_ratios('oneDAL')}, "
         f"`hdbscan-rs` on one thread: {f.one_thread_ratios('hdbscan-rs')}",
         lost(f, "hdbscan", "none measured") + ". Approximate programs were not compared"),
        ("[neighbours](docs/neighbours.md)", "exact k nearest neighbours and radius graphs",
         f"SciPy's `cKDTree`: **{f.few_ratios('cKDTree')}** in 2 to 5 dimensions",
         lost(f, "neighbours", "none measured") + "; uniform noise in 10 or more dimensions costs all pairs"),
        ("[svd](docs/svd.md)", "batches of SVDs and symmetric eigenproblems, tall matrices, randomised SVD, gradients",
         f"fastest of `numpy`, `torch`, OpenBLAS and Eigen: **{short(min(small))}–{short(max(small))}×** for n = 8 and 32",
         lost(f, "svd", "none measured")),
        ("[spgemm](docs/spgemm.md)", "sparse products over semirings, masks, plans; SciPy's `@`",
         f"fastest of MKL, SuiteSparse:GraphBLAS, Eigen and SciPy: **{statistics.geometric_mean(squares):.1f}×**, geometric mean "
         f"of {len(squares)} squares ({min(squares):.1f}–{max(squares):.1f}×, 1 thread)",
         lost(f, "spgemm", "none measured")),
        ("[poincare](docs/poincare.md)", "distances, neighbours, operations and gradients of the Poincaré ball; the Lorentz model",
         f"NumPy: **{number(ball['peer / ours']):.1f}×** ({spread(ball)}) at 1000 x 1000 x 64", lost(f, "poincare", "none measured")),
        ("[snp](docs/snp.md)", "likelihood of SNPs on phylogenetic networks, gradients, search, MCMC",
         "not on one machine; a proposed branch costs "
         f"1/{max(ratios):.1f} to 1/{min(ratios):.1f} of an evaluation", "many individuals below a reticulation: "
         "[how large can it be](docs/snp.md#how-large-can-it-be)"),
    ]
    lines = ["| family | computes | times as fast as the best peer | loses |", "|---|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def performance(f):
    lines = [
        "# Performance", "",
        "`bench/report.py` generates this page from `bench/results`, and a test compares them. Every figure was measured on the",
        "machine named; the detailed pages have the commands.", "",
        f"{f.facts} The machine is virtual and shared, so single times mean little; the page has ratios of interleaved runs.",
        "**No GPU has run this yet**: the GPU columns stay empty until one has.", "",
        "## Best peer", "",
        "The table compares quintet with the fastest of the other programs measured ([all of them](../bench/results/peers.md)).",
        "Above 1 quintet is faster; the range is that of the rounds.", "",
        "| family | task | quintet, ms | best peer | ratio | range | GPU, ms |", "|---|---|---|---|---|---|---|"]
    for family in ("hdbscan", "sweep", "neighbours", "bits", "poincare", "hyperbolic", "spgemm", "scipy", "sparse", "svd",
                   "svd_shapes"):
        for row in f.best(family):
            lines.append(f"| {family} | {row['task']} | {row['ours, ms']} | {row['peer']} | {row['peer / ours']} | "
                         f"{row['min to max']} | {NOT_MEASURED} |")
    lines += ["", "## Where others are faster", "", "| family | task | program | ratio |", "|---|---|---|---|"]
    lines += [f"| {family} | {task} | {peer} | {ratio:.2f} |" for family, task, peer, ratio in losses(f)]
    lines += ["", "## Few dimensions", "",
              "Points are in float. Times of quintet include reading and writing files; those of the peers do not.",
              "[few_dimensions](../bench/results/few_dimensions.md) describes points and peers.", "",
              "| task | quintet, CPU s | peer | peer, CPU s | ratio, CPU | ratio, wall | GPU |", "|---|---|---|---|---|---|---|"]
    for row in f.few:
        lines.append(f"| {row['task']} | {row['ours, CPU s']} | {row['peer']} | {row['peer, CPU s']} | {row['ratio, CPU']} | "
                     f"{row['ratio, wall']} | {NOT_MEASURED} |")
    lines += ["", "## SNP likelihoods", "",
              "The table has ms for one evaluation. It has no ratio, because the other programs ran on another machine "
             "(one thread, 2.6 GHz).", "",
              "| case | patterns, largest group | 1 thread | 2 threads | other programs | GPU |", "|---|---|---|---|---|---|"]
    for row in f.snp:
        lines.append(f"| {row['case']} | {row['patterns, largest group']} | {row['1 thread']} | {row['2 threads']} | "
                     f"{row['other tools']} | {NOT_MEASURED} |")
    lines += ["", "## Size and threads", "",
              "The pictures show medians of five (`bench/scaling.py`). By size they show processor time of one thread; peers have data of",
              "the same shape. Memory is that of the first call without its input, result included.", "",
              "![Time and memory of every family by size](images/scaling_size.svg)", "",
              "![Speed by threads, four threads on two cores included](images/scaling_threads.svg)", "",
              "## Share of the machine", "",
              "The picture compares kernels with the multiply-adds and the memory bandwidth measured in the same run",
              "([figures](../bench/results/roofline.md)). These costs keep a kernel below the roof: asinh of every pair (poincare),",
              "square roots and divisions of rotations (svd, n = 8), addresses that depend on data (spgemm), and memory traffic",
              "between the rules (snp).", "",
              "![Operations per second against operations per byte](images/roofline.svg)", "",
              "## In detail", "",
              "| page | has |", "|---|---|",
              "| [peers](../bench/results/peers.md) | all ratios to other programs |",
              "| [hdbscan](../bench/results/hdbscan.md) | the stages, and larger sets |",
              "| [many dimensions](../bench/results/many_dimensions.md) | hdbscan and neighbours with the filter of 16-bit integers |",
              "| [start](../bench/results/start.md) | small problems, start of a process |",
              "| [poincare](../bench/results/poincare.md) | distances and neighbours |",
              "| [spgemm](../bench/results/spgemm.md) | 23 squares; small products |",
              "| [svd](../bench/results/svd.md) | n = 8 to 256, one and two threads |",
              "| [snp](../bench/results/snp.md) | evaluations and proposals |",
              "| [start](../bench/results/start.md) | small problems, and the start of a process |",
              "| [roofline](../bench/results/roofline.md) | shares of the machine |",
              "| [kernels on sm_90](../bench/results/kernels_sm_90.md) | registers, team memory and occupancy, from the compiled code |",
              "", "To measure on your machine, build with `QUINTET_BUILD_BENCH` and run `bench/compare.py`, `bench/scaling.py` and",
              "`bench/roofline.py`. On a GPU node use the bundle of [offload.md](offload.md)."]
    return "\n".join(lines) + "\n"


def accuracy_table(family):
    """Largest error of every operation and quantity on the host, by type."""
    with open(os.path.join(ROOT, "tests", "accuracy", "baseline.json"), encoding="utf-8") as file:
        errors = json.load(file)["errors"]
    largest, types = {}, []
    for case, devices in sorted(errors.items()):
        name, operation, kind, *_ = case.split("/")
        if name == family:
            types.append(kind)
            for quantity, error in devices.get("host", {}).items():
                row = largest.setdefault((operation, quantity), {})
                row[kind] = max(row.get(kind, 0), error)
    types = [t for t in ("double", "float", "half", "bfloat16") if t in types]
    lines = ["| operation | error of | " + " | ".join(types) + " |", "|---|---|" + "---|" * len(types)]
    for (operation, quantity), row in sorted(largest.items()):
        cells = [f"{row[t]:.3g}" if t in row else "" for t in types]
        lines.append(f"| `{operation}` | {quantity} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_accuracy():
    for family in ("hdbscan", "svd", "spgemm", "poincare", "snp"):
        path = os.path.join(ROOT, "docs", family + ".md")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        begin = f"<!-- bench/report.py: accuracy {family} -->"
        before, after = text.split(begin)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{before}{begin}\n{accuracy_table(family)}\n{END}{after.split(END, 1)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    arguments = parser.parse_args()
    if not arguments.check:
        write_accuracy()
    figures, wrong = Figures(), []
    readme = os.path.join(ROOT, "README.md")
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"README.md: needs one {BEGIN} and one {END}")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    pages = {readme: f"{before}{BEGIN}\n{readme_table(figures)}\n{END}{after}",
             os.path.join(ROOT, "docs", "performance.md"): performance(figures)}
    for path, content in pages.items():
        with open(path, encoding="utf-8") as file:
            same = file.read() == content
        if not same and arguments.check:
            wrong.append(path)
        elif not same:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            print(f"{path} is written")
    for path in wrong:
        print(f"{path} is not what bench/results say: run bench/report.py", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
