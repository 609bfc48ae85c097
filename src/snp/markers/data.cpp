#include "quintet/snp/markers/data.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "snp/markers/unit_weights.hpp"

namespace quintet::snp {

namespace {

// FNV-1a over the counts of a pattern.
std::size_t hash_counts(const std::int16_t* counts, std::size_t count, std::size_t seed) {
  for (std::size_t i = 0; i < count; ++i) seed = (seed ^ static_cast<std::uint16_t>(counts[i])) * 0x100000001b3u;
  return seed ^ (seed >> 29);
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

}  // namespace

double Data::weight_of(pattern_kind kind) const {
  double sum = 0;
  for (std::size_t p = 0; p < weights_.size(); ++p) sum += kinds_[p] == kind ? weights_[p] : 0;
  return sum;
}

struct DataBuilder::state {
  // Patterns are their own keys: the set holds numbers of rows of the tables.
  struct row_hash {
    const Data* data;
    std::size_t operator()(std::int64_t p) const {
      const std::size_t species = data->species_.size();
      const std::size_t seed = hash_counts(&data->copies_[data->place(p, 0)], species, 0xcbf29ce484222325u);
      return hash_counts(&data->red_[data->place(p, 0)], species, seed);
    }
  };
  struct row_equal {
    const Data* data;
    bool operator()(std::int64_t a, std::int64_t b) const {
      const std::size_t bytes = data->species_.size() * sizeof(std::int16_t);
      const auto same = [&](const std::vector<std::int16_t>& table) {
        return std::memcmp(&table[data->place(a, 0)], &table[data->place(b, 0)], bytes) == 0;
      };
      return same(data->copies_) && same(data->red_);
    }
  };

  explicit state(data_options options) : options(options) { data.dominant_ = options.dominant; }
  state(const state&) = delete;

  void check_counts(std::span<const std::int64_t> red, std::span<const std::int64_t> copies) const;
  void check_weight(double weight) const;
  pattern_kind kind_of(std::int64_t p) const;

  data_options options;
  Data data;
  std::vector<std::int64_t> max_given;  // sites left out included
  std::unordered_set<std::int64_t, row_hash, row_equal> visited{64, row_hash{&data}, row_equal{&data}};
};

DataBuilder::DataBuilder(std::vector<std::string> species, data_options options)
    : state_(std::make_unique<state>(options)) {
  if (species.empty()) throw InvalidArgument("species must not be empty: data need at least one");
  std::unordered_set<std::string_view> names;
  for (const std::string& name : species) {
    if (name.empty()) throw InvalidArgument("species must have names (an empty one is among them)");
    if (!names.insert(name).second) throw InvalidArgument(text("species must have different names (", name, " twice)"));
  }
  state_->max_given.assign(species.size(), 0);
  state_->data.max_.assign(species.size(), 0);
  state_->data.species_ = std::move(species);
}

DataBuilder::~DataBuilder() = default;
DataBuilder::DataBuilder(DataBuilder&&) noexcept = default;
DataBuilder& DataBuilder::operator=(DataBuilder&&) noexcept = default;

void DataBuilder::state::check_counts(std::span<const std::int64_t> red, std::span<const std::int64_t> copies) const {
  const auto& names = data.species_;
  require_argument(red.size() == names.size(), "size of red", red.size(),
                   text(names.size(), ", the number of species"));
  require_argument(copies.size() == names.size(), "size of copies", copies.size(),
                   text(names.size(), ", the number of species"));
  for (std::size_t s = 0; s < names.size(); ++s) {
    if (copies[s] < 0 || copies[s] > max_copies)
      throw InvalidArgument(
          text("copies must be in [0, ", max_copies, "] (species ", names[s], ": copies=", copies[s], ")"));
    if (options.dominant && copies[s] % 2 != 0)
      throw InvalidArgument(text("copies of dominant markers must be even, two an individual (species ", names[s],
                                 ": copies=", copies[s], ")"));
    const std::int64_t max = options.dominant ? copies[s] / 2 : copies[s];
    if (red[s] < 0 || red[s] > max)
      throw InvalidArgument(text("red must be in [0, ", max, "], ",
                                 options.dominant ? "the number of individuals" : "the number of copies", " (species ",
                                 names[s], ": red=", red[s], ")"));
  }
}

void DataBuilder::state::check_weight(double weight) const {
  require_argument(std::isfinite(weight) && weight >= 0, "weight", weight, "finite and >= 0");
}

pattern_kind DataBuilder::state::kind_of(std::int64_t p) const {
  std::int64_t copies = 0, red = 0;
  for (std::size_t s = 0; s < data.species_.size(); ++s) {
    copies += data.copies(p, static_cast<std::int64_t>(s));
    red += data.red(p, static_cast<std::int64_t>(s));
  }
  if (copies == 0) return pattern_kind::unobserved;
  if (red == 0) return pattern_kind::all_zero;
  return red == (options.dominant ? copies / 2 : copies) ? pattern_kind::all_one : pattern_kind::polymorphic;
}

void DataBuilder::add_site(std::span<const std::int64_t> red, std::span<const std::int64_t> copies, double weight) {
  state& s = *state_;
  Data& data = s.data;
  s.check_counts(red, copies);
  s.check_weight(weight);
  for (std::size_t k = 0; k < copies.size(); ++k) s.max_given[k] = std::max(s.max_given[k], copies[k]);
  const auto missing = std::find(copies.begin(), copies.end(), 0);
  if (s.options.empty == empty_species::drop && missing != copies.end()) {
    data.dropped_.push_back({data.given_sites(), missing - copies.begin()});
    data.pattern_of_site_.push_back(-1);
    return;
  }
  const std::int64_t next = data.patterns();
  data.copies_.insert(data.copies_.end(), copies.begin(), copies.end());
  data.red_.insert(data.red_.end(), red.begin(), red.end());
  const auto [it, is_new] = s.visited.insert(next);
  data.pattern_of_site_.push_back(*it);
  if (is_new) {
    data.weights_.push_back(weight);
    data.kinds_.push_back(s.kind_of(next));
    for (std::size_t k = 0; k < copies.size(); ++k) data.max_[k] = std::max(data.max_[k], copies[k]);
  } else {
    data.weights_[static_cast<std::size_t>(*it)] += weight;
    data.copies_.resize(data.copies_.size() - copies.size());
    data.red_.resize(data.red_.size() - red.size());
  }
}

Data DataBuilder::finish(std::vector<std::int64_t> sampled_copies) {
  state& s = *state_;
  if (sampled_copies.empty()) sampled_copies = s.max_given;
  require_argument(sampled_copies.size() == s.data.species_.size(), "size of sampled_copies", sampled_copies.size(),
                   text(s.data.species_.size(), ", the number of species"));
  for (std::size_t k = 0; k < sampled_copies.size(); ++k) {
    const auto fail = [&](const std::string& allowed) {
      throw InvalidArgument(text("sampled_copies must be ", allowed, " (species ", s.data.species_[k],
                                 ": sampled_copies=", sampled_copies[k], ", a site has ", s.max_given[k], ")"));
    };
    if (sampled_copies[k] < s.max_given[k]) fail("at least what a site has");
    if (sampled_copies[k] > max_copies) fail(text("at most ", max_copies));
    if (s.options.dominant && sampled_copies[k] % 2 != 0) fail("even for dominant markers, two an individual");
  }
  s.data.sampled_ = std::move(sampled_copies);
  return std::move(s.data);
}

void require_unit_weights(const Data& data) {
  std::vector<double> sites(static_cast<std::size_t>(data.patterns()), 0);
  for (const std::int64_t p : data.pattern_of_site())
    if (p >= 0) ++sites[static_cast<std::size_t>(p)];
  if (!std::equal(sites.begin(), sites.end(), data.weights().begin()))
    throw InvalidArgument("sites with weights cannot be selected: patterns have the sums of weights alone");
}

Data select_sites(const Data& data, std::span<const std::int64_t> sites) {
  require_unit_weights(data);
  Data selected;
  selected.species_ = data.species_;
  selected.sampled_ = data.sampled_;
  selected.dominant_ = data.dominant_;
  const std::size_t species = data.species_.size();
  selected.max_.assign(species, 0);
  std::vector<std::int64_t> place(data.weights_.size(), -1);
  for (const std::int64_t site : sites) {
    require_argument(site >= 0 && site < data.given_sites(), "site", site, text("in [0, ", data.given_sites(), ")"));
    const std::int64_t p = data.pattern_of_site_[static_cast<std::size_t>(site)];
    if (p < 0) {
      const auto left_out = std::lower_bound(data.dropped_.begin(), data.dropped_.end(), site,
                                             [](const dropped_site& d, std::int64_t s) { return d.site < s; });
      selected.dropped_.push_back({selected.given_sites(), left_out->species});
      selected.pattern_of_site_.push_back(-1);
      continue;
    }
    std::int64_t& known = place[static_cast<std::size_t>(p)];
    if (known < 0) {
      known = selected.patterns();
      for (std::size_t s = 0; s < species; ++s) {
        selected.copies_.push_back(data.copies_[data.place(p, std::int64_t(s))]);
        selected.red_.push_back(data.red_[data.place(p, std::int64_t(s))]);
        selected.max_[s] = std::max<std::int64_t>(selected.max_[s], selected.copies_.back());
      }
      selected.kinds_.push_back(data.kind(p));
      selected.weights_.push_back(0);
    }
    ++selected.weights_[static_cast<std::size_t>(known)];
    selected.pattern_of_site_.push_back(known);
  }
  return selected;
}

std::vector<std::int64_t> columns_of_leaves(const Network& network, const Data& data) {
  const auto known = data.species();
  std::vector<std::int64_t> columns;
  std::vector<std::string> without_data, no_leaf;
  for (const std::string& name : network.species()) {
    const auto it = std::find(known.begin(), known.end(), name);
    if (it == known.end()) without_data.push_back(name);
    columns.push_back(it - known.begin());
  }
  for (const std::string& name : known) {
    const auto leaves = network.species();
    if (std::find(leaves.begin(), leaves.end(), name) == leaves.end()) no_leaf.push_back(name);
  }
  std::string message;
  if (!without_data.empty()) message += text("leaves of the network without data: ", joined(without_data));
  if (!no_leaf.empty())
    message += text(message.empty() ? "" : "; ", "species of the data that are no leaves: ", joined(no_leaf));
  if (!message.empty()) throw NetworkError(NetworkError::rule::unknown_taxon, message);
  return columns;
}

}  // namespace quintet::snp
