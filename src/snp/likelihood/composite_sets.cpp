#include "snp/likelihood/composite_sets.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "quintet/device/device.hpp"
#include "snp/likelihood/constant_patterns.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

void add_sets(std::int64_t n, std::int64_t size, species_set& chosen, std::vector<species_set>& all) {
  if (std::int64_t(chosen.size()) == size) return all.push_back(chosen);
  for (std::int64_t next = chosen.empty() ? 0 : chosen.back() + 1; next < n; ++next) {
    chosen.push_back(next);
    add_sets(n, size, chosen, all);
    chosen.pop_back();
  }
}

species_codes codes_of(const Data& data, std::int64_t species) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> numbers;
  for (std::int64_t p = 0; p < data.patterns(); ++p) numbers[{data.copies(p, species), data.red(p, species)}] = 0;
  if (!data.dominant()) {
    std::set<std::int64_t> copies{data.sampled_copies()[at(species)]};
    for (const auto& [counts, number] : numbers) copies.insert(counts.first);
    for (const std::int64_t n : copies) numbers[{n, 0}] = numbers[{n, n}] = 0;
  }
  species_codes codes;
  for (auto& [counts, number] : numbers) {
    number = std::int64_t(codes.counts.size());
    codes.counts.push_back(counts);
  }
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    codes.of_pattern.push_back(numbers[{data.copies(p, species), data.red(p, species)}]);
  return codes;
}

// Codes of a set's species as digits of a number, and the weight of all patterns with them.
using weight_table = std::map<std::uint64_t, double>;

std::uint64_t code_of_set(const std::vector<species_codes>& codes, const species_set& set, std::int64_t pattern) {
  std::uint64_t code = 0;
  for (const std::int64_t s : set)
    code = code * codes[at(s)].counts.size() + std::uint64_t(codes[at(s)].of_pattern[at(pattern)]);
  return code;
}

weight_table weights_of(const Data& data, const std::vector<species_codes>& codes, const species_set& set) {
  std::unordered_map<std::uint64_t, double> sums;
  for (std::int64_t p = 0; p < data.patterns(); ++p) sums[code_of_set(codes, set, p)] += data.weight(p);
  return {sums.begin(), sums.end()};
}

Data data_of(const Data& data, const std::vector<species_codes>& codes, const species_set& set,
             const weight_table& weights) {
  std::vector<std::string> names;
  std::vector<std::int64_t> sampled;
  for (const std::int64_t s : set) {
    names.push_back(data.species()[at(s)]);
    sampled.push_back(data.sampled_copies()[at(s)]);
  }
  DataBuilder builder(names, {.dominant = data.dominant(), .empty = empty_species::keep});
  std::vector<std::int64_t> red(set.size()), copies(set.size());
  for (const auto& [code, weight] : weights) {
    std::uint64_t rest = code;
    for (std::size_t i = set.size(); i-- > 0;) {
      const auto& counts = codes[at(set[i])].counts;
      std::tie(copies[i], red[i]) = counts[rest % counts.size()];
      rest /= counts.size();
    }
    builder.add_site(red, copies, weight);
  }
  return builder.finish(sampled);
}

// Sets with the same list of patterns share the plan of a topology. Where all species have the same counts, those that
// other sets have come in with weight 0, if the list is not much longer.
void share_patterns(const std::vector<species_codes>& codes, const std::vector<species_set>& sets,
                    std::vector<weight_table>& tables) {
  const auto is_usual = [&](const species_set& set) {
    return std::all_of(set.begin(), set.end(),
                       [&](std::int64_t s) { return codes[at(s)].counts == codes[at(sets[0][0])].counts; });
  };
  weight_table all;
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (is_usual(sets[i]))
      for (const auto& entry : tables[i]) all[entry.first] = 0;
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (is_usual(sets[i]) && all.size() <= 2 * tables[i].size()) tables[i].insert(all.begin(), all.end());
}

std::vector<double> parameters_of(const Network& network) {
  std::vector<double> key{network.root_theta()};
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    const branch& each = network.branch(b);
    key.insert(key.end(), {double(each.child), double(each.parent), each.length, each.gamma});
  }
  return key;
}

double difference_step(double x) { return 1e-6 * x; }

std::vector<std::int64_t> leaves_of_species(const Network& network, const Data& data) {
  const std::vector<std::int64_t> columns = columns_of_leaves(network, data);
  std::vector<std::int64_t> leaves(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) leaves[at(columns[i])] = network.leaves()[i];
  return leaves;
}

}  // namespace

std::vector<species_set> list_sets(std::int64_t n, std::int64_t size) {
  std::vector<species_set> all;
  species_set chosen;
  add_sets(n, size, chosen, all);
  return all;
}

bool has_common_theta(const Network& network) {
  for (std::int64_t b = 0; b < network.branches(); ++b)
    if (network.branch(b).theta != network.root_theta()) return false;
  return true;
}

composite_sets::composite_sets(const Data& data, std::int64_t size, const model& m, const likelihood_options& options)
    : data_(data), model_(m), options_(options), workers_(options.device.kind() == device_kind::host ? threads() : 1) {
  for (std::int64_t s = 0; s < std::int64_t(data.species().size()); ++s) codes_.push_back(codes_of(data, s));
  for (species_set& set : list_sets(std::int64_t(data.species().size()), size)) {
    if (std::all_of(set.begin(), set.end(), [&](std::int64_t s) { return data.max_copies()[at(s)] > 0; }))
      sets_.push_back(std::move(set));
    else
      ++skipped_;
  }
  std::vector<weight_table> tables(sets_.size());
  workers_.run(std::int64_t(sets_.size()),
               [&](std::int64_t i) { tables[at(i)] = weights_of(data, codes_, sets_[at(i)]); });
  if (!sets_.empty()) share_patterns(codes_, sets_, tables);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    std::vector<std::uint64_t> codes;
    for (const auto& entry : tables[i]) codes.push_back(entry.first);
    term each(data_of(data, codes_, sets_[i], tables[i]), std::move(codes));
    terms_.push_back(std::move(each));
  }
  if (size == 3 && options.device.kind() == device_kind::host && star_likelihood::fits(data, m)) {
    std::vector<species_counts> counts;
    for (const species_codes& of : codes_) counts.push_back(of.counts);
    stars_.emplace(std::move(counts), m);
    workers_.run(std::int64_t(terms_.size()),
                 [&](std::int64_t i) { terms_[at(i)].rows = rows_of(terms_[at(i)].data, sets_[at(i)]); });
  }
  values_.resize(sets_.size());
}

star_rows composite_sets::rows_of(const Data& data, const species_set& set) const {
  const auto code_of = [&](std::size_t i, std::int64_t copies, std::int64_t red) {
    const species_counts& counts = codes_[at(set[i])].counts;
    return std::int32_t(std::lower_bound(counts.begin(), counts.end(), std::pair(copies, red)) - counts.begin());
  };
  const constant_patterns constants(data, model_);
  star_rows rows;
  rows.condition_weights.assign(constants.copies.size(), 0.0);
  for (std::int64_t p = 0; p < data.patterns(); ++p) {
    star_rows::row row;
    for (std::size_t i = 0; i < 3; ++i)
      row[i] = code_of(i, data.copies(p, std::int64_t(i)), data.red(p, std::int64_t(i)));
    const std::int64_t condition = constants.condition_of_pattern[at(p)];
    rows.patterns.push_back(row);
    rows.weights.push_back(!model_.polymorphic_only || condition >= 0 ? data.weight(p) : 0);
    if (condition >= 0) rows.condition_weights[at(condition)] += data.weight(p);
  }
  for (const auto& copies : constants.copies) {
    std::array<star_rows::row, 2> pair;
    for (std::size_t i = 0; i < 3; ++i) {
      pair[0][i] = code_of(i, copies[i], 0);
      pair[1][i] = code_of(i, copies[i], copies[i]);
    }
    rows.constants.push_back(pair);
  }
  return rows;
}

composite_sets::part composite_sets::part_of(const Network& network, std::span<const std::int64_t> leaf_of_species,
                                             std::size_t i) const {
  std::vector<std::int64_t> leaves;
  for (const std::int64_t s : sets_[i]) leaves.push_back(leaf_of_species[at(s)]);
  restricted_network part = restrict_network(network, leaves);
  const bool is_star = leaves.size() == 3 && part.network.reticulations().empty() && !model_.mutation_only_at_root;
  return {is_star ? star_of(part) : std::move(part), is_star};
}

bool composite_sets::is_known(term& of, const restricted_network& part, const parts* moved) const {
  const bool is_same = parameters_of(part.network) == of.parameters, is_renumbered = part.branches != of.branches;
  of.branches = part.branches;
  if (is_same && (moved == nullptr || (of.slopes_number == parts_number_ && !is_renumbered))) return true;
  if (!is_same || is_any_moved(of, *moved)) return false;
  clear_slopes(of);
  return true;
}

void composite_sets::compute(term& of, const part& own, const parts* moved) const {
  of.parameters.clear();  // an error leaves the set without a value
  of.slopes_number = -1;
  if (own.is_star && stars_) {
    compute_star(of, own);
    if (moved != nullptr) of.slopes_number = parts_number_;
  } else {
    Likelihood likelihood(own.network.network, of.data, model_, options_);
    of.value = likelihood.evaluate();
    of.truncation_bound = likelihood.truncation().bound;
    if (moved != nullptr) differentiate(of, likelihood, *moved);
  }
  of.parameters = parameters_of(own.network.network);
}

void composite_sets::compute_star(term& of, const part& own) const {
  const star_likelihood::sums sums = stars_->log_likelihood(of.rows, own.ways);
  of.value = sums.value;
  of.truncation_bound = 0;
  of.length_slope.assign(of.branches.size(), 0);
  std::copy(sums.length.begin(), sums.length.end(), of.length_slope.begin());
  of.gamma_slope.assign(of.branches.size(), 0);
  of.theta_slope = sums.theta;
}

void composite_sets::begin_stars(const Network& network, std::vector<std::optional<part>>& parts_of_sets,
                                 const std::vector<char>& is_known, const parts* moved) {
  if (!stars_) return;
  stars_->begin(network.root_theta(), moved != nullptr);
  for (std::size_t i = 0; i < parts_of_sets.size(); ++i)
    for (std::size_t leaf = 0; leaf < 3 && parts_of_sets[i]->is_star && is_known[i] == 0; ++leaf)
      parts_of_sets[i]->ways[leaf] =
          stars_->add(sets_[i][leaf], parts_of_sets[i]->network.network.branch(std::int64_t(leaf)).length);
  stars_->compute(workers_);
}

bool composite_sets::is_any_moved(const term& of, const parts& moved) {
  if (moved.theta) return true;
  return std::any_of(of.branches.begin(), of.branches.end(), [&](const std::vector<std::int64_t>& whole) {
    return std::any_of(whole.begin(), whole.end(), [&](std::int64_t w) { return moved.branches[at(w)] != 0; });
  });
}

void composite_sets::clear_slopes(term& of) const {
  of.length_slope.assign(of.branches.size(), 0);
  of.gamma_slope = of.length_slope;
  of.theta_slope = 0;
  of.slopes_number = parts_number_;
}

void composite_sets::differentiate(term& of, Likelihood& likelihood, const parts& moved) const {
  likelihood.accept();
  const Network network = likelihood.network();
  const auto slope = [&](double step) {
    const double d = (likelihood.evaluate() - of.value) / step;
    likelihood.reject();
    return d;
  };
  clear_slopes(of);
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    const auto& whole = of.branches[at(b)];
    if (std::none_of(whole.begin(), whole.end(), [&](std::int64_t w) { return moved.branches[at(w)] != 0; })) continue;
    const double step = difference_step(network.branch(b).length + network.root_theta());
    likelihood.set_length(b, network.branch(b).length + step);
    of.length_slope[at(b)] = slope(step);
  }
  for (const std::int64_t node : network.reticulations()) {
    const std::int64_t b = network.parent_branches(node)[0];
    if (moved.branches[at(of.branches[at(b)][0])] == 0) continue;
    const double step = difference_step(network.branch(b).gamma > 0.5 ? -1 : 1);
    likelihood.set_gamma(b, network.branch(b).gamma + step);
    of.gamma_slope[at(b)] = slope(step);
  }
  if (!moved.theta) return;
  const double step = difference_step(network.root_theta());
  for (std::int64_t b = 0; b < network.branches(); ++b) likelihood.set_theta(b, network.root_theta() + step);
  likelihood.set_root_theta(network.root_theta() + step);
  of.theta_slope = slope(step);
}

void composite_sets::update(const Network& network, const parts* moved) {
  if (moved != nullptr && (moved->branches != parts_.branches || moved->theta != parts_.theta)) {
    parts_ = *moved;
    ++parts_number_;
  }
  const std::vector<std::int64_t> leaves = leaves_of_species(network, data_);
  std::vector<std::optional<part>> parts_of_sets(terms_.size());
  std::vector<char> is_unchanged(terms_.size(), 0);
  workers_.run(std::int64_t(terms_.size()), [&](std::int64_t i) {
    parts_of_sets[at(i)] = part_of(network, leaves, at(i));
    is_unchanged[at(i)] = is_known(terms_[at(i)], parts_of_sets[at(i)]->network, moved);
  });
  begin_stars(network, parts_of_sets, is_unchanged, moved);
  workers_.run(std::int64_t(terms_.size()), [&](std::int64_t i) {
    if (is_unchanged[at(i)] == 0) compute(terms_[at(i)], *parts_of_sets[at(i)], moved);
  });
  for (std::size_t i = 0; i < terms_.size(); ++i) values_[i] = terms_[i].value;
}

const std::vector<double>& composite_sets::values(const Network& network) {
  update(network, nullptr);
  return values_;
}

composite_sets::sums composite_sets::differentiate(const Network& network, const parts& moved) {
  update(network, &moved);
  sums all{.length = std::vector<double>(at(network.branches()), 0), .gamma = {}};
  all.gamma = all.length;
  for (const term& each : terms_) {
    all.value += each.value;
    all.theta += each.theta_slope;
    for (std::size_t b = 0; b < each.branches.size(); ++b) {
      for (const std::int64_t whole : each.branches[b]) all.length[at(whole)] += each.length_slope[b];
      if (!each.branches[b].empty()) all.gamma[at(each.branches[b][0])] += each.gamma_slope[b];
    }
  }
  return all;
}

std::vector<double> composite_sets::logs_of_codes(const Network& part, std::size_t i) const {
  Likelihood likelihood(part, terms_[i].data, model_, options_);
  std::vector<double> logs = likelihood.pattern_log_likelihoods();
  const Data& data = terms_[i].data;
  const auto counts = [&](std::size_t p) {
    return data.weight(std::int64_t(p)) > 0 &&
           (!model_.polymorphic_only || data.kind(std::int64_t(p)) == pattern_kind::polymorphic);
  };
  double sum = 0, weight = 0;
  for (std::size_t p = 0; p < logs.size(); ++p) {
    if (!counts(p)) continue;
    sum += data.weight(std::int64_t(p)) * logs[p];
    weight += data.weight(std::int64_t(p));
  }
  const double correction = weight > 0 ? (likelihood.evaluate() - sum) / weight : 0;
  for (std::size_t p = 0; p < logs.size(); ++p) logs[p] = counts(p) ? logs[p] + correction : 0;
  return logs;
}

std::vector<double> composite_sets::pattern_sums(const Network& network) {
  const std::vector<std::int64_t> leaves = leaves_of_species(network, data_);
  std::vector<std::vector<double>> logs(sets_.size());
  workers_.run(std::int64_t(sets_.size()), [&](std::int64_t i) {
    logs[at(i)] = logs_of_codes(part_of(network, leaves, at(i)).network.network, at(i));
  });
  std::vector<double> sums(at(data_.patterns()), 0);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    std::unordered_map<std::uint64_t, double> log_of_code;
    for (std::size_t p = 0; p < logs[i].size(); ++p) log_of_code[terms_[i].codes[p]] = logs[i][p];
    for (std::int64_t p = 0; p < data_.patterns(); ++p) sums[at(p)] += log_of_code[code_of_set(codes_, sets_[i], p)];
  }
  return sums;
}

double composite_likelihood::evaluate() {
  sums_ = sets_.differentiate(network_, moved_);
  is_rejected_ = false;
  return sums_.value;
}

snp::gradient composite_likelihood::gradient() {
  if (sums_.length.empty() || is_rejected_) evaluate();
  snp::gradient slope;
  slope.length = sums_.length;
  slope.gamma = sums_.gamma;
  slope.theta.assign(slope.length.size(), 0.0);  // all of them together are that of the root
  slope.root_theta = sums_.theta;
  return slope;
}

}  // namespace quintet::snp
