// Biallelic markers from files; the extension says which format, ".gz" or ".bgz" behind it that the file is compressed.
//
// .nex .nexus .nxs   NEXUS (Maddison, Swofford and Maddison, Syst Biol 46:590, 1997), the DATA or CHARACTERS block:
//     datatype binary, standard, restriction, integerdata, snp, or dna, rna and nucleotide (see below); interleaved or
//     not; matchchar; comments. Individuals are haploid with the states 0 and 1; with datatype integerdata, datatype
//     snp (unless symbols are "01") or symbols "012" they are diploid and a state is the number of copies of allele 1.
//     '?' and '-' are missing, as are the characters of `missing` and `gap`. The semicolon may follow the last
//     state directly.
// .phy .phylip .snps .usnps   as PHYLIP, with blanks behind names: a line "individuals sites", then a name and states
//     for each individual, on one line or several, or interleaved; also with names of ten characters and no
//     blank, if the line has all states. States 0, 1 (and 2, for diploids); missing: ? - N.
// .vcf .bcf          VCF, biallelic SNPs, allele 1 is the alternative one, and bases without an alternative (ALT "."),
//     which are constant sites; <NON_REF> and <*> behind an alternative are passed over. A population map is needed.
//     All called copies count: genotypes may be half missing and of any ploidy. FILTER is ignored. Needs htslib
//     in the build.
// .raw               PLINK's additive genotypes (recode A): FID IID PAT MAT SEX PHENOTYPE, then a column for each site.
//     A cell has 0, 1 or 2 copies of the allele at the end of the column's name; NA is missing. Individuals are
//     named by IID; without a population map the family, FID, is the species.
// .csv .tsv .txt     a table: a header with the species, one row per site, cells "red/copies" (dominant:
//     individuals that show the band / individuals); empty, "?", "-", "NA" and "0/0" are missing. A column "weight"
//     weighs the sites.
//
// Nucleotides become counts site by site: of the two bases of the individuals, the rarer one is allele 1. Of equally
// frequent ones it is the later in the alphabet. So u = v is the natural choice. Diploids: a base is two copies, a code
// of two bases (R = A or G, ...) one of each; haploids: such a code is missing. N, X, *, ?, - and codes of three bases
// are missing. Sites with three bases or four are left out and counted.
//
// Errors are FileErrors with the line and the reason. Memory: the states, one byte each, while NEXUS or PHYLIP is read;
// then the patterns and 8 bytes per site, of VCF 16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quintet/io/population_map.hpp"
#include "quintet/snp/markers/data.hpp"

namespace quintet::io {

/// Formats of markers.
enum class marker_format {
  by_extension,  ///< that of the extension
  nexus,         ///< NEXUS
  phylip,        ///< PHYLIP
  vcf,           ///< VCF, BCF, compressed or not
  raw,           ///< PLINK's table of additive genotypes
  table,         ///< counts red/copies
};

/// Options of read_snp_data(); each format has some of these.
struct snp_read_options {
  /// The format, where the name does not say it: of /dev/stdin.
  marker_format format = marker_format::by_extension;
  /// Species of the individuals; needed for VCF, none for tables, which have species already.
  population_map populations = {};
  /// NEXUS and PHYLIP: the states are genotypes of diploids, 0, 1 or 2 copies of allele 1, whatever the file says.
  bool diploid = false;
  /// NEXUS with datatype=snp, which some programs write for haploids: the states are 0 and 1, not genotypes.
  bool haploid = false;
  /// NEXUS, PHYLIP and tables: dominant markers, every individual is diploid, state 1 shows the band.
  bool dominant = false;
  /// PHYLIP: the states are bases. NEXUS says so itself (datatype=dna), or this does.
  bool nucleotides = false;
  /// Of every species at most so many individuals, the first in the file, >= 0; 0: all. Not for tables.
  std::int64_t individuals = 0;
  /// Treatment of a site at which a species has no copies.
  snp::empty_species empty = snp::empty_species::drop;
  /// Leaves out sites at which more than this share of the sampled copies is missing, 0 ... 1.
  double max_missing = 1;
  /// VCF: of the polymorphic sites those at least so many bases behind the one before on their contig, >= 0; 0: all.
  std::int64_t thin_distance = 0;
  /// VCF: of every contig, which is a locus of a de-novo assembly, the polymorphic site with the most copies, the first
  /// of equal ones. Excludes thin_distance.
  bool one_per_locus = false;
};

/// Report of the reading.
struct snp_read_report {
  std::int64_t individuals = 0;     ///< in the file; 0 for tables
  std::int64_t left_out = 0;        ///< of them, by the population map
  std::int64_t over_limit = 0;      ///< of them, because a species has more than options.individuals
  std::vector<std::string> absent;  ///< individuals of the population map that are not in the file
  bool assumed_diploid = false;     ///< NEXUS with datatype=snp, no symbols and no state 2: taken as diploids
  ///@{
  /// VCF: records; those without an alternative allele, which are constant sites; and those left out: with more than
  /// two alleles, and with an allele that is no single base.
  std::int64_t records = 0, without_alternative = 0, multiallelic = 0, not_snps = 0;
  std::int64_t repeated_places = 0;   ///< sites with the contig and position of a site before them
  std::int64_t too_much_missing = 0;  ///< sites left out by max_missing
  std::int64_t thinned = 0;           ///< sites left out by thin_distance or one_per_locus, the constant ones too
  ///@}
  ///@{
  /// Nucleotides: sites, those left out with more than two bases, and codes of two bases that were missing for
  /// haploids.
  std::int64_t nucleotide_sites = 0, several_bases = 0, ambiguous = 0;
  ///@}
};

/// The markers of a file.
struct snp_input {
  snp::Data data;                           ///< patterns of counts
  snp_read_report report;                   ///< report of the reading
  std::vector<std::int64_t> locus_of_site;  ///< VCF: the number of the contig of every site in `data`; otherwise empty
};

/// Reads a file. Throws FileError: unknown extension, unreadable, not as the format demands (with the line), an
/// individual without a species, no htslib for VCF; InvalidArgument for options that the format does not have (see
/// snp_read_options). Time: one pass over the file, O(individuals x sites).
snp_input read_snp_data(const std::string& path, const snp_read_options& options = {});

/// Throws FileError when no format is named and the extension is not in this list, or for VCF where this build has no
/// htslib. The file is not opened.
void check_snp_data_input(const std::string& path, marker_format format = marker_format::by_extension);

/// Whether this build reads VCF. O(1).
bool has_vcf();

}  // namespace quintet::io
