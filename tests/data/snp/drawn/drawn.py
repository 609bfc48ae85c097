#!/usr/bin/env python3
"""Draws the counts of this folder and computes their log-likelihoods with dense tensors and matrix exponentials.

    drawn.py                      writes net_a.csv, net_b.csv, net_c.csv, rice.csv; prints the table of drawn.md
    drawn.py NETWORK THETA U V COUNTS.csv

Needs NumPy and SciPy; nothing of quintet. One tensor per component holds F(n_1, r_1; n_2, r_2; ...), the probability
of the data below and of n_i lineages, r_i of them red, given the r_i (Bryant et al. 2012, equations 8 to 19, rules 0 to
4 of Rabier et al. 2021). On the files whose values SnappNet and PhyloNet confirm it agrees with them to their digits.
"""
import collections
import csv
import math
import pathlib
import re
import sys

import numpy as np
from scipy.linalg import expm

NETWORKS = {
    "net_a": "(C:0.08,((R:0.007,(Q:0.004)#H1:0.003::0.3)a:0.035,((A:0.006,#H1:0.002::0.7)b:0.016,L:0.022)c:0.02)"
             "d:0.038)r",
    "net_b": "(((R:0.014,(Q:0.004)#H1:0.01::0.3)a:0.028,(((A:0.003)#H2:0.003::0.6,#H1:0.002::0.7)b:0.016,L:0.022)"
             "c:0.02)d:0.038,(C:0.005,#H2:0.002::0.4)e:0.075)r",
    "net_c": "(R:0.08,((A:0.012,((B:0.002,(C:0.001)#H1:0.001::0.5)a:0.002)#H2:0.008::0.5)b:0.038,"
             "((D:0.003,#H1:0.002::0.5)c:0.017,#H2:0.016::0.5)d:0.03)e:0.03)r",
    "rice_tree": "(((Jap:0.03,Aro:0.03)a:0.02,(Ind:0.04,Aus:0.04)b:0.01)c:0.03,(Or3:0.06,Or1:0.06)d:0.02)r",
    "rice_level1": "(((Jap:0.02,(Aro:0.01)#H1:0.01::0.65)a:0.03,(Ind:0.04,(Aus:0.02,#H1:0.01::0.35)e:0.02)b:0.01)"
                   "c:0.03,(Or3:0.06,Or1:0.06)d:0.02)r",
    "rice_level2": "(((Jap:0.02,(Aro:0.01)#H1:0.01::0.65)a:0.03,((Ind:0.03)#H2:0.01::0.8,(Aus:0.02,"
                   "#H1:0.01::0.35)e:0.02)b:0.01)c:0.03,(Or3:0.06,(Or1:0.05,#H2:0.02::0.2)f:0.01)d:0.02)r",
}
COPIES = {"net_a": ("net_a", dict(C=2, R=2, Q=2, A=2, L=2)), "net_b": ("net_b", dict(C=2, R=2, Q=2, A=2, L=2)),
          "net_c": ("net_c", dict(R=1, A=1, B=5, C=5, D=1)),
          "rice": ("rice_level2", dict(Or1=2, Or3=2, Ind=2, Jap=2, Aus=2, Aro=2))}
CASES = [("net_a", "net_a", .005, 1, 1), ("net_b", "net_b", .005, .75, 1.5), ("net_c", "net_c", .005, 1, 1),
         ("rice", "rice_tree", .1, 1, 1), ("rice", "rice_level1", .1, 1, 1), ("rice", "rice_level2", .1, 1, 1)]


def states(n):
    """Index of (lineages, red ones) for up to n lineages."""
    return {(m, r): m * (m + 1) // 2 + r for m in range(n + 1) for r in range(m + 1)}


def rates(n, theta, u, v):
    """Q of Bryant et al.: F at the top of a branch is F at its bottom times exp(Q t)."""
    at, q = states(n), np.zeros((len(states(n)),) * 2)
    for (m, r), i in at.items():
        q[i, i] = -m * (m - 1) / theta - (m - r) * v - r * u
        if r > 0:
            q[i, at[m, r - 1]] = (m - r + 1) * v
        if r < m:
            q[i, at[m, r + 1]] = (r + 1) * u
        if m > 1:
            if r < m:
                q[i, at[m - 1, r]] = (m - 1 - r) * m / theta
            if r > 0:
                q[i, at[m - 1, r - 1]] = (r - 1) * m / theta
    return q


class newick:
    """Nodes below `root`: name, length above, gamma, children; `#H` twice, once without children."""

    def __init__(self, text):
        self.words, self.at = re.findall(r"[(),]|[^(),;]+", text), 0
        self.root = self.node()

    def node(self):
        children = []
        if self.words[self.at] == "(":
            while self.words[self.at] != ")":
                self.at += 1
                children.append(self.node())
            self.at += 1
        name, length, gamma = "", 0.0, None
        if self.at < len(self.words) and self.words[self.at] not in "(),":
            fields = self.words[self.at].split(":")
            name, length = fields[0], float(fields[1]) if len(fields) > 1 else 0.0
            gamma = float(fields[3]) if len(fields) > 3 else None
            self.at += 1
        return dict(name=name, length=length, gamma=gamma, children=children)


class likelihood:
    def __init__(self, text, theta, u, v, copies, patterns):
        self.theta, self.u, self.v, self.copies, self.patterns = theta, u, v, copies, patterns
        self.tensors = []  # (branches, most lineages of each, array of patterns x states x states ...)
        self.gammas = {}
        self.root = newick(text).root
        self.collect(self.root)

    def collect(self, node):
        if node["name"].startswith("#"):
            self.gammas.setdefault(node["name"], []).append((bool(node["children"]), node["gamma"]))
        for child in node["children"]:
            self.collect(child)

    def take(self, branch):
        found = next(t for t in self.tensors if branch in t[0])
        self.tensors.remove(found)
        return found

    def last(self, branch):
        """The tensor that holds `branch`, as its last axis."""
        names, most, f = self.take(branch)
        i = names.index(branch)
        order = [j for j in range(len(names)) if j != i] + [i]
        return [names[j] for j in order], [most[j] for j in order], np.transpose(f, [0] + [j + 1 for j in order])

    def rise(self, branch, length):
        names, most, f = self.last(branch)
        self.tensors.append((names, most, f @ expm(rates(most[-1], self.theta, self.u, self.v) * length)))

    def join(self, a, b, name):
        one = self.last(a)
        if b in one[0]:
            names, most, f = one
            i = names.index(b)
            order = [j for j in range(len(names)) if j != i and names[j] != a] + [i, names.index(a)]
            names, most, f = ([names[j] for j in order], [most[j] for j in order],
                              np.transpose(f, [0] + [j + 1 for j in order]))
        else:
            other = self.last(b)
            names, most = one[0][:-1] + other[0][:-1] + [b, a], one[1][:-1] + other[1][:-1] + [other[1][-1], one[1][-1]]
            x, y = one[2], other[2]
            shape = (len(x),) + x.shape[1:-1] + y.shape[1:-1] + (y.shape[-1], x.shape[-1])
            x = x.reshape(x.shape[:-1] + (1,) * (y.ndim - 1) + x.shape[-1:])
            y = y.reshape((len(y),) + (1,) * (x.ndim - 1 - (y.ndim - 1) - 1) + y.shape[1:] + (1,))
            f = (x * y).reshape(shape)
        n1, n2 = most[-2], most[-1]
        s1, s2, s = states(n1), states(n2), states(n1 + n2)
        g = np.zeros(f.shape[:-2] + (len(s),))
        for (m1, r1), i in s1.items():
            for (m2, r2), j in s2.items():
                weight = math.comb(m1, r1) * math.comb(m2, r2) / math.comb(m1 + m2, r1 + r2)
                g[..., s[m1 + m2, r1 + r2]] += weight * f[..., i, j]
        self.tensors.append((names[:-2] + [name], most[:-2] + [n1 + n2], g))

    def split(self, branch, one, two, gamma):
        names, most, f = self.last(branch)
        n = most[-1]
        s = states(n)
        g = np.zeros(f.shape[:-1] + (len(s), len(s)))
        for (m1, r1), i in s.items():
            for (m2, r2), j in s.items():
                if m1 + m2 <= n:
                    weight = math.comb(m1 + m2, m1) * gamma**m1 * (1 - gamma)**m2
                    g[..., i, j] = weight * f[..., s[m1 + m2, r1 + r2]]
        self.tensors.append((names[:-1] + [one, two], most[:-1] + [n, n], g))

    def below(self, node, path):
        """Name of the branch above the node, at its top; nothing while a reticulation waits for its other parent."""
        branch = path
        name, children = node["name"], node["children"]
        if name.startswith("#"):
            if children:
                inner = self.below(children[0], path + "0")
                assert inner
                gamma = node["gamma"] if node["gamma"] is not None else 1 - dict(self.gammas[name])[False]
                self.split(inner, path, name, gamma)
            elif not any(name in t[0] for t in self.tensors):
                return None
            else:
                branch = name
        elif not children:
            n = self.copies[name]
            f = np.zeros((len(self.patterns), len(states(n))))
            for k, pattern in enumerate(self.patterns):
                f[k, states(n)[n, pattern[name]]] = 1
            self.tensors.append(([branch], [n], f))
        else:
            # A child that refers to a reticulation comes after the one that defines it.
            tops = [None] * len(children)
            while None in tops:
                before = list(tops)
                for i, child in enumerate(children):
                    if tops[i] is None:
                        tops[i] = self.below(child, path + str(i))
                if before == tops:
                    return None
            self.join(tops[0], tops[1], branch)
        if path:
            self.rise(branch, node["length"])
        return branch

    def sites(self):
        """Probability of each pattern."""
        top = self.below(self.root, "") if self.is_ordered(self.root) else None
        assert top is not None, "a reticulation must be written out before the place that refers to it"
        (_names, most, f), = self.tensors
        q = rates(most[0], self.theta, self.u, self.v)[1:, 1:]
        # The stationary distribution of r given n: the null vector of Q with x(1, 0) + x(1, 1) = 1.
        a, b = np.vstack([q, np.eye(1, len(q)) + np.eye(1, len(q), 1)]), np.zeros(len(q) + 1)
        b[-1] = 1
        x = np.linalg.lstsq(a, b, rcond=None)[0]
        return f[:, 1:] @ x

    @staticmethod
    def is_ordered(root):
        seen, ok = set(), True

        def visit(node):
            nonlocal ok
            for child in node["children"]:
                visit(child)
            if node["name"].startswith("#"):
                if node["children"]:
                    seen.add(node["name"])
                elif node["name"] not in seen:
                    ok = False

        visit(root)
        return ok


def read(path):
    lines = list(csv.reader(open(path)))
    cells = [[tuple(map(int, cell.split("/"))) for cell in line] for line in lines[1:]]
    copies = {name: cells[0][i][1] for i, name in enumerate(lines[0])}
    return copies, [{name: line[i][0] for i, name in enumerate(lines[0])} for line in cells]


def log_likelihood(text, theta, u, v, path):
    copies, sites = read(path)
    counted = collections.Counter(tuple(sorted(site.items())) for site in sites)
    zero = dict.fromkeys(copies, 0)
    patterns = [dict(p) for p in counted] + [zero, dict(copies)]
    p = likelihood(text, theta, u, v, copies, patterns).sites()
    weights = np.array(list(counted.values()))
    constant = np.array([dict(c) in (zero, copies) for c in counted])
    everything = float(weights @ np.log(p[:-2]))
    polymorphic = float((weights * ~constant) @ np.log(p[:-2]) - weights[~constant].sum() * np.log1p(-p[-2] - p[-1]))
    return everything, polymorphic


def draw():
    """Counts of all shapes: every site has a frequency of its own, and a species a deviation from it."""
    random = np.random.default_rng(20261122)
    for file, (_, copies) in COPIES.items():
        with open(pathlib.Path(__file__).parent / f"{file}.csv", "w") as out:
            out.write(",".join(copies) + "\n")
            for _ in range(300):
                p = random.beta(.3, .3)
                reds = [random.binomial(n, min(max(p + random.normal(0, .15), 0), 1)) for n in copies.values()]
                out.write(",".join(f"{r}/{n}" for r, n in zip(reds, copies.values())) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(*(f"{x:.12f}" for x in log_likelihood(NETWORKS[sys.argv[1]], *map(float, sys.argv[2:5]), sys.argv[5])))
    else:
        draw()
        for file, network, theta, u, v in CASES:
            path = pathlib.Path(__file__).parent / f"{file}.csv"
            values = log_likelihood(NETWORKS[network], theta, u, v, path)
            print(f"| `{file}.csv` | {network} | {theta} | {u}, {v} | %.12f | %.12f |" % values)
