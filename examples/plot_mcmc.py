#!/usr/bin/env python3
"""Pictures of a run of quintet-snp-mcmc.

    plot_mcmc.py rice                     # rice/traces.png, reticulations.png, network.png, overlay.png
    plot_mcmc.py rice --format pdf --networks 200
    plot_mcmc.py hybrid.nwk               # hybrid.png: the network of quintet-snp-likelihood --output-network

Reads samples.h5 and summary.json of the folder; after --marginal-likelihood it also draws powers.png, the path of the
stepping stones, and ladder.png, the log-likelihood of every power from sample to sample. Needs Python with numpy and
matplotlib, for folders h5py too.
"""
import argparse
import json
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

CHAINS = ["#1b6ca8", "#d1495b", "#3a7d44", "#8d5a97", "#c77d0a", "#4f5d75"]
TREE, HYBRID, INTERVAL = "#222222", "#c2372e", "#2c5f8a"


# ---------------------------------------------------------------- networks


class Network:
    """Extended Newick of the library: name:length:theta:gamma, reticulations marked by #H1."""

    def __init__(self, text):
        self.name, self.children, self.parents, self.label = {}, {}, {}, {}
        self.length, self.gamma = {}, {}
        self.next = 0
        self.hybrid = {}
        text = re.sub(r"^\s*\[[^\]]*\]", "", text.strip()).rstrip(";")
        self.text, self.at = text, 0
        self.root = self.node(None)
        self.height = {}
        for leaf in self.leaves():
            self.height[leaf] = 0.0
        for x in self.order():
            if x not in self.height:
                self.height[x] = max(self.height[c] + self.length[x, c] for c in self.children[x])

    def node(self, parent):
        children = []
        if self.text[self.at] == "(":
            while self.text[self.at] in "(,":
                self.at += 1
                children.append(self.node(None))
            self.at += 1
        name = re.match(r"('(?:[^']|'')*'|[^:,()]*)(#[^:,()]*)?", self.text[self.at:])
        raw = name.group(0)
        self.at += len(raw)
        numbers = re.match(r"(?::[^:,()]*)*", self.text[self.at:]).group(0)
        self.at += len(numbers)
        numbers = numbers.split(":")[1:]
        plain, mark = (raw.split("#", 1) + [None])[:2] if "#" in raw else (raw, None)
        if mark is not None and mark in self.hybrid:
            x = self.hybrid[mark]
        else:
            x, self.next = self.next, self.next + 1
            if mark is not None:
                self.hybrid[mark] = x
            self.children.setdefault(x, [])
            self.parents.setdefault(x, [])
        if children:
            self.children[x] = [c for c, _, _ in children]
            for c, length, gamma in children:
                # Two branches between the same nodes share one length: a bubble.
                self.parents[c].append(x)
                self.length[x, c] = length
                self.gamma.setdefault((x, c), []).append(gamma)
        if plain:
            self.name[x] = plain.strip("'").replace("''", "'")

        def value(i):
            return float(numbers[i]) if len(numbers) > i and numbers[i] else None

        return (x, value(0) or 0.0, value(2)) if self.at < len(self.text) else x

    def leaves(self):
        return [x for x in range(self.next) if not self.children[x]]

    def order(self):
        """Children first."""
        done, result = set(), []

        def visit(x):
            if x in done:
                return
            done.add(x)
            for c in self.children[x]:
                visit(c)
            result.append(x)

        visit(self.root)
        return result

    def is_hybrid(self, x):
        return len(self.parents[x]) == 2

    def main_parent(self, x):
        """The parent with the larger gamma carries the subtree in the picture."""
        parents = self.parents[x]
        if len(parents) < 2 or parents[0] == parents[1]:
            return parents[0] if parents else None
        gammas = [self.gamma[p, x][0] or 0 for p in parents]
        return parents[0] if gammas[0] >= gammas[1] else parents[1]

    def tree_children(self, x):
        seen, result = set(), []
        for c in self.children[x]:
            if c not in seen and self.main_parent(c) == x:
                result.append(c)
            seen.add(c)
        return result


def leaf_order(network):
    """Leaves from left to right: of the rotations of the major tree one with few crossings and short minor branches."""
    below = {}

    def leaves(x):
        if x not in below:
            kids = network.tree_children(x)
            below[x] = [x] if not network.children[x] else [leaf for c in kids for leaf in leaves(c)]
        return below[x]

    leaves(network.root)
    rotation = {x: network.tree_children(x) for x in range(network.next)}

    def listing(x):
        return [x] if not network.children[x] else [leaf for c in rotation[x] for leaf in listing(c)]

    minor = [(p, x) for x in range(network.next) if network.is_hybrid(x) for p in set(network.parents[x])
             if p != network.main_parent(x)]

    def cost():
        place = {leaf: i for i, leaf in enumerate(listing(network.root))}

        def middle(x):
            return np.mean([place[leaf] for leaf in below[x]]) if below.get(x) else 0.0

        return sum(abs(middle(p) - middle(x)) for p, x in minor)

    best = cost()
    for _ in range(4):
        for x in range(network.next):
            if len(rotation[x]) < 2:
                continue
            rotation[x] = rotation[x][::-1]
            now = cost()
            if now < best - 1e-12:
                best = now
            else:
                rotation[x] = rotation[x][::-1]
    return listing(network.root)


def positions(network, order):
    place = {leaf: float(i) for i, leaf in enumerate(order)}

    def visit(x):
        if x in place:
            return place[x]
        kids = network.tree_children(x)
        place[x] = float(np.mean([visit(c) for c in kids])) if kids else np.nan
        return place[x]

    visit(network.root)
    # A tree node all of whose branches are minor ones stands beside what hangs below it.
    for x in network.order():
        if np.isnan(place.get(x, np.nan)):
            place[x] = float(np.mean([place[c] for c in network.children[x]]))
    for x in network.order():
        if len(network.tree_children(x)) == 1 and len(set(network.children[x])) == 2:
            # The source of a minor branch leans a little towards it, so that the two can be told apart.
            other = [c for c in network.children[x] if network.main_parent(c) != x][0]
            place[x] += 0.12 * np.sign(place[other] - place[x])
    return place


def draw(axes, network, order, color=TREE, hybrid=HYBRID, width=2.0, alpha=1.0, labels=True, slanted=False):
    place = positions(network, order)
    top = network.height[network.root]
    for x in range(network.next):
        for p in dict.fromkeys(network.parents[x]):
            bubble = len(network.parents[x]) == 2 and network.parents[x][0] == network.parents[x][1]
            ways = [-0.18, 0.18] if bubble else [0.0]
            for number, bend in enumerate(ways):
                is_minor = (network.is_hybrid(x) and p != network.main_parent(x)) or (bubble and number == 1)
                style = dict(color=hybrid if network.is_hybrid(x) else color, lw=width * (0.8 if is_minor else 1.0),
                             alpha=alpha, ls=(0, (4, 2)) if is_minor else "-", solid_capstyle="round", zorder=3)
                a, b = (place[x], network.height[x]), (place[p], network.height[p])
                if bubble:
                    xs = [a[0], a[0] + bend, a[0] + bend, b[0]]
                    ys = [a[1], a[1] + 0.25 * (b[1] - a[1]), a[1] + 0.75 * (b[1] - a[1]), b[1]]
                elif slanted or is_minor:
                    xs, ys = [a[0], b[0]], [a[1], b[1]]
                else:
                    xs, ys = [a[0], a[0], b[0]], [a[1], b[1], b[1]]
                axes.plot(xs, ys, **style)
                if labels and network.is_hybrid(x):
                    gamma = network.gamma[p, x][number] if bubble else network.gamma[p, x][0]
                    if gamma is None:
                        continue
                    # On the branch, a little below its middle; minor branches get theirs nearer to their source.
                    where = 0.5 if not is_minor else 0.6
                    gx = xs[1] if bubble else a[0] + (b[0] - a[0]) * where if is_minor else a[0]
                    gy = a[1] + (b[1] - a[1]) * where
                    # Beside an upright branch, on the side where the minor one does not go.
                    other = [q for q in network.parents[x] if q != p]
                    leaves_right = bend < 0 if bubble else bool(other) and place[other[0]] > place[x]
                    side = 0 if is_minor and not bubble else (-7 if leaves_right else 7)
                    axes.annotate(f"{gamma:.2f}", (gx, gy), xytext=(side, 0), textcoords="offset points",
                                  color=hybrid, fontsize=10, va="center",
                                  ha="center" if side == 0 else "right" if side < 0 else "left", zorder=6,
                                  bbox=dict(boxstyle="round,pad=0.1", fc="white", ec="none", alpha=0.85))
    if labels:
        for x in range(network.next):
            if network.is_hybrid(x):
                axes.plot(place[x], network.height[x], "o", ms=5, color=hybrid, zorder=5)
        axes.plot([place[network.root]] * 2, [top, top * 1.04], color=color, lw=width, alpha=alpha)


def finish_axes(axes, names, top, scale):
    axes.set_xlim(-0.7, len(names) - 0.3)
    axes.set_ylim(0, top)
    axes.set_xticks(range(len(names)))
    longest = max(len(n) for n in names)
    turned = longest * len(names) > 70
    axes.set_xticklabels(names, fontsize=12, rotation=40 if turned else 0, ha="right" if turned else "center",
                         rotation_mode="anchor" if turned else None, style="italic")
    axes.tick_params(axis="x", length=0, pad=6)
    axes.set_ylabel(scale, fontsize=11)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


# ---------------------------------------------------------------- pictures


def canvas(leaves):
    return plt.subplots(figsize=(max(6.0, 1.0 + 0.75 * leaves), 6.2))


MUTATIONS, YEARS = "height (expected mutations per site)", "height (years)"


def names_below(node, children, name):
    """Names of the leaves below a node."""
    if not children.get(node):
        return frozenset([name[node]])
    return frozenset().union(*(names_below(child, children, name) for child in children[node]))


def height_intervals(network, best):
    """95 % intervals of the heights of the inner nodes, from the nodes of a topology in summary.json: those with the
    same leaves below and the nearest mean height."""
    name = {node["node"]: node.get("name") for node in best["nodes"]}
    children = {}
    for branch in best["branches"]:
        children.setdefault(branch["parent"], []).append(branch["child"])
    below = {node: names_below(node, children, name) for node in children}
    height = {node["node"]: node["height"] for node in best["nodes"]}
    intervals = {}
    for x in network.order():
        if not network.children[x]:
            continue
        alike = [node for node in children if below[node] == names_below(x, network.children, network.name)]
        nearest = min(alike, key=lambda node: abs(height[node]["mean"] - network.height[x]))
        intervals[x] = height[nearest]["hpd95"]
    return intervals


def plot_network(text, title, path, scale=MUTATIONS, best=None):
    network = Network(text)
    order = leaf_order(network)
    figure, axes = canvas(len(order))
    draw(axes, network, order)
    top = network.height[network.root] * 1.06
    if best is not None:
        place = positions(network, order)
        for x, (low, high) in height_intervals(network, best).items():
            axes.plot([place[x]] * 2, [low, high], color=INTERVAL, lw=8, alpha=0.3, solid_capstyle="butt", zorder=2)
            top = max(top, high * 1.02)
    finish_axes(axes, [network.name[leaf] for leaf in order], top, scale)
    axes.set_title(title, fontsize=12, loc="left")
    save(figure, path)


def plot_overlay(texts, best, path, scale=MUTATIONS):
    shape = Network(best)
    order = [shape.name[leaf] for leaf in leaf_order(shape)]
    figure, axes = canvas(len(order))
    alpha = max(0.02, min(0.35, 6.0 / max(len(texts), 1)))
    tops = []
    for text in texts:
        network = Network(text)
        by_name = {network.name[leaf]: leaf for leaf in network.leaves()}
        draw(axes, network, [by_name[n] for n in order], color="#2c5f8a", width=1.1, alpha=alpha, labels=False,
             slanted=True)
        tops.append(network.height[network.root])
    # A few roots may be far up, by a bubble that the data say nothing about: they must not flatten all the others.
    top = min(max(tops), 1.5 * float(np.quantile(tops, 0.9)))
    finish_axes(axes, order, top * 1.03, scale)
    higher = sum(t > top for t in tops)
    axes.set_title(f"{len(texts)} sampled networks" + (f", {higher} of them higher than this" if higher else "")
                   + "\nabove reticulations red, the minor branch dashed", fontsize=11, loc="left")
    save(figure, path)


def plot_traces(traces, columns, burn_in, path):
    wanted = [c for c in ("likelihood", "reticulations", "root_height", "network_length", "theta_mean", "pi1")
              if c in columns and any(np.ptp(t[:, columns.index(c)]) > 0 for t in traces if len(t))]
    figure, grid = plt.subplots(len(wanted), 2, figsize=(11, 1.9 * len(wanted) + 0.6), squeeze=False,
                                gridspec_kw=dict(width_ratios=[4, 1], wspace=0.05, hspace=0.18), sharey="row")
    for row, column in enumerate(wanted):
        i = columns.index(column)
        left, right = grid[row]
        values = np.concatenate([t[:, i] for t in traces])
        bins = (np.arange(values.min() - 0.5, values.max() + 1.5) if column == "reticulations"
                else np.linspace(values.min(), values.max(), 41))
        for c, trace in enumerate(traces):
            color = CHAINS[c % len(CHAINS)]
            jitter = 0.06 * (c - (len(traces) - 1) / 2) if column == "reticulations" else 0.0
            left.plot(trace[:, 0], trace[:, i] + jitter, lw=0.7, color=color, alpha=0.85, label=f"chain {c}")
            right.hist(trace[:, i], bins=bins, orientation="horizontal", histtype="step", color=color, lw=1.2)
        left.set_ylabel(column.replace("_", " "), fontsize=10)
        if column == "reticulations":
            left.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        right.set_xticks([])
        for axes in (left, right):
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        if row + 1 < len(wanted):
            left.set_xticklabels([])
    grid[-1][0].set_xlabel(f"step (burn-in of {burn_in} left out)")
    if len(traces) > 1:
        grid[0][0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=min(len(traces), 6), fontsize=9,
                          frameon=False)
    save(figure, path)


def plot_reticulations(traces, columns, summary, path):
    i = columns.index("reticulations")
    most = len(summary["reticulations"])
    figure, axes = plt.subplots(figsize=(1.6 + 1.1 * most, 3.8))
    share = [summary["reticulations"][str(r)] for r in range(most)]
    axes.bar(range(most), share, color="#b8cfe0", width=0.7, zorder=2)
    above = [max([share[r]] + [float(np.mean(trace[:, i] == r)) for trace in traces]) for r in range(most)]
    for r in range(most):
        axes.annotate(f"{share[r]:.3f}", (r, above[r]), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=10)
    for c, trace in enumerate(traces):
        found = [np.mean(trace[:, i] == r) for r in range(most)]
        spread = 0.12 * (c - (len(traces) - 1) / 2)
        axes.plot(np.arange(most) + spread, found, "o", ms=4, color=CHAINS[c % len(CHAINS)], zorder=3,
                  label=f"chain {c}")
    axes.set_xticks(range(most))
    axes.set_ylim(0, max(above) * 1.2 + 0.02)
    axes.set_xlabel("reticulations")
    axes.set_ylabel("posterior probability")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(traces) > 1:
        axes.legend(fontsize=9, frameon=False)
    save(figure, path)


def set_likelihood_scale(axes, values):
    """Logarithmic where log-likelihoods differ by decades, as they do near the prior."""
    if max(values) < 0 and min(values) < 30 * max(values):
        axes.set_yscale("symlog")


def plot_powers(marginal, path):
    """Mean log-likelihood and what each step adds, from the prior (power 0) to the posterior (1)."""
    steps = sorted(marginal["steps"], key=lambda step: step["power"])
    power = [step["power"] for step in steps]
    figure, (means, ratios) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    means.errorbar(power, [step["mean"] for step in steps],
                   yerr=[2 * (step["variance"] / step["ess"]) ** 0.5 for step in steps], color=CHAINS[0], marker="o",
                   markersize=3, linewidth=1)
    set_likelihood_scale(means, [step["mean"] for step in steps])
    means.set_xlabel("power of the likelihood")
    means.set_ylabel("mean log-likelihood")
    ratios.errorbar(power[:-1], [step["log_ratio"] for step in steps[:-1]],
                    yerr=[2 * step["error"] for step in steps[:-1]], color=CHAINS[1], marker="o", markersize=3,
                    linewidth=1)
    ratios.set_xlabel("power where the step begins")
    ratios.set_ylabel("what the step adds to log Z")
    figure.suptitle(f"log Z = {marginal['log_z']:.3f} +- {marginal['error']:.3f}", fontsize=12)
    save(figure, path)


def plot_ladder(draws, steps, summary, path):
    """Log-likelihoods of all powers, [chain, power, draw]: neighbours overlap where the ladder has enough steps."""
    most_shown = 4
    powers = [step["power"] for step in summary["marginal_likelihood"]["steps"]]
    shown = draws[:most_shown]
    figure, grid = plt.subplots(1, len(shown), figsize=(1.5 + 4.5 * len(shown), 4.2), squeeze=False, sharey=True,
                                layout="constrained")
    colors = matplotlib.colormaps["viridis"]
    for c, axes in enumerate(grid[0]):
        for power, values in zip(powers, shown[c]):
            # The powers are (k/K)^(1/0.3): so their colours are evenly apart.
            axes.plot(steps[c][:len(values)], values, color=colors(power**0.3), lw=0.6)
        exchange = summary["exchanges"][c]
        axes.set_title(f"chain {c}: {exchange['accepted'] / max(exchange['tried'], 1):.0%} of exchanges accepted, "
                       f"{exchange['round_trips']} round trips", fontsize=9)
        axes.set_xlabel("step")
    set_likelihood_scale(grid[0][0], [float(np.min(draws)), float(np.max(draws))])
    grid[0][0].set_ylabel("log-likelihood")
    figure.colorbar(matplotlib.cm.ScalarMappable(cmap=colors), ax=grid[0].tolist(),
                    label="step of the ladder: 0 is the prior, 1 the posterior")
    save(figure, path)


def save(figure, path):
    figure.savefig(path, dpi=150, bbox_inches="tight")
    plt.close(figure)
    print(path)


def sampled_newick(folder, number):
    """Networks spread evenly over the chains' tree files."""
    lines = []
    for path in sorted(Path(folder).glob("chain_*.trees")):
        with open(path) as file:
            lines += [line.split("=", 1)[1].strip() for line in file if re.match(r"\s*(tree|Network) STATE_", line)]
    if not lines:
        sys.exit(f"plot_mcmc.py: no sampled networks in {folder}")
    chosen = [lines[int(k)] for k in np.linspace(0, len(lines) - 1, min(number, len(lines)))]
    return [plain(text) for text in chosen]


def plain(text):
    """Annotated Newick in the notation of the library."""
    def one(match):
        values = dict(pair.split("=") for pair in match.group(1).lstrip("&").split(","))
        return f":{match.group(2)}:{values.get('theta', '')}" + (f":{values['gamma']}" if "gamma" in values else "")

    text = re.sub(r"^\[&R\]\s*", "", text)
    text = re.sub(r"\[(&[^\]]*)\]:([^,()\[\];:]+)", one, text)
    return re.sub(r"\[&[^\]]*\]", "", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="--output of quintet-snp-mcmc, or a file with one network in Newick")
    parser.add_argument("--format", default="png", choices=["png", "pdf", "svg"])
    parser.add_argument("--networks", type=int, default=100, help="sampled networks in the overlay")
    arguments = parser.parse_args()
    folder = Path(arguments.folder)
    if folder.is_file():
        lines = [line for line in folder.read_text().splitlines() if line.strip()]
        if len(lines) != 1 or "(" not in lines[0]:
            sys.exit(f"plot_mcmc.py: {folder} must have one network in Newick")
        plot_network(lines[0], folder.stem, str(folder.with_suffix(f".{arguments.format}")))
        return
    import h5py

    try:
        with open(folder / "summary.json") as file:
            summary = json.load(file)
        with h5py.File(folder / "samples.h5") as file:
            columns = file.attrs["columns"]
            columns = (columns.decode() if isinstance(columns, bytes) else str(columns)).split("\t")
            traces = [file[f"traces/chain_{c}"][:] for c in range(summary["chains"])]
            ladder = file["checkpoint/power_draws"][:] if "checkpoint/power_draws" in file else np.empty(0)
    except (OSError, KeyError) as error:
        sys.exit(f"plot_mcmc.py: {folder} is no folder of a finished run: {error}")
    if "map" not in summary:
        sys.exit(f"plot_mcmc.py: {folder} has no samples")

    def out(name):
        return str(folder / f"{name}.{arguments.format}")

    plot_traces(traces, columns, summary["burn_in"], out("traces"))
    plot_reticulations(traces, columns, summary, out("reticulations"))
    best = summary["map"]
    scale = YEARS if any(line.startswith("clock ") for line in summary.get("priors", [])) else MUTATIONS
    plot_network(best["network"], f"most probable topology, posterior {best['probability']:.2f}\n"
                 "mean heights, their 95 % intervals, inheritance probabilities", out("network"), scale, best)
    if "marginal_likelihood" in summary:
        plot_powers(summary["marginal_likelihood"], out("powers"))
        if len(ladder):
            draws = ladder.reshape(summary["chains"], len(summary["marginal_likelihood"]["steps"]), -1)
            plot_ladder(draws, [trace[:, 0] for trace in traces], summary, out("ladder"))
    plot_overlay(sampled_newick(folder, arguments.networks), best["network"], out("overlay"), scale)


if __name__ == "__main__":
    main()
