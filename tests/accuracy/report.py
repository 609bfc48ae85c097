#!/usr/bin/env python3
"""Makes one HTML file, with plots inside, of what quintet-accuracy measured.

    quintet-accuracy --json accuracy.json
    tests/accuracy/report.py accuracy.json --output accuracy.html [--images FOLDER]

Columns and markers of a GPU are there when the file has them. --images writes the plots as PNG files as well. Needs
matplotlib (Debian: python3-matplotlib).
"""
import argparse
import base64
import collections
import html
import io
import json
import math
import os
import re
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

DEVICES = ("host", "emulated", "offload")
MARKERS = {"host": "o", "emulated": "x", "offload": "s"}
COLOURS = {"float": "#1f77b4", "double": "#d62728", "half": "#2ca02c", "bfloat16": "#9467bd"}
STYLE = """body{font:15px/1.45 sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.7em 0;font-size:13px}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child{text-align:left}th{background:#f3f3f3}.bad{color:#b00;font-weight:bold}.good{color:#070}
figure{display:inline-block;margin:.4em}code{font-size:12px}details{margin:.6em 0}
details td+td,details th+th{white-space:nowrap;padding:.15em .4em}"""
matplotlib.rcParams.update({"font.size": 9, "svg.hashsalt": "quintet", "axes.grid": True, "grid.alpha": 0.3,
                            "axes.axisbelow": True})


def number(value):
    """Numbers as quintet-accuracy writes them: null for none, "inf"."""
    return math.nan if value is None else float(value)


def shown(value):
    return "" if math.isnan(value) else f"{value:.3g}"


def picture(figure, name, images):
    """The figure as an <img> that needs no other file."""
    if images:
        figure.savefig(os.path.join(images, name + ".png"), dpi=110)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<figure><img alt="{html.escape(name)}" src="data:image/svg+xml;base64,{data}"></figure>'


def places(values):
    """Positions on the axis, and their labels when the values are texts."""
    if all(isinstance(v, (int, float)) for v in values):
        return {v: float(v) for v in values}, None
    labels = list(dict.fromkeys(map(str, values)))
    return {v: labels.index(str(v)) for v in values}, labels


def error_plots(cases, title):
    """Error against the axis of the cases: one plot a quantity and unit, one line a type and device, the largest over
    all else."""
    plots = collections.OrderedDict()
    for case in cases:
        for m in case["measurements"]:
            value = number(m["max"])
            if math.isfinite(value):
                lines = plots.setdefault((case["axis"], m["quantity"], m["unit"]), {})
                x = case["parameters"][case["axis"]]
                point = lines.setdefault((case["type"], m["device"]), {}).setdefault(x, [0, 0])
                point[0], point[1] = max(point[0], value), max(point[1], number(m["bound"]))
    for (axis, quantity, unit), lines in plots.items():
        xs = {x for points in lines.values() for x in points}
        if len(xs) < 2 or all(bound == 0 for points in lines.values() for _, bound in points.values()):
            continue
        order = sorted(xs) if not any(isinstance(x, str) for x in xs) else sorted(xs, key=lambda t: float(t.split("..")[1]))
        at, labels = places(order)
        figure, axes = pyplot.subplots(figsize=(5, 3.4), layout="constrained")
        for (kind, device), points in sorted(lines.items()):
            known = [x for x in order if x in points]
            axes.plot([at[x] for x in known], [points[x][0] for x in known], marker=MARKERS[device], markersize=4,
                      linewidth=1, linestyle="-" if device == "host" else "none", color=COLOURS[kind],
                      label=f"{kind}, {device}")
            if device == "host":
                axes.plot([at[x] for x in known], [points[x][1] for x in known], linestyle="--", linewidth=0.8,
                          color=COLOURS[kind])
        if labels:
            axes.set_xticks(range(len(labels)), labels, rotation=35, ha="right", fontsize=7)
        elif min(order) > 0 and max(order) > 20 * min(order):
            axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set(xlabel=axis, ylabel=f"largest error, {unit}", title=f"{title}: {quantity}", ylim=(0, None))
        axes.legend(fontsize=7)
        yield f"{title} {quantity} {axis}".replace(" ", "_").replace("/", "_"), figure


def device_plot(cases, devices, family):
    """Errors of the other devices against those of the host, as shares of the bound."""
    figure, axes = pyplot.subplots(figsize=(4, 3.4), layout="constrained")
    for device in devices:
        pairs = []
        for case in cases:
            share = {(m["device"], m["quantity"]): number(m["max"]) / number(m["bound"])
                     for m in case["measurements"] if number(m["bound"]) > 0}
            pairs += [(share["host", q], value) for (d, q), value in share.items() if d == device]
        axes.scatter([max(a, 1e-6) for a, _ in pairs], [max(b, 1e-6) for _, b in pairs], s=10, marker=MARKERS[device],
                     label=f"{device}, {len(pairs)} errors", linewidths=0.8)
    axes.plot([1e-6, 1], [1e-6, 1], color="#888", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="host: error / bound", ylabel="device: error / bound",
             title=f"{family}: host against device")
    axes.legend(fontsize=7)
    return figure


def agreement(cases, devices):
    """Rows about the comparison of devices with the host."""
    for device in devices:
        found = [d for case in cases for d in case["comparisons"] if d["device"] == device]
        bits = [d for d in found if d["unit"] == "bits"]
        near = [d for d in found if d["unit"] != "bits"]
        same = sum(number(d["max"]) == 0 for d in bits)
        share = max((number(d["max"]) / number(d["bound"]) for d in near), default=math.nan)
        yield (device, f"{same} of {len(bits)}", len(near), shown(share))


def table(head, rows):
    cells = lambda tag, row: "".join(f"<{tag}>{cell}</{tag}>" for cell in row)  # noqa: E731
    return f"<table><tr>{cells('th', head)}</tr>" + "".join(f"<tr>{cells('td', row)}</tr>" for row in rows) + "</table>"


def breakable(name):
    """A case's name that lines may break behind its slashes and commas."""
    return re.sub("([/,])", r"\1<wbr>", html.escape(name))


def error_rows(cases, devices):
    for case in cases:
        quantities = dict.fromkeys((m["quantity"], m["unit"]) for m in case["measurements"])
        for quantity, unit in quantities:
            of = {m["device"]: m for m in case["measurements"] if m["quantity"] == quantity}
            host = of["host"]
            worst, bound = max(number(m["max"]) for m in of.values()), number(host["bound"])
            verdict = "good" if worst <= bound else "bad"
            yield ([f"<code>{breakable(case['case'])}</code>", quantity, unit, shown(number(host["max"])),
                    shown(number(host["mean"]))] +
                   [shown(number(of[d]["max"])) if d in of else "" for d in devices] +
                   [shown(bound), shown(number(host["baseline"])), f'<span class="{verdict}">'
                    + (f"{worst / bound:.0%}" if bound > 0 else "same bits" if worst == 0 else "other bits") + "</span>"])


def summary_rows(families, devices):
    for family, cases in families.items():
        measured = [m for case in cases for m in case["measurements"]]
        shares = [(number(m["max"]) / number(m["bound"]), case["case"], m["quantity"]) for case in cases
                  for m in case["measurements"] if number(m["bound"]) > 0]
        worst = max(shares) if shares else (math.nan, "", "")
        within = sum(number(m["max"]) <= number(m["bound"]) for m in measured)
        verdict = "good" if within == len(measured) else "bad"
        yield (family, len(cases), f'<span class="{verdict}">{within} of {len(measured)}</span>', f"{worst[0]:.0%}",
               f"<code>{breakable(worst[1])}</code> {worst[2]}")


def page(data, images):
    families = collections.OrderedDict()
    for case in data["cases"]:
        families.setdefault(case["family"], []).append(case)
    present = {m["device"] for case in data["cases"] for m in case["measurements"]}
    devices = [d for d in DEVICES[1:] if d in present]
    build, machine = data["build"], data["machine"]
    gpus = [d["name"] for d in data["devices"] if d["kind"] == "offload"]
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>quintet: accuracy</title><style>{STYLE}</style>",
             "<h1>quintet: accuracy</h1>", table(("of this run", ""), [
                 ("machine", f"{machine['processor']}, {machine['cores']} cores"), ("compiler", build["compiler"]),
                 ("flags", f"<code>{html.escape(build['flags'])} -march={build['host_architecture']}</code>"),
                 ("commit", build["commit"] or "unknown"), ("offload targets", build["offload_targets"]),
                 ("GPU", html.escape(", ".join(gpus)) if "offload" in present else
                  "none on this machine: no figures of a GPU in this report")])]
    failures = data["failures"]
    parts.append(f'<p class="{"bad" if failures else "good"}">{len(failures)} failures</p>')
    parts += [f"<p class=bad>{html.escape(failure)}</p>" for failure in failures]
    parts.append(table(("family", "cases", "errors within their bound", "largest share of a bound", "where"),
                       summary_rows(families, devices)))
    for family, cases in families.items():
        parts.append(f"<h2>{family}</h2>")
        operations = collections.OrderedDict()
        for case in cases:
            if case["axis"]:
                operations.setdefault(case["operation"], []).append(case)
        for operation, some in operations.items():
            for name, figure in error_plots(some, f"{family} {operation}"):
                parts.append(picture(figure, name, images))
        if devices:
            parts.append(picture(device_plot(cases, devices, family), f"{family}_devices", images))
            parts.append(table(("beside the host", "same bits where promised", "compared within a bound",
                                "largest share of it"), agreement(cases, devices)))
        head = ["case", "quantity", "unit", "host max", "host mean"] + [f"{d} max" for d in devices] + \
            ["bound", "baseline (host)", "of the bound"]
        parts.append(f"<details><summary>all {len(cases)} cases</summary>{table(head, error_rows(cases, devices))}</details>")
        skipped = [case["case"] for case in cases if "skipped" in case]
        if skipped:
            parts.append(f"<p>{len(skipped)} cases were skipped, their reference data are not here: "
                         + ", ".join(f"<code>{html.escape(s)}</code>" for s in skipped) + "</p>")
    parts.append("<p>Solid lines: the host; dashed: the stated bound. Other devices have markers only. Units are eps, the "
                 "distance of 1 to the next number of the type computed in, times what the unit names.</p></html>")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="what quintet-accuracy --json wrote")
    parser.add_argument("--output", default="accuracy.html")
    parser.add_argument("--images", help="also write the plots as PNG files into this folder")
    arguments = parser.parse_args()
    try:
        with open(arguments.results, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"report.py: {arguments.results}: {error}")
    if arguments.images:
        os.makedirs(arguments.images, exist_ok=True)
    text = page(data, arguments.images)
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{arguments.output}: {len(data['cases'])} cases, {len(data['failures'])} failures, {len(text) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
