#!/usr/bin/env python3
"""Makes hybrid.vcf.gz and hybrid.populations.csv: simulated genotypes of four species, one of them a hybrid.

    make_hybrid_example.py QUINTET-SNP-SIMULATE

Counts come from the program, on the network below; which individual carries which of a species' copies is drawn here.
"""
import csv
import gzip
import os
import random
import subprocess
import sys
import tempfile

NETWORK = "((((D:0.01)#H1:0.005::0.7,A:0.015):0.01,B:0.025):0.02,(C:0.02,#H1:0.01::0.3):0.025)"
INDIVIDUALS, SITES = 2, 2000
folder = os.path.dirname(os.path.abspath(__file__))
draw = random.Random(1)

with tempfile.TemporaryDirectory() as work:
    counts = os.path.join(work, "counts.csv")
    subprocess.run([sys.argv[1], "--network", NETWORK, "--theta", "0.01", "--copies", str(2 * INDIVIDUALS), "--sites",
                    str(SITES), "--polymorphic-only", "--seed", "1", "--output", counts, "--quiet"], check=True)
    with open(counts, newline="") as file:
        species, *sites = list(csv.reader(file))
individuals = [f"{name.lower()}{i + 1}" for name in species for i in range(INDIVIDUALS)]
lines = ["##fileformat=VCFv4.2", '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">', "##contig=<ID=1>",
         "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"] + individuals)]
for number, site in enumerate(sites):
    genotypes = []
    for cell in site:
        red, copies = map(int, cell.split("/"))
        alleles = [1] * red + [0] * (copies - red)
        draw.shuffle(alleles)
        genotypes += [f"{alleles[2 * i]}/{alleles[2 * i + 1]}" for i in range(INDIVIDUALS)]
    reference, other = draw.sample("ACGT", 2)
    lines.append("\t".join(["1", str(1000 * (number + 1)), ".", reference, other, ".", "PASS", ".", "GT"] + genotypes))
with gzip.GzipFile(os.path.join(folder, "hybrid.vcf.gz"), "wb", mtime=0) as file:
    file.write(("\n".join(lines) + "\n").encode())
with open(os.path.join(folder, "hybrid.populations.csv"), "w") as file:
    file.write("individual,species\n")
    for i, name in enumerate(individuals):
        file.write(f"{name},{species[i // INDIVIDUALS]}\n")
