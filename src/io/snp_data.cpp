#include "quintet/io/snp_data.hpp"

#include "io/genotypes.hpp"
#include "io/nexus_tokens.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

using kind = marker_format;

struct file_kind {
  kind format;
  bool compressed;
};

file_kind kind_of(const std::string& path, marker_format format) {
  std::string name = lower(path);
  const bool compressed = name.ends_with(".gz") || name.ends_with(".bgz");
  if (compressed) name.resize(name.rfind('.'));
  if (format != kind::by_extension) return {format, compressed};
  const auto ends = [&](std::initializer_list<const char*> extensions) {
    for (const char* extension : extensions)
      if (name.ends_with(extension)) return true;
    return false;
  };
  if (ends({".nex", ".nexus", ".nxs"})) return {kind::nexus, compressed};
  if (ends({".phy", ".phylip", ".snps", ".usnps"})) return {kind::phylip, compressed};
  if (ends({".vcf", ".bcf"})) return {kind::vcf, compressed};
  if (ends({".raw"})) return {kind::raw, compressed};
  if (ends({".csv", ".tsv", ".txt"})) return {kind::table, compressed};
  throw FileError(
      path,
      "has an unknown extension; biallelic data are read from .nex .nexus .nxs, .phy .phylip .snps .usnps, .vcf .bcf, "
      ".raw, and tables of counts from .csv .tsv .txt (each also with .gz or .bgz)");
}

void check_options(const std::string& path, kind format, const snp_read_options& options) {
  if (options.diploid && options.dominant)
    throw InvalidArgument("diploid and dominant exclude each other: dominant markers are of diploids already");
  if (options.diploid && (format == kind::vcf || format == kind::table || format == kind::raw))
    throw InvalidArgument(text("diploid is for NEXUS and PHYLIP; this format says its copies itself (", path, ")"));
  if (options.haploid && (options.diploid || options.dominant))
    throw InvalidArgument("haploid excludes diploid and dominant");
  if (options.haploid && format != kind::nexus)
    throw InvalidArgument(text("haploid is for NEXUS with datatype=snp (", path, ")"));
  if (options.nucleotides && options.dominant)
    throw InvalidArgument("nucleotides and dominant exclude each other: dominant markers have the states 0 and 1");
  if (options.nucleotides && (format == kind::vcf || format == kind::table || format == kind::raw))
    throw InvalidArgument(text("nucleotides is for NEXUS and PHYLIP (", path, ")"));
  require_argument(options.individuals >= 0, "individuals", options.individuals, ">= 0");
  if (options.individuals > 0 && format == kind::table)
    throw InvalidArgument(text("individuals is for files of individuals; a table has counts (", path, ")"));
  if (options.dominant && (format == kind::vcf || format == kind::raw))
    throw InvalidArgument(text("dominant markers cannot be read from VCF or .raw, which hold genotypes (", path, ")"));
  if (!options.populations.is_identity() && format == kind::table)
    throw InvalidArgument(
        text("a table of counts has species already, so there must be no population map (", path, ")"));
  require_argument(options.max_missing >= 0 && options.max_missing <= 1, "max_missing", options.max_missing,
                   "in [0, 1]");
  require_argument(options.thin_distance >= 0, "thin_distance", options.thin_distance, ">= 0");
  if (options.thin_distance > 0 && options.one_per_locus)
    throw InvalidArgument("thin_distance and one_per_locus exclude each other");
  if ((options.thin_distance > 0 || options.one_per_locus) && format != kind::vcf)
    throw InvalidArgument(
        text("thin_distance and one_per_locus need the positions of sites, which only VCF has (", path, ")"));
  if (options.max_missing < 1 && format == kind::table)
    throw InvalidArgument(text("max_missing is for files of individuals; a table has counts (", path, ")"));
  if (options.populations.is_identity() && format == kind::vcf)
    throw InvalidArgument(text("VCF needs a population map or a species rule (", path, ")"));
}

}  // namespace

void check_snp_data_input(const std::string& path, marker_format format) {
  if (kind_of(path, format).format == kind::vcf && !has_vcf())
    throw FileError(path, "cannot be read: this build has no htslib (Debian package libhts-dev)");
}

snp_input read_snp_data(const std::string& path, const snp_read_options& options) {
  check_snp_data_input(path, options.format);
  const file_kind file = kind_of(path, options.format);
  check_options(path, file.format, options);
  switch (file.format) {
    case kind::nexus:
      return read_nexus_data(path, file.compressed, options);
    case kind::phylip:
      return read_phylip_data(path, file.compressed, options);
    case kind::vcf:
      return read_vcf_data(path, options);
    case kind::raw:
      return read_raw_data(path, file.compressed, options);
    case kind::table:
    case kind::by_extension:
      break;
  }
  return read_count_table(path, file.compressed, options);
}

}  // namespace quintet::io
