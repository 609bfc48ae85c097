// Sites that are left out after reading: with too much missing, and near others.
#include <algorithm>
#include <numeric>
#include <utility>

#include "io/genotypes.hpp"

namespace quintet::io {

namespace {

constexpr int position_bits = 40;

std::uint64_t contig_of(std::uint64_t place) { return place >> position_bits; }

class site_filter {
 public:
  site_filter(const snp::Data& data, std::span<const std::uint64_t> places)
      : data_(data), places_(places), is_kept_(std::size_t(data.given_sites()), true) {}

  std::int64_t leave_out_missing(double max_share) {
    std::int64_t sampled = 0;
    for (const std::int64_t copies : data_.sampled_copies()) sampled += copies;
    // A share such as 0.2 of 10 copies is 2 of them, whatever the rounding.
    const double least = (1 - max_share) * double(sampled) * (1 - 1e-12);
    return leave_out([&](std::int64_t site) { return has_pattern(site) && double(copies_of(site)) < least; });
  }

  std::int64_t thin(std::int64_t distance) {
    std::vector<bool> is_chosen(is_kept_.size(), false);
    std::uint64_t last = 0;
    bool is_first = true;
    for (const std::int64_t site : polymorphic_by_place()) {
      const std::uint64_t place = places_[std::size_t(site)];
      if (!is_first && contig_of(place) == contig_of(last) && place - last < std::uint64_t(distance)) continue;
      is_chosen[std::size_t(site)] = true;
      is_first = false;
      last = place;
    }
    return leave_out([&](std::int64_t site) { return has_pattern(site) && !is_chosen[std::size_t(site)]; });
  }

  std::int64_t keep_one_per_locus() {
    std::vector<bool> is_chosen(is_kept_.size(), false);
    const std::vector<std::int64_t> sites = polymorphic_by_place();
    const auto contig = [&](std::int64_t site) { return contig_of(places_[std::size_t(site)]); };
    for (auto begin = sites.begin(); begin != sites.end();) {
      const auto end = std::find_if(begin, sites.end(), [&](std::int64_t s) { return contig(s) != contig(*begin); });
      const auto best =
          std::max_element(begin, end, [&](std::int64_t a, std::int64_t b) { return copies_of(a) < copies_of(b); });
      is_chosen[std::size_t(*best)] = true;
      begin = end;
    }
    return leave_out([&](std::int64_t site) { return has_pattern(site) && !is_chosen[std::size_t(site)]; });
  }

  std::vector<std::int64_t> sites() const {
    std::vector<std::int64_t> kept_sites;
    for (std::size_t site = 0; site < is_kept_.size(); ++site)
      if (is_kept_[site]) kept_sites.push_back(std::int64_t(site));
    return kept_sites;
  }

 private:
  std::int64_t pattern_of(std::int64_t site) const { return data_.pattern_of_site()[std::size_t(site)]; }
  bool has_pattern(std::int64_t site) const { return pattern_of(site) >= 0; }
  std::int64_t copies_of(std::int64_t site) const {
    const std::size_t species = data_.species().size();
    const auto row = data_.copies().subspan(std::size_t(pattern_of(site)) * species, species);
    return std::accumulate(row.begin(), row.end(), std::int64_t{0});
  }

  std::vector<std::int64_t> polymorphic_by_place() const {
    std::vector<std::int64_t> polymorphic;
    for (const std::int64_t site : sites())
      if (has_pattern(site) && data_.kind(pattern_of(site)) == snp::pattern_kind::polymorphic)
        polymorphic.push_back(site);
    std::sort(polymorphic.begin(), polymorphic.end(), [&](std::int64_t a, std::int64_t b) {
      return std::pair(places_[std::size_t(a)], a) < std::pair(places_[std::size_t(b)], b);
    });
    return polymorphic;
  }

  // How many are left out now that were not before.
  template <class IsWrong>
  std::int64_t leave_out(const IsWrong& is_wrong) {
    std::int64_t count = 0;
    for (std::size_t site = 0; site < is_kept_.size(); ++site) {
      if (!is_kept_[site] || !is_wrong(std::int64_t(site))) continue;
      is_kept_[site] = false;
      ++count;
    }
    return count;
  }

  const snp::Data& data_;
  std::span<const std::uint64_t> places_;
  std::vector<bool> is_kept_;
};

}  // namespace

void filter_sites(snp_input& input, std::span<const std::uint64_t> places, const snp_read_options& options) {
  const auto set_loci = [&](std::span<const std::int64_t> sites) {
    for (const std::int64_t site : sites)
      if (!places.empty()) input.locus_of_site.push_back(std::int64_t(contig_of(places[std::size_t(site)])));
  };
  site_filter filter(input.data, places);
  if (options.max_missing < 1) input.report.too_much_missing = filter.leave_out_missing(options.max_missing);
  if (options.thin_distance > 0) input.report.thinned = filter.thin(options.thin_distance);
  if (options.one_per_locus) input.report.thinned = filter.keep_one_per_locus();
  const std::vector<std::int64_t> sites = filter.sites();
  set_loci(sites);
  if (std::int64_t(sites.size()) < input.data.given_sites()) input.data = snp::select_sites(input.data, sites);
}

}  // namespace quintet::io
