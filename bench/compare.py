#!/usr/bin/env python3
"""Our benchmarks beside their peers: one table of ours, peer, ratio and spread; fails when a ratio has fallen.

    bench/compare.py [--bin build/host-clang/bin] [--families hdbscan,svd] [--rounds 5] [--python PYTHON]
                  [--results FILE] [--update] [--docs]

Every round runs our cases and the peers that are in the same program in random order, and then the Python peers, so
that the drift of the machine touches all alike. The ratio is the median over the rounds of peer / ours (times of one
round are divided by each other): above 1 we are faster. A ratio more than 15 % below bench/ratios.json fails (exit
status 1); --update writes what was measured there. Peers that are not installed are left out, with a line.

--results keeps the figures of every family in a file: a later run of other families adds to it, and the table has all.
--docs writes the table into bench/results/peers.md, and with bench/report.py docs/performance.md and README.md. What the
machine can do is measured in the same run;
when two threads multiply no faster than one, other work is running, and --update and --docs refuse (exit status 2).
"""
import argparse
import datetime
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile

import few_dimensions

HERE = os.path.dirname(os.path.abspath(__file__))
RATIOS = os.path.join(HERE, "ratios.json")
RESULTS = os.path.join(HERE, "results")
BEGIN, END = "<!-- bench/compare.py: begin -->", "<!-- bench/compare.py: end -->"
ALLOWED = 0.85

# (family, what, ours, peer's name, peer). A benchmark is its name, or (name, counter) for a rate that is compared
# instead of the time. A peer "python:NAME" is a line of the family's script in bench/peers.
DENSE = "dense/5000/384/real_time"
MATRIX = "matrix<float>/1000/1000/64/real_time"
# Made matrices, and reference data: a mesh, finite elements, graphs, a road network, a network's layer, a circuit.
MADE_PRODUCTS = ["rmat-14-16", "tridiagonal-1000000", "uniform-100000-8"]
DATA_PRODUCTS = ["add32", "bcsstk13", "cit-Cora", "com-dblp-75000", "crack", "email-Enron", "ex31", "freeFlyingRobot_7", "lp_afiro",
                 "luxembourg", "n1024-l2", "west0067"]
PRODUCTS = MADE_PRODUCTS + (DATA_PRODUCTS if "QUINTET_DATA_DIR" in os.environ else [])
# Matrices, rows, columns: tall, wide, square; see svd_bench.cpp.
SVD_SHAPES = ["5000x100x3", "300x1000x10", "50x1000x32", "20x2000x50", "5x2000x128", "1x100000x32", "1x20000x200", "100x128x64",
              "200x64x256", "300x10x1000", "100x3x10000", "1x200x20000", "20000x3x3", "20x200x200", "1x500x500",
              "1x1000x1000"]
PATCHED_PRODUCTS = ("A @ A, tridiagonal 10^6", "A @ A, 10^5, 10 a row", "X @ X.T, 5000 x 20000, 200 a row",
                    "A @ dense, 10^5, 10 a row, 16 columns", "A @ vector, 10^6, 5 a row")
SPARSE_PRODUCTS = [("10 largest of each row of X @ X.T, 20,000 texts", "sparse_dot_topn"),
                   ("100 largest of each row of X @ X.T, 20,000 texts", "sparse_dot_topn"),
                   ("A @ A, 10^5, 10 a row", "MKL"), ("A @ dense, 10^5, 10 a row, 64 columns", "MKL"),
                   ("A @ dense, 10^5, 10 a row, 64 columns", "SciPy"), ("A @ A of int64, 10^5, 10 a row", "SciPy"),
                   ("CSC @ vector, 10^6, 5 a row", "SciPy"), ("CSC @ vector, 10^5, 50 a row", "SciPy")]
CASES = [
    ("hdbscan", "mutual reachability, 5000 x 384 float", DENSE, "OpenBLAS, strips", "peer_openblas/5000/384/real_time"),
    ("hdbscan", "mutual reachability, 5000 x 384 float", DENSE, "FAISS", "peer_faiss/5000/384/real_time"),
    ("hdbscan", "mutual reachability, 5000 x 384 float", DENSE, "numpy, distances alone", "python:numpy distances"),
    ("hdbscan", "mutual reachability, 5000 x 384 float", DENSE, "torch.cdist, distances alone", "python:torch cdist"),
    ("hdbscan", "mutual reachability, 5000 x 384 float", DENSE, "scikit-learn, distances alone",
     "python:sklearn distances"),
    ("hdbscan", "exact clustering, 5000 x 384 float", "cluster/5000/384/real_time", "scikit-learn HDBSCAN",
     "python:sklearn HDBSCAN"),
    ("hdbscan", "exact clustering, 5000 x 384 float", "cluster/5000/384/real_time", "our matrix alone", DENSE),
    ("hdbscan", "exact clustering, 5000 x 384 float", "cluster/5000/384/real_time", "hdbscan, default",
     "python:hdbscan default"),
    ("hdbscan", "exact clustering, 5000 x 384 float", "cluster/5000/384/real_time", "hdbscan, brute force",
     "python:hdbscan brute force"),
    ("hdbscan", "exact clustering, 5000 x 384 float", "cluster/5000/384/real_time", "oneDAL, brute force",
     "python:oneDAL brute force"),
    ("poincare", "distances, 1000 x 1000 x 64 float", MATRIX, "OpenBLAS and asinh",
     "peer_sgemm_asinh/1000/1000/64/real_time"),
    ("poincare", "distances, 1000 x 1000 x 64 float", MATRIX, "numpy", "python:numpy"),
    ("poincare", "distances, 1000 x 1000 x 64 float", MATRIX, "torch", "python:torch"),
    ("poincare", "distances, 1000 x 1000 x 64 float", MATRIX, "geoopt", "python:geoopt"),
    *[("spgemm", f"square of {name}, double, {t} thread{'s' * (t > 1)}", f"quintet/{name}/threads:{t}",
       peer, f"{there}/{name}/threads:{t}") for name in PRODUCTS for t in (1, 2)
      # MKL: where QUINTET_MKL names its libmkl_rt.so.
      for peer, there in (("SuiteSparse:GraphBLAS", "graphblas"), ("MKL, unsorted rows", "mkl"),
                          ("MKL, sorted rows", "mkl-sorted"))],
    *[("spgemm", f"square of {name}, double, 1 thread", f"quintet/{name}/threads:1", peer, there)
      for name in PRODUCTS for peer, there in (("Eigen", f"eigen/{name}/threads:1"), ("scipy", f"python:{name}"))
      if peer == "Eigen" or name in DATA_PRODUCTS],
    *[("svd", f"U, S, V of {n} x {n} {real}, 1 thread", (f"jacobi<{real}>/{n}/1/real_time", "matrices/s"), shown,
       (f"peer<{real}, bench::svd_peer::{peer}>/{n}/real_time", "matrices/s"))
      for real in ("float", "double") for n in (8, 32, 128)
      for shown, peer in (("OpenBLAS gesdd", "gesdd"), ("OpenBLAS gesvj", "gesvj"), ("Eigen JacobiSVD", "eigen_jacobi"))
      # Its results miss the residual that svd_bench checks.
      if (n, peer) != (128, "eigen_jacobi")],
    *[("svd", f"U, S, V of {n} x {n} {real}, 1 thread", (f"jacobi<{real}>/{n}/1/real_time", "matrices/s"), peer,
       (f"python:{peer} {real} n={n}", "matrices/s"))
      for real in ("float", "double") for n in (8, 32, 128) for peer in ("numpy", "torch")],
    *[("svd", f"{task} of symmetric {n} x {n} {real}, 1 thread",
       (f"symmetric<{real}, {vectors}>/{n}/1/real_time", "matrices/s"), peer,
       (f"python:{peer} {function} {real} n={n}", "matrices/s"))
      for task, vectors, function in (("w, V", "true", "eigh"), ("w", "false", "eigvalsh"))
      for real in ("float", "double") for n in (3, 8, 16, 32, 33, 64, 128, 256) for peer in ("numpy", "torch")],
    *[("svd_shapes", f"{what} of {shape.replace('x', ' x ')} {real}, 1 thread",
       (f"shape<{real}>/{shape.replace('x', '/')}/{int(what != 'S')}/1/real_time", "matrices/s"), peer,
       (f"python:{peer} {real} {shape}{' values' if what == 'S' else ''}", "matrices/s"))
      for shape in SVD_SHAPES for real in ("float", "double") for what in ("U, S, V", "S") for peer in ("numpy", "torch")],
    *[("snp", f"proposal of one branch, {accepted}, {name}", f"proposals/{name}_{case}/threads:1/manual_time",
       "our full evaluation", f"full/{name}/threads:1/real_time")
      for name in ("rice_tree", "rice_level_2", "network_c", "hemidactylus")
      for case, accepted in (("rejected", "none accepted"), ("quarter", "a quarter accepted"))],
    # SciPy's operators under sparse.patch(), see patch_peers.py; SciPy has one thread.
    *[("scipy", f"{what}, patched, {t} thread{'s' * (t > 1)}", f"python:quintet {t} {what}", "SciPy",
       f"python:SciPy {what}") for what in PATCHED_PRODUCTS for t in (1, 2)],
    # Products of Python, see sparse_peers.py.
    *[("sparse", f"{what}, {t} thread{'s' * (t > 1)}", f"python:quintet {t} {what}", peer, f"python:{peer} {t} {what}")
      for what, peer in SPARSE_PRODUCTS for t in (1, 2)],
    # Gradients and training in hyperbolic space, see hyperbolic_peers.py.
    *[("hyperbolic", f"{what}, {model}, {t} thread{'s' * (t > 1)}", f"python:quintet {t} {what}, {model}", peer,
       f"python:{peer} {t} {what}, {model}")
      for what, peer in (("1000 x 1000 x 64 with gradients", "geoopt"), ("a round of training", "geoopt, ball"))
      for model in ("ball", "Lorentz") for t in (1, 2)],
    # Kept indexes, all of them in one script.
    *[("neighbours", f"kept index of {'50' if dim == 384 else '100'},000 x {dim}, k = 10, {what}, 1 thread",
       f"python:quintet, {dim} D, {queries}", peer, f"python:{peer}, {dim} D, {queries}")
      for dim in (2, 3, 8, 32, 128, 384)
      for queries, what in (("build", "building"), ("1", "one query again"), ("one of many", "one of 2000 queries"),
                            ("100", "100 queries"), ("10000", "10,000 queries"))
      for peer in ("SciPy cKDTree", "scikit-learn", "FAISS flat") if dim <= 32 or peer != "SciPy cKDTree"
      # The others build nothing, or nothing but a copy.
      if queries != "build" or peer == "SciPy cKDTree"],
    # Rows of bits: FAISS has no Jaccard distance, and scikit-learn takes minutes for more.
    ("bits", "10 nearest of all, 20,000 x 1024 bits, Hamming, 1 thread", "python:quintet, hamming",
     "FAISS IndexBinaryFlat", "python:FAISS IndexBinaryFlat, hamming"),
    *[("bits", f"10 nearest of all, 3000 x 1024 bits, {metric.capitalize()}, 1 thread", f"python:quintet, few, {metric}",
       "scikit-learn", f"python:scikit-learn, few, {metric}") for metric in ("hamming", "jaccard")],
    *[("bits", f"10 nearest of all, 20,000 x 768 int8, {what}, 1 thread", f"python:quintet, {metric}",
       "FAISS IndexFlat of float32", f"python:FAISS IndexFlat, {metric}")
      for metric, what in (("integer_euclidean", "euclidean"), ("integer_inner_product", "inner product"))],
    # Many parameters at once, all of them in one script.
    *[("sweep", f"labels of 100 settings, {n:,} x {dim}, 1 thread", f"python:sweep {n} x {dim}", peer,
       f"python:{there} {n} x {dim}")
      for n, dim in ((30_000, 32), (100_000, 3))
      for peer, there in (("our fits and refits", "fits"), ("hdbscan with a cache (4 of 20 min_samples, times 5)", "contrib"))],
    *[("sweep", f"the most persistent size, {n:,} x {dim}, 1 thread", f"python:automatic {n} x {dim}", "fast-plscan",
       f"python:plscan {n} x {dim}") for n, dim in ((30_000, 32), (100_000, 3))],
    # CPU seconds of whole programs, see few_dimensions.py.
    *[("few_dimensions", few_dimensions.title(case), (few_dimensions.title(case), "quintet"), peer,
       (few_dimensions.title(case), peer)) for case in few_dimensions.CASES + few_dimensions.LARGE for peer in case[4]],
]
PYTHON_PEERS = {"bits": "bits_peers.py", "hdbscan": "hdbscan_peers.py", "neighbours": "neighbours_peers.py",
                "poincare": "poincare_peers.py", "hyperbolic": "hyperbolic_peers.py", "svd": "svd_peers.py",
                "svd_shapes": "svd_peers.py", "scipy": "patch_peers.py", "sparse": "sparse_peers.py",
                "sweep": "sweep_peers.py"}
if "QUINTET_DATA_DIR" in os.environ:
    PYTHON_PEERS["spgemm"] = "scipy_product.py"
# Those of the rows, where they do not come from outside.
PYTHON_THREADS = {"bits": 1, "neighbours": 1, "svd": 1, "svd_shapes": 1, "sweep": 1}


def plain(name):
    """Names without the parts that say how time is taken."""
    return re.sub(r"/(process_time|real_time|manual_time|min_time:[\d.]+|iterations:\d+)", "", name)


def run_binary(path, names, threads):
    """Benchmark -> (milliseconds, counters), one run of each in random order."""
    # re.escape escapes more than POSIX expressions know.
    escaped = (re.sub(r"([.^$|()\[\]{}*+?\\])", r"\\\1", plain(n)) for n in names)
    pattern = "^(" + "|".join(escaped) + ")(/min_time:[0-9.]+)?(/process_time|/real_time|/manual_time)?$"
    done = subprocess.run([path, f"--benchmark_filter={pattern}", "--benchmark_format=json", "--benchmark_min_time=0.1",
                           "--benchmark_enable_random_interleaving=true"], capture_output=True, text=True,
                          env=dict(os.environ, QUINTET_BENCH_THREADS=str(threads)))
    if done.returncode != 0:
        sys.exit(f"{path}: exit status {done.returncode}\n{done.stderr}")
    found = {}
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
    for case in json.loads(done.stdout or '{"benchmarks": []}')["benchmarks"]:
        if "error_message" in case:
            print(f"{case['name']}: {case['error_message']}", file=sys.stderr)
            continue
        time = "cpu_time" if "process_time" in case["name"] else "real_time"
        found[plain(case["name"])] = dict(case, ms=case[time] * scale[case["time_unit"]])
    return found


def run_products(path, rounds):
    """The same from spgemm_ratios, for every round. Its idle threads must sleep: there are two OpenMP runtimes."""
    done = subprocess.run([path, "--json", str(rounds), *PRODUCTS], capture_output=True, text=True,
                          env=dict(os.environ, OMP_WAIT_POLICY="passive"))
    if done.returncode != 0:
        sys.exit(f"{path}: exit status {done.returncode}\n{done.stderr}")
    times = json.loads(done.stdout)
    return [{name: {"ms": ms[r]} for name, ms in times.items()} for r in range(rounds)]


def run_python(python, script, arguments, threads):
    done = subprocess.run([python, os.path.join(HERE, "peers", script), *arguments], capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads)))
    if done.returncode != 0:
        print(f"{python} {script}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    found = {"python:" + name.strip(): {"ms": float(ms)}
             for name, ms in re.findall(r"^(\S.*?)\s{2,}([\d.]+) ms", done.stdout, re.M)}
    for name, rate in re.findall(r"^(\S.*?)\s{2,}([\d.]+) matrices/s", done.stdout, re.M):
        found["python:" + name.strip()] = {"ms": 1e3 / float(rate), "matrices/s": float(rate)}
    return found


def value_of(found, benchmark):
    """Seconds-like number of a benchmark, smaller is better; None when it did not run."""
    name, counter = benchmark if isinstance(benchmark, tuple) else (benchmark, None)
    case = found.get(name if name.startswith("python:") else plain(name))
    return None if case is None else 1e3 / case[counter] if counter else case["ms"]


def run_family(family, arguments):
    """Rows of the table: the medians, ratios of every round."""
    cases = [c for c in CASES if c[0] == family]
    program = {"spgemm": "spgemm_ratios", "svd_shapes": "svd_bench"}.get(family, family + "_bench")
    path = os.path.join(arguments.bin, program)
    benchmarks = {b if isinstance(b, str) else b[0] for c in cases for b in (c[2], c[4])}
    names = [b for b in benchmarks if not b.startswith("python:")]
    if names and not os.path.exists(path):
        sys.exit(f"{path}: not there; build it with QUINTET_BUILD_BENCH=ON or name its folder with --bin")
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        extra = []
        if family == "hdbscan":
            extra = [os.path.join(folder, "points.npy"), "3"]
            subprocess.run([path, "--write-points", extra[0]], check=True)
        if family == "svd_shapes":
            extra = ["--repetitions", "3", "--shapes", *SVD_SHAPES]
        if family == "spgemm":
            extra = [os.path.join(os.environ.get("QUINTET_DATA_DIR", folder), "matrices"), *DATA_PRODUCTS]
            products = run_products(path, arguments.rounds)
        for r in range(arguments.rounds):
            rounds.append(products[r] if family == "spgemm" else
                          run_binary(path, names, arguments.threads) if names else {})
            if arguments.python and family in PYTHON_PEERS:
                threads = PYTHON_THREADS.get(family, arguments.threads)
                rounds[-1].update(run_python(arguments.python, PYTHON_PEERS[family], extra, threads))
    rows = []
    for _, what, ours, peer_name, peer in cases:
        pairs = [(value_of(r, ours), value_of(r, peer)) for r in rounds]
        pairs = [p for p in pairs if None not in p]
        if not pairs:
            print(f"{family}: {what}: {peer_name} is not here, left out", file=sys.stderr)
            continue
        ratios = sorted(p / o for o, p in pairs)
        rows.append({"family": family, "what": what, "peer": peer_name, "ours_ms": statistics.median(o for o, _ in pairs),
                     "peer_ms": statistics.median(p for _, p in pairs), "ratio": statistics.median(ratios),
                     "least": ratios[0], "most": ratios[-1], "rounds": len(ratios)})
    return rows


def run_few_dimensions(arguments):
    """run_family() for CPU time of whole programs; wall times are kept beside it."""
    cases = few_dimensions.CASES + (few_dimensions.LARGE if arguments.large else [])
    with tempfile.TemporaryDirectory() as folder:
        rounds = few_dimensions.run_rounds(cases, arguments.rounds, arguments.bin, arguments.python, arguments.threads,
                                           folder)
    rows = []
    for case in cases:
        title = few_dimensions.title(case)
        what = f"{title}, {arguments.threads} thread{'s' * (arguments.threads > 1)}"
        for peer in case[4]:
            pairs = [(r[title, "quintet"], r[title, peer]) for r in rounds if (title, peer) in r]
            if not pairs:
                print(f"few_dimensions: {what}: {peer} is not here, left out", file=sys.stderr)
                continue
            ratios = sorted(p["cpu"] / o["cpu"] for o, p in pairs)
            median = {(who, time): statistics.median(pair[i][time] for pair in pairs)
                      for i, who in enumerate(("ours", "peer")) for time in ("cpu", "wall")}
            rows.append({"family": "few_dimensions", "what": what, "peer": peer, "ours_ms": 1e3 * median["ours", "cpu"],
                         "peer_ms": 1e3 * median["peer", "cpu"], "ratio": statistics.median(ratios),
                         "least": ratios[0], "most": ratios[-1], "rounds": len(ratios),
                         "ours_wall_ms": 1e3 * median["ours", "wall"], "peer_wall_ms": 1e3 * median["peer", "wall"]})
    return rows


def measure_machine(arguments):
    """Ceilings: name -> rate, for one thread and for two."""
    path = os.path.join(arguments.bin, "machine_bench")
    done = subprocess.run([path, "--benchmark_format=json"], capture_output=True, text=True, check=True)
    return {plain(c["name"]): c.get("GFLOP/s") or c["GB/s"]
            for c in json.loads(done.stdout)["benchmarks"]}


def machine_facts(arguments):
    """What figures are to be read with."""
    return {"processor": processor(), "date": str(datetime.date.today()), "machine": measure_machine(arguments)}


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = re.findall(r"^model name\s*: (.*)$", file.read(), re.M)
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def digits(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def make_table(results):
    lines = ["| family | task | ours, ms | peer | peer, ms | peer / ours | min to max |", "|---|---|---|---|---|---|---|"]
    for family in sorted(results["families"]):
        for r in results["families"][family]:
            lines.append(f"| {family} | {r['what']} | {digits(r['ours_ms'])} | {r['peer']} | {digits(r['peer_ms'])} | "
                         f"**{r['ratio']:.2f}** | {r['least']:.2f} to {r['most']:.2f} |")
    rates = ", ".join(f"{name.replace('/', ', ').replace('threads:', 'threads ')}: {digits(rate)} "
                      f"{'GB/s' if name.startswith('stream') else 'GFLOP/s'}"
                      for name, rate in results.get("machine", {}).items())
    return f"{results['processor']}; {results['date']}. Ceilings of the same run: {rates}.\n\n" + "\n".join(lines)


def key_of(row):
    return f"{row['family']}: {row['what']}: {row['peer']}"


def check_ratios(rows, update):
    """Lines about ratios that fell by more than 15 %; with `update` the new ones are stored."""
    stored = {}
    if os.path.exists(RATIOS):
        with open(RATIOS, encoding="utf-8") as file:
            stored = json.load(file)
    fallen = [f"{key_of(r)}: {r['ratio']:.2f}, it was {stored[key_of(r)]:.2f}" for r in rows
              if key_of(r) in stored and r["ratio"] < ALLOWED * stored[key_of(r)]]
    if update:
        stored.update({key_of(r): round(r["ratio"], 3) for r in rows})
        with open(RATIOS, "w", encoding="utf-8") as file:
            file.write(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")
        return []
    return fallen


def write_docs(table, name="peers.md", begin=BEGIN, end=END):
    """The table between the markers of bench/results/NAME, and the pages that are made from all of them."""
    path = os.path.join(RESULTS, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{path}: needs one {begin} and one {end}")
    before, after = text.split(begin)[0], text.split(end)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n{table}\n{end}{after}")
    subprocess.run([sys.executable, os.path.join(HERE, "report.py")], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    families = sorted({c[0] for c in CASES})
    parser.add_argument("--bin", default="build/host-clang/bin", help="folder of the *_bench programs")
    parser.add_argument("--families", default=",".join(families), help="which, by default all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="for programs that take it from outside")
    parser.add_argument("--python", default="python3", help='interpreter of the Python peers; "" leaves them out')
    parser.add_argument("--results", help="file that keeps the figures of all families")
    parser.add_argument("--large", action="store_true", help="few_dimensions also with 200,000 to 1,000,000 points")
    parser.add_argument("--update", action="store_true", help="store the ratios measured")
    parser.add_argument("--docs", action="store_true", help="write the table into bench/results/peers.md")
    arguments = parser.parse_args()
    asked = [f for f in arguments.families.split(",") if f]
    if set(asked) - set(families):
        parser.error(f"--families must be among {', '.join(families)} (--families={arguments.families})")
    results = {"families": {}}
    if arguments.results and os.path.exists(arguments.results):
        with open(arguments.results, encoding="utf-8") as file:
            results = json.load(file)
    if asked:
        results |= machine_facts(arguments)
    for family in asked:
        results["families"][family] = (run_few_dimensions(arguments) if family == "few_dimensions"
                                       else run_family(family, arguments))
    if arguments.results:
        with open(arguments.results, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    rates = results.get("machine", {})
    if rates.get("multiply_adds<float>/threads:2", math.inf) < 1.5 * rates.get("multiply_adds<float>/threads:1", 0):
        # Two threads got one core's worth: ratios of such a run are no reference.
        print("two threads are not faster than one: the machine has other work", file=sys.stderr)
        if arguments.update or arguments.docs:
            return 2
    table = make_table(results)
    print(table)
    if arguments.docs:
        write_docs(table)
    fallen = check_ratios([r for rows in results["families"].values() for r in rows], arguments.update)
    for line in fallen:
        print(f"FAILED  {line}")
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
