/// @file
/// Networks and markers from files, in C. These functions are in the library quintet_io (CMake: quintet::io);
/// everything else of the C interface is in quintet itself. Conventions: quintet/c/core.h; formats:
/// quintet/io/snp_network.hpp and quintet/io/snp_data.hpp.
#ifndef QUINTET_C_SNP_FILES_H
#define QUINTET_C_SNP_FILES_H

#include "quintet/c/snp.h"

#ifdef __cplusplus
extern "C" {
#endif

/// *network := the one network of a file, extended Newick or NEXUS, ".gz" compressed; theta and root_theta as for
/// quintet_snp_network_parse(). Freed with quintet_snp_network_free(). File error: with path, line and reason. O(size
/// of the file).
QUINTET_API quintet_status quintet_snp_network_read(const char* path, double theta, double root_theta,
                                                    quintet_snp_network** network) QUINTET_NOEXCEPT;

/// Options of reading markers.
typedef struct quintet_snp_read_options {
  size_t size;                  ///< of this struct
  const char* population_file;  ///< two columns, individual and species; NULL (default): see population_rule
  const char* population_rule;  ///< "before-first:_", "after-last:_"; NULL (default): every individual is a species
  int32_t diploid;              ///< not 0: states are 0, 1 or 2 copies of allele 1; default 0
  int32_t dominant;             ///< not 0: dominant markers of diploids; default 0
  quintet_snp_empty empty;      ///< default QUINTET_SNP_DROP
  int32_t haploid;              ///< not 0: NEXUS with datatype=snp has states of haploids, not genotypes; default 0
  double max_missing;           ///< most missing share of a site, 0 ... 1; default 1. Not for tables
  int64_t thin_distance;        ///< VCF: least distance of polymorphic sites in bases, >= 0; default 0, any
  int32_t one_per_locus;        ///< not 0: VCF: one polymorphic site of every contig; default 0
  int32_t reserved;             ///< 0
} quintet_snp_read_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_snp_read_options_default(quintet_snp_read_options* options,
                                                            size_t size) QUINTET_NOEXCEPT;

/// *data := markers of a file, its format by the extension: NEXUS, PHYLIP, VCF, PLINK's .raw, or a table of counts
/// (.csv .tsv .txt);
/// ".gz" behind it is compressed. File error: with path, line and reason. Invalid: options that the format does not
/// have, both a file and a rule of populations. Freed with quintet_snp_data_free(). Time: one pass over the file.
QUINTET_API quintet_status quintet_snp_data_read(const char* path, const quintet_snp_read_options* options,
                                                 quintet_snp_data** data) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
