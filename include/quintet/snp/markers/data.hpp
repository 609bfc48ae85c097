// Biallelic markers in the form of the likelihood: for every site and species, the number of sampled gene copies and
// the number of them that carry allele 1 ("red"). Sites with the same counts are one pattern with a weight.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Treatment of a site at which a species has no copies.
enum class empty_species {
  drop,  ///< the site is left out, counted and reported; as other programs do
  keep,  ///< the site stays; its likelihood is exact (the species has no lineages)
};

/// Kind of the counts, and the sites to take.
struct data_options {
  /// Dominant markers: a diploid individual shows the band when it has one copy of allele 1 or two.
  bool dominant = false;
  /// Treatment of a site at which a species has no copies.
  empty_species empty = empty_species::drop;
};

/// Alleles in the observed copies of a pattern.
enum class pattern_kind {
  polymorphic,  ///< both alleles (dominant: individuals with the band and without)
  all_zero,     ///< every observed copy carries allele 0 (dominant: no individual shows the band)
  all_one,      ///< every observed copy carries allele 1 (dominant: every individual shows the band)
  unobserved,   ///< no copies at all; only with empty_species::keep
};

/// A site that was left out, and the first species without copies there.
struct dropped_site {
  ///@{
  /// Numbers from 0, in the order in which sites and species were given.
  std::int64_t site, species;
  ///@}
};

/// Patterns of counts. Sites are numbered as they were given, from 0, those left out included; patterns are in the
/// order of their first sites. Members are O(1) unless they say so, and throw nothing: indices p of patterns and s of
/// species must be in range and are not checked. Memory: 4 bytes per pattern and species, 12 per pattern, 8 per site.
class Data {
 public:
  /// Names of the species, in the order of the columns.
  std::span<const std::string> species() const { return species_; }
  /// Number of different patterns.
  std::int64_t patterns() const { return static_cast<std::int64_t>(weights_.size()); }
  ///@{
  /// Sites given, and those of them that have a pattern.
  std::int64_t given_sites() const { return static_cast<std::int64_t>(pattern_of_site_.size()); }
  std::int64_t sites() const { return given_sites() - static_cast<std::int64_t>(dropped_.size()); }
  ///@}
  /// Whether the markers are dominant; see data_options.
  bool dominant() const { return dominant_; }

  /// Sampled gene copies of species s in pattern p. Dominant: two for every individual scored.
  std::int64_t copies(std::int64_t p, std::int64_t s) const { return copies_[place(p, s)]; }
  /// Copies of allele 1 among them, 0 ... copies. Dominant: individuals that show the band, 0 ... copies / 2.
  std::int64_t red(std::int64_t p, std::int64_t s) const { return red_[place(p, s)]; }
  ///@{
  /// The same as tables [patterns, species], row-major.
  std::span<const std::int16_t> copies() const { return copies_; }
  std::span<const std::int16_t> red() const { return red_; }
  ///@}

  /// Number of sites with a pattern, or the sum of their weights.
  double weight(std::int64_t p) const { return weights_[static_cast<std::size_t>(p)]; }
  /// Weights of all patterns.
  std::span<const double> weights() const { return weights_; }
  /// Alleles in the observed copies of pattern p.
  pattern_kind kind(std::int64_t p) const { return kinds_[static_cast<std::size_t>(p)]; }
  /// Sum of the weights of the patterns of a kind. O(patterns).
  double weight_of(pattern_kind kind) const;

  /// Pattern of every site given, -1 for those left out.
  std::span<const std::int64_t> pattern_of_site() const { return pattern_of_site_; }
  /// The sites left out, in the order in which they were given.
  std::span<const dropped_site> dropped_sites() const { return dropped_; }

  /// Gene copies sampled of each species: individuals times ploidy if the source has it, otherwise the most at a site.
  std::span<const std::int64_t> sampled_copies() const { return sampled_; }
  /// The most copies of each species at a site that has a pattern.
  std::span<const std::int64_t> max_copies() const { return max_; }

 private:
  friend class DataBuilder;
  friend Data select_sites(const Data& data, std::span<const std::int64_t> sites);
  Data() = default;
  std::size_t place(std::int64_t p, std::int64_t s) const {
    return static_cast<std::size_t>(p) * species_.size() + static_cast<std::size_t>(s);
  }

  std::vector<std::string> species_;
  std::vector<std::int16_t> copies_, red_;
  std::vector<double> weights_;
  std::vector<pattern_kind> kinds_;
  std::vector<std::int64_t> pattern_of_site_, sampled_, max_;
  std::vector<dropped_site> dropped_;
  bool dominant_ = false;
};

/// Takes sites one after another.
///
///   DataBuilder builder({"A", "B"});
///   builder.add_site(red, copies);  // spans of two counts each
///   const Data data = builder.finish();
class DataBuilder {
 public:
  /// The most copies of a species.
  static constexpr std::int64_t max_copies = 32766;

  /// Throws InvalidArgument for no species, an empty name, or a name twice. O(species).
  explicit DataBuilder(std::vector<std::string> species, data_options options = {});
  ~DataBuilder();
  ///@{
  /// Takes the sites of another builder, which must not be used afterwards.
  DataBuilder(DataBuilder&&) noexcept;
  DataBuilder& operator=(DataBuilder&&) noexcept;
  ///@}

  /// A site: one count a species, as Data holds them. Throws InvalidArgument when the spans are not one number a
  /// species, a count is not in 0 <= red <= copies <= max_copies (dominant: even copies, red <= copies / 2), or the
  /// weight is negative or not finite. O(species) time; memory only for a new pattern and 8 bytes per site.
  void add_site(std::span<const std::int64_t> red, std::span<const std::int64_t> copies, double weight = 1);
  /// The data, which take the builder's memory; it must not be used afterwards. `sampled_copies` is one number a
  /// species (none: the most at a site that was given). Throws InvalidArgument for another number of them, and for one
  /// that is less than a site has, over max_copies, or odd for dominant markers. O(species).
  Data finish(std::vector<std::int64_t> sampled_copies = {});

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The data of these sites, which are numbered as in `data` and may come repeatedly; sites that were left out stay so.
/// Sample sizes stay. Throws InvalidArgument for a number out of range, and for data that were given weights.
/// O((patterns
/// + sites) species).
Data select_sites(const Data& data, std::span<const std::int64_t> sites);

/// For every leaf of the network, in the order of Network::leaves(), the column of its species in the data. Throws
/// NetworkError (unknown_taxon) that names the leaves without data and the species that are no leaves. O(species^2).
std::vector<std::int64_t> columns_of_leaves(const Network& network, const Data& data);

}  // namespace quintet::snp
