#include "quintet/snp/markers/f_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "quintet/core/error.hpp"
#include "quintet/core/poll.hpp"
#include "snp/markers/unit_weights.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

using species_numbers = std::vector<std::int64_t>;

// What the sites of a block add.
struct block_sum {
  double sum = 0, sites = 0;
};

class statistics {
 public:
  statistics(const Data& data, const site_blocks& blocks) : data_(data) {
    require_unit_weights(data);
    if (data.dominant())
      throw InvalidArgument("f-statistics need allele frequencies, which dominant markers do not show");
    for (const auto& sites : sites_of_blocks(data, blocks)) {
      std::map<std::int64_t, double> counts;
      for (const std::int64_t site : sites) ++counts[data.pattern_of_site()[at(site)]];
      patterns_.emplace_back(counts.begin(), counts.end());
    }
  }

  f_statistic of(const species_numbers& species) const {
    f_statistic result;
    for (const std::int64_t s : species) result.species.push_back(data_.species()[at(s)]);
    std::vector<block_sum> blocks;
    block_sum all;
    for (const auto& patterns : patterns_) {
      poll();
      block_sum block;
      for (const auto& [pattern, sites] : patterns) {
        const double value = value_at(pattern, species);
        if (std::isnan(value)) continue;
        block.sum += sites * value;
        block.sites += sites;
      }
      if (block.sites == 0) continue;
      blocks.push_back(block);
      all.sum += block.sum;
      all.sites += block.sites;
    }
    result.value = all.sum / all.sites;
    result.sites = std::int64_t(all.sites);
    result.blocks = std::int64_t(blocks.size());
    result.standard_error = jackknife_error(blocks, all);
    result.z = result.value / result.standard_error;
    return result;
  }

 private:
  double frequency(std::int64_t pattern, std::int64_t species) const {
    return double(data_.red(pattern, species)) / double(data_.copies(pattern, species));
  }
  // Of the square of the frequency, beyond that of the population.
  double excess(std::int64_t pattern, std::int64_t species) const {
    const double a = frequency(pattern, species);
    return a * (1 - a) / double(data_.copies(pattern, species) - 1);
  }

  double value_at(std::int64_t p, const species_numbers& s) const {
    const std::size_t corrected = s.size() == 2 ? 2 : s.size() == 3 ? 1 : 0;
    for (std::size_t i = 0; i < s.size(); ++i)
      if (data_.copies(p, s[i]) < (i < corrected ? 2 : 1)) return nan;
    const double a = frequency(p, s[0]), b = frequency(p, s[1]);
    if (s.size() == 2) return (a - b) * (a - b) - excess(p, s[0]) - excess(p, s[1]);
    const double c = frequency(p, s[2]);
    if (s.size() == 3) return (a - b) * (a - c) - excess(p, s[0]);
    return (a - b) * (c - frequency(p, s[3]));
  }

  static double jackknife_error(const std::vector<block_sum>& blocks, const block_sum& all) {
    if (blocks.size() < 2) return nan;
    const auto count = double(blocks.size());
    const double value = all.sum / all.sites;
    const auto without = [&](const block_sum& block) { return (all.sum - block.sum) / (all.sites - block.sites); };
    double mean = count * value;
    for (const block_sum& block : blocks) mean -= (1 - block.sites / all.sites) * without(block);
    double variance = 0;
    for (const block_sum& block : blocks) {
      const double share = all.sites / block.sites;
      const double difference = share * value - (share - 1) * without(block) - mean;
      variance += difference * difference / (share - 1) / count;
    }
    return std::sqrt(variance);
  }

  const Data& data_;
  std::vector<std::vector<std::pair<std::int64_t, double>>> patterns_;  // of every block, with their sites
};

species_numbers numbers_of_species(const Data& data, std::span<const std::string> names) {
  require_argument(names.size() >= 2 && names.size() <= 4, "species of an f-statistic", names.size(), "2, 3 or 4");
  species_numbers numbers;
  for (const std::string& name : names) {
    const auto place = std::find(data.species().begin(), data.species().end(), name);
    require_argument(place != data.species().end(), "species of an f-statistic", name, "a species of the data");
    numbers.push_back(place - data.species().begin());
    require_argument(std::count(numbers.begin(), numbers.end(), numbers.back()) == 1, "species of an f-statistic", name,
                     "different ones");
  }
  return numbers;
}

}  // namespace

f_statistic f_statistic_of(const Data& data, std::span<const std::string> species, const site_blocks& blocks) {
  return statistics(data, blocks).of(numbers_of_species(data, species));
}

std::vector<f_statistic> f_statistics(const Data& data, const site_blocks& blocks) {
  const statistics all(data, blocks);
  const auto n = std::int64_t(data.species().size());
  std::vector<f_statistic> result;
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = a + 1; b < n; ++b) result.push_back(all.of({a, b}));
  for (std::int64_t target = 0; target < n; ++target)
    for (std::int64_t a = 0; a < n; ++a)
      for (std::int64_t b = a + 1; b < n; ++b)
        if (a != target && b != target) result.push_back(all.of({target, a, b}));
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = a + 1; b < n; ++b)
      for (std::int64_t c = b + 1; c < n; ++c)
        for (std::int64_t d = c + 1; d < n; ++d)
          for (const species_numbers& order : {species_numbers{a, b, c, d}, {a, c, b, d}, {a, d, b, c}})
            result.push_back(all.of(order));
  return result;
}

}  // namespace quintet::snp
