#include "quintet/snp/simulation/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/parallel.hpp"
#include "quintet/core/profile.hpp"
#include "snp/network/random_variates.hpp"

namespace quintet::snp {

namespace {

constexpr std::int64_t sites_a_tile = 256;
constexpr std::int64_t max_copies = 8000, max_sites = 1'000'000'000, max_tries = 1'000'000;

// A lineage of genes: the gene at its lower end, and the time since then.
struct gene_lineage {
  std::int32_t gene;
  double time;
};

// The genealogy of a site: genes from the sampled copies to the last common ancestor, every one after its children.
class genealogy {
 public:
  genealogy(const Network& network, const simulate_options& options) : network_(network), options_(options) {
    waiting_.resize(static_cast<std::size_t>(network.branches()) + 1);
  }

  /// Whether both alleles show.
  bool draw(random_stream& random, std::int16_t* red) {
    merge_lineages(random);
    return drop_alleles(random, red);
  }

 private:
  std::int32_t new_gene(std::int32_t leaf) {
    parent_.push_back(-1);
    time_.push_back(0);
    leaf_of_gene_.push_back(leaf);
    return static_cast<std::int32_t>(parent_.size()) - 1;
  }

  // Lineages on a population of size theta for a time; endless: until one is left.
  void coalesce(std::vector<gene_lineage>& lineages, double theta, double length, bool is_endless,
                random_stream& random) {
    while (lineages.size() > 1) {
      const auto j = static_cast<double>(lineages.size());
      const double wait = draw_exponential(theta / (j * (j - 1)), random);
      if (!is_endless && wait >= length) break;
      length -= wait;
      for (gene_lineage& lineage : lineages) lineage.time += wait;
      const std::int32_t ancestor = new_gene(-1);
      for (int child = 0; child < 2; ++child) {
        const std::size_t chosen = random.below(static_cast<std::uint32_t>(lineages.size()));
        parent_[static_cast<std::size_t>(lineages[chosen].gene)] = ancestor;
        time_[static_cast<std::size_t>(lineages[chosen].gene)] = lineages[chosen].time;
        lineages[chosen] = lineages.back();
        lineages.pop_back();
      }
      lineages.push_back({ancestor, 0});
    }
    if (is_endless) return;
    for (gene_lineage& lineage : lineages) lineage.time += length;
  }

  void merge_lineages(random_stream& random) {
    parent_.clear();
    time_.clear();
    leaf_of_gene_.clear();
    for (std::vector<gene_lineage>& list : waiting_) list.clear();
    for (const std::int64_t x : network_.children_first()) {
      lineages_.clear();
      if (network_.kind(x) == node_kind::leaf) {
        const auto leaf =
            std::lower_bound(network_.leaves().begin(), network_.leaves().end(), x) - network_.leaves().begin();
        for (std::int64_t copy = 0; copy < options_.copies[static_cast<std::size_t>(leaf)]; ++copy)
          lineages_.push_back({new_gene(static_cast<std::int32_t>(leaf)), 0});
      }
      for (const std::int64_t b : network_.child_branches(x)) {
        std::vector<gene_lineage>& below = waiting_[static_cast<std::size_t>(b)];
        coalesce(below, network_.branch(b).theta, network_.branch(b).length, false, random);
        lineages_.insert(lineages_.end(), below.begin(), below.end());
      }
      const auto up = network_.parent_branches(x);
      if (up.empty()) {
        coalesce(lineages_, network_.root_theta(), 0, true, random);
      } else if (up.size() == 1) {
        waiting_[static_cast<std::size_t>(up[0])] = lineages_;
      } else {
        const double gamma = network_.branch(up[0]).gamma;
        for (const gene_lineage& lineage : lineages_)
          waiting_[static_cast<std::size_t>(up[random.uniform<double>() < gamma ? 0 : 1])].push_back(lineage);
      }
    }
  }

  bool drop_alleles(random_stream& random, std::int16_t* red) {
    const double share = options_.v / (options_.u + options_.v), rate = options_.u + options_.v;
    std::fill(red, red + options_.copies.size(), std::int16_t{0});
    const std::size_t genes = parent_.size();
    allele_.resize(genes);
    bool has_zero = false, has_one = false;
    for (std::size_t gene = genes; gene-- > 0;) {
      double chance = share;
      if (parent_[gene] >= 0) {
        const double above = allele_[static_cast<std::size_t>(parent_[gene])];
        chance += (above - share) * std::exp(-rate * time_[gene]);
      }
      allele_[gene] = random.uniform<double>() < chance ? 1 : 0;
      if (leaf_of_gene_[gene] < 0) continue;
      red[leaf_of_gene_[gene]] = static_cast<std::int16_t>(red[leaf_of_gene_[gene]] + allele_[gene]);
      (allele_[gene] != 0 ? has_one : has_zero) = true;
    }
    return has_zero && has_one;
  }

  const Network& network_;
  const simulate_options& options_;
  std::vector<std::vector<gene_lineage>> waiting_;  // at the lower ends of the branches
  std::vector<gene_lineage> lineages_;
  std::vector<std::int32_t> parent_, leaf_of_gene_;  // of the genes
  std::vector<double> time_;                         // up to the parent
  std::vector<std::int8_t> allele_;
};

void check(const Network& network, const simulate_options& options) {
  if (options.copies.size() != network.species().size())
    require_argument(false, "copies", options.copies.size(),
                     text(network.species().size(), " numbers, one per species"));
  std::int64_t total = 0;
  for (const std::int64_t copies : options.copies) {
    require_argument(copies >= 0 && copies <= max_copies, "copies", copies, text("in [0, ", max_copies, "]"));
    total += copies;
  }
  require_argument(total >= 1 && total <= max_copies, "sum of copies", total, text("in [1, ", max_copies, "]"));
  if (options.polymorphic_only)
    require_argument(total >= 2, "sum of copies", total, ">= 2 where all sites are to be polymorphic");
  for (const auto& [name, rate] : {std::pair("u", options.u), std::pair("v", options.v)})
    require_argument(std::isfinite(rate) && rate > 0, name, rate, "finite and > 0");
  require_argument(options.sites >= 1 && options.sites <= max_sites, "sites", options.sites,
                   text("in 1 ... ", max_sites));
}

}  // namespace

simulated_sites simulate_sites(const Network& network, const simulate_options& options) {
  const stage_region stage("sites");
  check(network, options);
  const auto species = static_cast<std::int64_t>(options.copies.size());
  simulated_sites sites;
  sites.red.resize(static_cast<std::size_t>(options.sites * species));
  sites.attempts.resize(static_cast<std::size_t>(options.sites));
  const std::int64_t tiles = (options.sites + sites_a_tile - 1) / sites_a_tile;
  device::for_each_side_by_side(tiles, [&](std::int64_t tile) {
    genealogy genes(network, options);
    const std::int64_t end = std::min(options.sites, (tile + 1) * sites_a_tile);
    for (std::int64_t site = tile * sites_a_tile; site < end; ++site) {
      random_stream random(options.seed, static_cast<std::uint64_t>(site));
      std::int64_t tries = 1;
      while (!genes.draw(random, &sites.red[static_cast<std::size_t>(site * species)]) && options.polymorphic_only) {
        if (++tries <= max_tries) continue;
        throw InvalidArgument(text("site ", site + 1, " shows one allele in ", max_tries,
                                   " tries: branches, thetas or rates are too small for polymorphic sites"));
      }
      sites.attempts[static_cast<std::size_t>(site)] = tries;
    }
  });
  return sites;
}

Data simulate(const Network& network, const simulate_options& options) {
  const simulated_sites sites = simulate_sites(network, options);
  DataBuilder builder({network.species().begin(), network.species().end()}, {.empty = empty_species::keep});
  std::vector<std::int64_t> red(options.copies.size());
  for (std::size_t site = 0; site < sites.attempts.size(); ++site) {
    for (std::size_t s = 0; s < red.size(); ++s) red[s] = sites.red[site * red.size() + s];
    builder.add_site(red, options.copies);
  }
  return builder.finish(options.copies);
}

network_state simulate_network(const prior_options& options, std::shared_ptr<const std::vector<std::string>> species,
                               const network_limits& limits, std::uint64_t seed, std::uint64_t number) {
  const stage_region stage("networks");
  const auto count = static_cast<std::int64_t>(species ? species->size() : 0);
  random_stream random(seed, number);
  return priors(options, count, limits).draw(std::move(species), random);
}

}  // namespace quintet::snp
