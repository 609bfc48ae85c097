// f2, f3 and f4 of allele frequencies (Patterson et al. 2012), with standard errors by a jackknife over blocks of
// sites. They test for admixture without a network.
//
//   const auto f4 = snp::f_statistic_of(data, {"A", "B", "C", "D"}, {.block_sites = 50});
//   f4.value, f4.standard_error, f4.z       // |z| > 3: A and B are no clade apart from C and D
//
// With a, b, c, d the frequencies of allele 1 among n_A ... copies, means over sites of
//   f2(A, B)       (a - b)^2 - a (1 - a) / (n_A - 1) - b (1 - b) / (n_B - 1)
//   f3(C; A, B)    (c - a) (c - b) - c (1 - c) / (n_C - 1);   well below 0: C is admixed
//   f4(A, B; C, D) (a - b) (c - d);                           0 on a tree with A and B apart from C and D
// Subtractions are finite-sample corrections: without them equal populations differ. A site counts if all species of
// the statistic have copies there, two where n - 1 divides.
//
// The jackknife leaves out each block once and weighs blocks by their sites (Busing, Meijer and van der Leeden 1999).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/markers/site_blocks.hpp"

namespace quintet::snp {

/// One statistic.
struct f_statistic {
  std::vector<std::string> species;  ///< two: f2; three: f3, the first one is the target; four: f4
  double value = 0;                  ///< NaN without a site
  double standard_error = 0;         ///< NaN with fewer than two blocks
  double z = 0;                      ///< value / standard_error
  ///@{
  /// That count, and blocks that have one.
  std::int64_t sites = 0, blocks = 0;
  ///@}
};

/// Throws InvalidArgument for another number of species than 2 ... 4, a species twice or absent, blocks out of range,
/// dominant markers, and data that were given weights. O(sites).
f_statistic f_statistic_of(const Data& data, std::span<const std::string> species, const site_blocks& blocks = {});
/// All f2, all f3 with every target, and the three f4 of every four species, in the order of the species. Throws as
/// f_statistic_of(). O(sites species^4).
std::vector<f_statistic> f_statistics(const Data& data, const site_blocks& blocks = {});

}  // namespace quintet::snp
