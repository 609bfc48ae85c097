#include "snp/inference/species_rules.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "quintet/snp/network/network_topology.hpp"
#include "snp/network/joined_names.hpp"
#include "snp/network/leaves_below.hpp"
#include "snp/network/numbers.hpp"
#include "snp/network/random_variates.hpp"
#include "snp/network/stable_ancestors.hpp"

namespace quintet::snp {

namespace {

constexpr int height_attempts = 1000;
constexpr std::int32_t backbone_reticulations = 20;

leaf_set both(const leaf_set& a, const leaf_set& b) {
  leaf_set result = a;
  for (std::size_t i = 0; i < a.size(); ++i) result[i] &= b[i];
  return result;
}
leaf_set without(const leaf_set& a, const leaf_set& b) {
  leaf_set result = a;
  for (std::size_t i = 0; i < a.size(); ++i) result[i] &= ~b[i];
  return result;
}
void add_to(leaf_set& a, const leaf_set& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] |= b[i];
}
bool is_empty(const leaf_set& a) {
  return std::all_of(a.begin(), a.end(), [](std::uint64_t word) { return word == 0; });
}
std::size_t size_of(const leaf_set& a) {
  std::size_t count = 0;
  for (const std::uint64_t word : a) count += std::size_t(std::popcount(word));
  return count;
}
void insert_leaf(leaf_set& a, std::size_t leaf) { a[leaf / 64] |= std::uint64_t{1} << leaf % 64; }

// Neither has the other, and they are not apart.
bool cross(const leaf_set& a, const leaf_set& b) {
  return !is_empty(both(a, b)) && !is_empty(without(a, b)) && !is_empty(without(b, a));
}

// Leaves below every node; `chosen` says by which parent branch one goes up from a reticulation, -1 by both.
template <class Choice>
std::vector<leaf_set> sets_below(const network_state& state, const std::vector<std::int32_t>& order, std::size_t words,
                                 const Choice& chosen) {
  std::vector<leaf_set> below(state.nodes.size(), leaf_set(words, 0));
  for (const std::int32_t x : order) {
    const state_node& node = state.node(x);
    if (state.is_leaf(x)) insert_leaf(below[at(x)], at(x));
    for (std::int32_t i = 0; i < node.children; ++i) {
      const std::int32_t b = node.child[at(i)], child = network_state::bottom(b), parent = chosen(child);
      if (parent < 0 || parent == (b & 1)) add_to(below[at(x)], below[at(child)]);
    }
  }
  return below;
}

std::vector<leaf_set> sets_below(const network_state& state, std::size_t words) {
  return sets_below(state, children_first(state), words, [](std::int32_t) { return -1; });
}

std::vector<std::int32_t> leaves_of(const leaf_set& set) {
  std::vector<std::int32_t> leaves;
  for (std::size_t leaf = 0; leaf < 64 * set.size(); ++leaf)
    if (set[leaf / 64] >> leaf % 64 & 1) leaves.push_back(std::int32_t(leaf));
  return leaves;
}

// Where a density is not zero.
std::pair<double, double> support_of(const univariate_prior& density) {
  if (density.kind == univariate_prior::family::uniform) return {density.a, density.b};
  return {density.offset, infinity};
}

}  // namespace

std::string calibration_rule(const std::vector<std::string>& names) {
  return "calibrate " + (names.empty() ? "root" : joined(names));
}

std::string species_rule(const char* key, const std::vector<std::string>& names) {
  return text(key, " = ", joined(names));
}

std::string backbone_rule(const std::string& newick) { return "backbone = " + newick; }

species_rules::species_rules(const prior_options& options, const std::vector<std::string>& species)
    : species_(species), places_(options.places), all_((species.size() + 63) / 64, 0) {
  for (std::size_t leaf = 0; leaf < species.size(); ++leaf) insert_leaf(all_, leaf);
  for (const calibration& dated : options.calibrations) {
    const bool is_root = dated.species.empty();
    const std::string rule = calibration_rule(dated.species);
    const leaf_set members = is_root ? all_ : set_of(rule, dated.species);
    calibrations_.push_back(
        {rule, is_root ? std::vector<std::int32_t>{} : leaves_of(members), members, {}, dated.density});
  }
  for (const std::vector<std::string>& names : options.monophyletic) {
    const std::string rule = species_rule("monophyletic", names);
    add_clade(rule, set_of(rule, names), all_, true);
  }
  if (!options.outgroup.empty()) {
    outgroup_rule_ = species_rule("outgroup", options.outgroup);
    outgroup_ = set_of(outgroup_rule_, options.outgroup);
    if (outgroup_ == all_) throw InvalidArgument(text(placed(outgroup_rule_), " must not be all species"));
    add_clade(outgroup_rule_, outgroup_, all_, true);
    add_clade(outgroup_rule_, without(all_, outgroup_), all_, true);
  }
  if (!options.backbone.empty()) add_backbone(options.backbone);
  check_clades();
  for (calibrated& dated : calibrations_) dated.below = certainly_below(dated.members);
  check_calibrations(options.origin);
}

std::string species_rules::calibrated::words() const { return text(rule, " = ", density.text()); }

std::int32_t species_rules::calibrated::node_of(const network_state& state, const stable_ancestors& ancestors) const {
  return leaves.empty() ? state.root : ancestors.lowest_above(leaves);
}

std::string species_rules::placed(const std::string& rule) const {
  const auto place = places_.find(rule);
  return place == places_.end() ? rule : text(place->second, ": ", rule);
}

leaf_set species_rules::set_of(const std::string& rule, const std::vector<std::string>& names) const {
  leaf_set set(all_.size(), 0);
  for (const std::string& name : names) {
    const auto place = std::find(species_.begin(), species_.end(), name);
    if (place == species_.end())
      throw InvalidArgument(text(placed(rule), ": there is no species ", name, "; there are ", joined(species_, ", ")));
    insert_leaf(set, std::size_t(place - species_.begin()));
  }
  return set;
}

void species_rules::add_clade(const std::string& rule, const leaf_set& members, const leaf_set& universe,
                              bool is_whole) {
  if (size_of(members) > 1) clades_.push_back({rule, members, universe, is_whole});
}

void species_rules::add_backbone(const std::string& newick) {
  backbone_rule_ = backbone_rule(newick);
  const Network tree = [&] {
    try {
      return parse_topology(newick);
    } catch (const NetworkError& error) {
      throw InvalidArgument(text(placed(backbone_rule_), ": ", error.what()));
    }
  }();
  if (!tree.reticulations().empty()) throw InvalidArgument(text(placed(backbone_rule_), " must be a tree"));
  const leaf_set universe = set_of(backbone_rule_, {tree.species().begin(), tree.species().end()});
  const auto below = leaves_below(tree);
  for (std::int64_t node = 0; node < tree.nodes(); ++node)
    if (node != tree.root()) add_clade(backbone_rule_, set_of(backbone_rule_, below[at(node)]), universe, false);
}

void species_rules::check_clades() const {
  for (std::size_t i = 0; i < clades_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const leaf_set common = both(clades_[i].universe, clades_[j].universe);
      if (cross(both(clades_[i].members, common), both(clades_[j].members, common)))
        throw InvalidArgument(text("no network keeps both ", clades_[j].rule, " and ", clades_[i].rule));
    }
}

// What is below the common ancestor of some species in every network that keeps the constraints. Of a clade that has
// some of them and not all, that is the whole clade.
leaf_set species_rules::certainly_below(leaf_set members) const {
  for (;;) {
    const auto rule = std::find_if(clades_.begin(), clades_.end(), [&](const clade& candidate) {
      return !is_empty(both(members, candidate.members)) && !is_empty(without(candidate.members, members)) &&
             !is_empty(without(both(members, candidate.universe), candidate.members));
    });
    if (rule == clades_.end()) return members;
    add_to(members, rule->members);
  }
}

void species_rules::check_calibrations(const univariate_prior& origin) const {
  for (const calibrated& upper : calibrations_) {
    const auto [least, most] = support_of(upper.density);
    if (origin.is_fixed() && least >= origin.a)
      throw InvalidArgument(text(upper.words(), " is above origin = ", origin.text()));
    for (const calibrated& lower : calibrations_) {
      if (!is_empty(without(lower.members, upper.below)) || support_of(lower.density).first < most) continue;
      throw InvalidArgument(text(lower.words(), " is above ", upper.words(), ", which has all of its species",
                                 is_empty(without(lower.members, upper.members)) ? "" : " by the constraints"));
    }
  }
}

const std::string* species_rules::broken_rule(const network_state& state) const {
  if (!has_constraints()) return nullptr;
  const std::vector<leaf_set> below = sets_below(state, all_.size());
  if (!outgroup_.empty()) {
    const auto& children = state.node(state.root).child;
    const leaf_set &left = below[at(network_state::bottom(children[0]))],
                   &right = below[at(network_state::bottom(children[1]))];
    if ((left != outgroup_ && right != outgroup_) || !is_empty(both(left, right))) return &outgroup_rule_;
  }
  const stable_ancestors ancestors(state);
  for (const clade& rule : clades_)
    if (rule.is_whole && below[at(ancestors.lowest_above(leaves_of(rule.members)))] != rule.members) return &rule.rule;
  return displays_clades(state) ? nullptr : &backbone_rule_;
}

// Every displayed tree, restricted to the species of the backbone, has its clades.
bool species_rules::displays_clades(const network_state& state) const {
  if (std::all_of(clades_.begin(), clades_.end(), [](const clade& rule) { return rule.is_whole; })) return true;
  if (state.reticulations > backbone_reticulations) return false;
  const std::vector<std::int32_t> order = children_first(state);
  std::vector<std::int32_t> number(state.nodes.size(), -1);
  std::int32_t reticulations = 0;
  for (const std::int32_t x : order)
    if (state.is_reticulation(x)) number[at(x)] = reticulations++;
  for (std::uint32_t chosen = 0; chosen < 1u << reticulations; ++chosen) {
    const auto below = sets_below(state, order, all_.size(), [&](std::int32_t x) {
      return number[at(x)] < 0 ? -1 : std::int32_t(chosen >> number[at(x)] & 1);
    });
    for (const clade& rule : clades_)
      if (!rule.is_whole && std::none_of(below.begin(), below.end(),
                                         [&](const leaf_set& set) { return both(set, rule.universe) == rule.members; }))
        return false;
  }
  return true;
}

double species_rules::log_density(const network_state& state) const {
  if (calibrations_.empty()) return 0;
  const stable_ancestors ancestors(state);
  double sum = 0;
  for (const calibrated& dated : calibrations_)
    sum += dated.density.log_density(state.node(dated.node_of(state, ancestors)).height);
  return sum;
}

std::string species_rules::describe_conflict(const network_state& state) const {
  if (const std::string* rule = broken_rule(state)) return text("breaks ", *rule);
  const stable_ancestors ancestors(state);
  for (const calibrated& dated : calibrations_)
    if (const double height = state.node(dated.node_of(state, ancestors)).height;
        !(dated.density.log_density(height) > -infinity))
      return text("has the common ancestor at ", height, ", outside ", dated.words());
  return "";
}

// No clade is crossed by the union, so all of them can still be made.
bool species_rules::can_join(const leaf_set& a, const leaf_set& b) const {
  leaf_set joint = a;
  add_to(joint, b);
  return std::none_of(clades_.begin(), clades_.end(),
                      [&](const clade& rule) { return cross(both(joint, rule.universe), rule.members); });
}

// From the leaves up a uniform pair of those that may be joined. Species that have one calibrated ancestor come first,
// those of the lowest one before others, so that no ancestor has others below unless it must.
void species_rules::join_leaves(network_state& state, const std::vector<dated_height>& dates,
                                random_stream& random) const {
  const std::int32_t n = state.leaves();
  state.nodes.assign(at(n), {});
  state.reticulations = 0;
  struct subtree {
    std::int32_t node;
    leaf_set leaves;
  };
  std::vector<subtree> open;
  for (std::int32_t leaf = 0; leaf < n; ++leaf) {
    open.push_back({leaf, leaf_set(all_.size(), 0)});
    insert_leaf(open.back().leaves, at(leaf));
  }
  using pair = std::pair<std::size_t, std::size_t>;
  const auto pairs_with = [&](const leaf_set& set) {
    std::vector<pair> pairs;
    for (std::size_t i = 0; i < open.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (!is_empty(both(open[i].leaves, set)) && !is_empty(both(open[j].leaves, set)) &&
            can_join(open[i].leaves, open[j].leaves))
          pairs.emplace_back(j, i);
    return pairs;
  };
  while (open.size() > 1) {
    std::vector<pair> pairs;
    for (const dated_height& date : dates)
      if (pairs.empty()) pairs = pairs_with(date.rule->below);
    if (pairs.empty()) pairs = pairs_with(all_);
    if (pairs.empty()) throw InvalidArgument("no network keeps all of monophyletic, outgroup and backbone together");
    const auto [j, i] = pairs[random.below(std::uint32_t(pairs.size()))];
    const auto x = std::int32_t(state.nodes.size());
    state_node node;
    node.children = 2;
    node.child = {network_state::branch_of(open[j].node), network_state::branch_of(open[i].node)};
    state.node(open[j].node).parent[0] = state.node(open[i].node).parent[0] = x;
    state.nodes.push_back(node);
    open[j].node = x;
    add_to(open[j].leaves, open[i].leaves);
    open.erase(open.begin() + std::ptrdiff_t(i));
  }
  state.root = open[0].node;
}

// One height for every calibration, in ascending order.
std::vector<species_rules::dated_height> species_rules::draw_dates(random_stream& random) const {
  std::vector<dated_height> dates;
  for (const calibrated& rule : calibrations_) dates.push_back({&rule, rule.density.draw(random)});
  std::sort(dates.begin(), dates.end(), [](const dated_height& a, const dated_height& b) {
    return a.height != b.height ? a.height < b.height : a.rule < b.rule;
  });
  return dates;
}

// Heights as they were drawn, the others between those around them. Returns two rules that contradict each other, or
// nothing.
std::string species_rules::set_heights(network_state& state, const std::vector<dated_height>& dates,
                                       random_stream& random) const {
  const auto conflict = [](const dated_height& a, const dated_height& b) {
    return text(a.rule->words(), " and ", b.rule->words());
  };
  const double root_height = state.node(state.root).height;
  std::vector<dated_height> target(state.nodes.size()), least = target;
  const stable_ancestors ancestors(state);
  for (const dated_height& date : dates) {
    dated_height& of_node = target[at(date.rule->node_of(state, ancestors))];
    if (of_node.rule == nullptr) of_node = date;
    if (!(date.rule->density.log_density(of_node.height) > -infinity)) return conflict(of_node, date);
  }
  // Inner nodes have been numbered from the leaves up.
  for (std::int32_t x = state.leaves(); x < std::int32_t(state.nodes.size()); ++x) {
    for (const std::int32_t b : state.node(x).child) {
      const std::size_t child = at(network_state::bottom(b));
      for (const dated_height& below : {least[child], target[child]})
        if (below.height > least[at(x)].height) least[at(x)] = below;
    }
    if (target[at(x)].rule != nullptr && target[at(x)].height <= least[at(x)].height)
      return conflict(least[at(x)], target[at(x)]);
  }
  for (std::int32_t x = std::int32_t(state.nodes.size()) - 1; x >= state.leaves(); --x) {
    const double bottom = least[at(x)].height;
    double& height = state.node(x).height;
    height = target[at(x)].height;
    if (height != 0) continue;
    if (x == state.root) {
      height = root_height > bottom ? root_height : 1.5 * bottom;
    } else {
      const double most = state.node(state.node(x).parent[0]).height;
      height = bottom + (most - bottom) * (0.3 + 0.6 * draw_open_unit(random));
    }
  }
  return "";
}

void species_rules::draw_tree(network_state& state, bool has_free_origin, random_stream& random) const {
  const double root_height = state.node(state.root).height, above = state.origin - root_height;
  std::string conflict;
  for (int attempt = 0; attempt < height_attempts; ++attempt) {
    const std::vector<dated_height> dates = draw_dates(random);
    join_leaves(state, dates, random);
    state.node(state.root).height = root_height;
    conflict = set_heights(state, dates, random);
    if (!conflict.empty()) continue;
    const double height = state.node(state.root).height;
    if (has_free_origin) state.origin = height + above;
    if (state.origin > height) return;
    conflict = text(dates.empty() ? "the heights" : dates.back().rule->words(), " and the origin at ", state.origin);
  }
  throw InvalidArgument(text("no tree to start from in ", height_attempts,
                             " draws of the calibrated heights: ", conflict, " contradict each other"));
}

}  // namespace quintet::snp
