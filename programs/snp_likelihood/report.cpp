#include "snp_likelihood/report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>

#include "quintet/snp/network/newick.hpp"

namespace quintet::driver {

namespace {

std::string name_of(const snp::Network& network, std::int64_t node) {
  const std::string& name = network.name(node);
  if (node == network.root() && name.empty()) return "root";
  return name.empty() ? text("node ", node) : name;
}

}  // namespace

double counted_sites(const snp::Data& data, const snp::model& model) {
  double sites = 0;
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    if (!model.polymorphic_only || data.kind(p) == snp::pattern_kind::polymorphic) sites += data.weight(p);
  return sites + model.unseen_zeros + model.unseen_ones;
}

void print_branches(session& session, const snp::Network& network) {
  std::size_t width = 6;
  for (std::int64_t node = 0; node < network.nodes(); ++node) width = std::max(width, name_of(network, node).size());
  const int column = int(width) + 2;
  std::ostream& out = session.say();
  out << std::left << std::setw(column) << "branch" << std::setw(column) << "up to" << std::right << std::setw(14)
      << "length" << std::setw(14) << "theta" << std::setw(10) << "gamma"
      << "\n";
  const auto number = [&](double value, int places) {
    out << std::defaultfloat << std::setprecision(6) << std::setw(places) << value;
  };
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    const snp::branch& branch_values = network.branch(b);
    out << std::left << std::setw(column) << name_of(network, branch_values.child) << std::setw(column)
        << name_of(network, branch_values.parent) << std::right;
    number(branch_values.length, 14);
    number(branch_values.theta, 14);
    if (network.kind(branch_values.child) == snp::node_kind::reticulation) number(branch_values.gamma, 10);
    out << "\n";
  }
  out << std::left << std::setw(column) << name_of(network, network.root()) << std::setw(column) << "-" << std::right
      << std::setw(14) << "endless";
  number(network.root_theta(), 14);
  out << "\n";
}

void report_comparison(session& session, const std::vector<compared_network>& networks, double sites) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::vector<double> aic, bic;
  std::size_t width = 7;
  for (const compared_network& candidate : networks) {
    aic.push_back(snp::aic(candidate.log_likelihood, candidate.parameters));
    bic.push_back(snp::bic(candidate.log_likelihood, candidate.parameters, sites));
    width = std::max(width, candidate.name.size());
    all.push_back({{"name", candidate.name},
                   {"reticulations", candidate.network.reticulations().size()},
                   {"log_likelihood", candidate.log_likelihood},
                   {"parameters", candidate.parameters},
                   {"aic", aic.back()},
                   {"bic", bic.back()},
                   {"converged", candidate.converged},
                   {"at_bounds", bounds_as_json(candidate.at_bounds)},
                   {"truncation_bound", candidate.truncation_bound},
                   {"network", snp::to_newick(candidate.network)}});
  }
  session.result("networks", all);
  const double min_aic = *std::min_element(aic.begin(), aic.end());
  const double min_bic = *std::min_element(bic.begin(), bic.end());
  std::ostream& out = session.say();
  out << std::left << std::setw(int(width) + 2) << "network" << std::right << std::setw(13) << "reticulations"
      << std::setw(16) << "log-likelihood" << std::setw(12) << "parameters" << std::setw(13) << "AIC" << std::setw(13)
      << "BIC"
      << "\n"
      << std::fixed;
  const auto criterion = [&](double value, double min) {
    out << std::setprecision(2) << std::setw(12) << value << (value == min ? "*" : " ");
  };
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const compared_network& candidate = networks[i];
    out << std::left << std::setw(int(width) + 2) << candidate.name << std::right << std::setw(13)
        << candidate.network.reticulations().size() << std::setprecision(4) << std::setw(16) << candidate.log_likelihood
        << std::setw(12) << candidate.parameters;
    criterion(aic[i], min_aic);
    criterion(bic[i], min_bic);
    out << "\n";
  }
}

void report_resampling(session& session, const snp::resampling_result& resampling) {
  using parameter = snp::resampled_parameter;
  const bool is_jackknife = resampling.method == snp::resampling_method::jackknife;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::ostream& out = session.say();
  out << (is_jackknife ? "jackknife" : "bootstrap") << " of " << resampling.blocks << " blocks, "
      << resampling.replicates.size() << " replicates: estimate, standard error, 95 % interval\n";
  const auto show = [&](const std::string& name, const char* label, const snp::parameter_error& e) {
    all.push_back({{"branch", name},
                   {"parameter", label},
                   {"estimate", e.estimate},
                   {"mean", e.mean},
                   {"standard_error", e.standard_error},
                   {"low", e.low},
                   {"high", e.high}});
    out << "  " << std::left << std::setw(7) << label << std::defaultfloat << std::setprecision(5) << std::right
        << std::setw(12) << e.estimate << std::setw(12) << e.standard_error << std::setw(12) << e.low << std::setw(12)
        << e.high << "  " << name << "\n";
  };
  for (std::int64_t b = 0; b < resampling.estimate.branches(); ++b)
    for (const auto& [kind, name] :
         {std::pair(parameter::length, "length"), {parameter::theta, "theta"}, {parameter::gamma, "gamma"}}) {
      const snp::parameter_error error = snp::summarise_parameter(resampling, kind, b);
      if (error.standard_error > 0) show(resampling.estimate.describe_branch(b), name, error);
    }
  session.result("resampling", {{"method", is_jackknife ? "jackknife" : "bootstrap"},
                                {"blocks", resampling.blocks},
                                {"replicates", resampling.replicates.size()},
                                {"converged", resampling.converged},
                                {"parameters", all}});
  const auto failed = std::int64_t(resampling.replicates.size()) - resampling.converged;
  if (failed > 0) session.warn(text(failed, " of ", resampling.replicates.size(), " replicates reached no maximum"));
}

void report_support(session& session, const snp::resampled_search& resampling) {
  constexpr std::size_t max_shown = 5;
  nlohmann::ordered_json support{{"blocks", resampling.blocks}, {"replicates", resampling.networks.size()}};
  session.say() << resampling.networks.size() << " replicates of " << resampling.blocks << " blocks\n";
  const std::pair<const char*, const std::vector<snp::resampling_support>*> kinds[] = {
      {"topologies", &resampling.topologies},
      {"clusters", &resampling.clusters},
      {"hybrid_events", &resampling.hybrid_events}};
  for (const auto& [label, items] : kinds) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const snp::resampling_support& item : *items) {
      rows.push_back({{"name", item.name}, {"share", item.share}});
      if (rows.size() > max_shown) continue;
      session.say() << "  " << std::fixed << std::setprecision(2) << item.share << " " << item.name << "\n"
                    << std::defaultfloat;
    }
    support[label] = rows;
  }
  session.result("support", support);
}

void report_f_statistics(session& session, const std::vector<snp::f_statistic>& statistics) {
  constexpr double far = 3;
  constexpr std::size_t max_listed = 200, max_shown = 10;
  std::vector<const snp::f_statistic*> distant;
  for (const snp::f_statistic& statistic : statistics)
    if ((statistic.species.size() == 3 && statistic.z < -far) ||
        (statistic.species.size() == 4 && std::abs(statistic.z) > far))
      distant.push_back(&statistic);
  std::stable_sort(distant.begin(), distant.end(),
                   [](const auto* a, const auto* b) { return std::abs(a->z) > std::abs(b->z); });
  const auto name_of_statistic = [](const snp::f_statistic& f) {
    return f.species.size() == 3
               ? text("f3(", f.species[0], "; ", f.species[1], ", ", f.species[2], ")")
               : text("f4(", f.species[0], ", ", f.species[1], "; ", f.species[2], ", ", f.species[3], ")");
  };
  nlohmann::ordered_json listed = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min(distant.size(), max_listed); ++i)
    listed.push_back({{"name", name_of_statistic(*distant[i])},
                      {"value", distant[i]->value},
                      {"standard_error", distant[i]->standard_error},
                      {"z", distant[i]->z}});
  session.result("f_statistics", {{"count", statistics.size()}, {"distant", distant.size()}, {"most_distant", listed}});
  session.say() << distant.size() << " of " << statistics.size()
                << " statistics show admixture: f3 more than 3 standard errors below 0, or f4 as far from 0\n";
  for (std::size_t i = 0; i < std::min(distant.size(), max_shown); ++i)
    session.say() << "  " << name_of_statistic(*distant[i]) << " = " << distant[i]->value << ", z = " << distant[i]->z
                  << "\n";
}

namespace {

nlohmann::ordered_json level_as_json(const snp::search_level& level, bool is_composite) {
  nlohmann::ordered_json entry{{"reticulations", level.reticulations}};
  entry[is_composite ? "composite_log_likelihood" : "log_likelihood"] = level.log_likelihood;
  entry["parameters"] = level.parameters;
  if (is_composite && level.reticulations > 0)
    entry.update({{"gain", level.gain},
                  {"gain_error", level.gain_error},
                  {"places", level.places},
                  {"bic_gain", level.bic_gain}});
  if (!is_composite) entry.update({{"aic", level.aic}, {"bic", level.bic}});
  entry.update({{"starts", level.starts},
                {"rootings", level.rootings},
                {"at_bounds", bounds_as_json(level.at_bounds)},
                {"truncation_bound", level.truncation_bound},
                {"network", snp::to_newick(level.network)}});
  return entry;
}

void print_levels(session& session, const snp::search_result& outcome, std::int64_t starts) {
  std::ostream& out = session.say();
  out << "reticulations  " << (outcome.is_composite ? "     composite" : "log-likelihood") << "  parameters"
      << (outcome.is_composite ? "        gain       error    BIC gain" : "         AIC         BIC") << "  starts\n"
      << std::fixed;
  for (const snp::search_level& level : outcome.levels) {
    out << std::setw(13) << level.reticulations << std::setprecision(4) << std::setw(16) << level.log_likelihood
        << std::setw(12) << level.parameters << std::setprecision(2);
    if (!outcome.is_composite)
      out << std::setw(12) << level.aic << std::setw(12) << level.bic;
    else if (level.reticulations > 0)
      out << std::setw(12) << level.gain << std::setw(12) << level.gain_error << std::setw(12) << level.bic_gain;
    else
      out << std::string(36, ' ');
    out << std::setw(5) << level.starts << "/" << starts << "\n";
  }
}

}  // namespace

void report_search(session& session, const snp::search_result& outcome, const snp::search_options& options) {
  session.result("topologies", outcome.topologies);
  session.result("root_is_seen", outcome.is_root_seen);
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  for (const snp::search_level& level : outcome.levels) levels.push_back(level_as_json(level, outcome.is_composite));
  session.result("levels", levels);
  print_levels(session, outcome, options.starts);
  if (outcome.is_composite) {
    const std::int64_t best = snp::best_level(outcome).reticulations;
    session.result("best_reticulations", best);
    session.say()
        << "A composite log-likelihood is no likelihood, so AIC and BIC do not hold. Gains that stand out from "
           "their errors by more than the choice of places explains (BIC gain > 0) lead to "
        << best << (best == 1 ? " reticulation" : " reticulations") << ".\n";
  }
  for (const snp::search_level& level : outcome.levels) {
    session.say() << level.reticulations << " " << snp::to_newick(level.network) << "\n";
    warn_of_bounds(session, level.at_bounds, text("the network with r = ", level.reticulations));
  }
  if (std::int64_t(outcome.levels.size()) <= options.max_reticulations)
    session.warn(text("--outgroup admits no network with ", outcome.levels.size(), " reticulations near the best one"));
  if (outcome.is_root_seen) return;
  session.say() << "The data do not show the root, because all thetas are equal: with the root on another branch (";
  for (const snp::search_level& level : outcome.levels)
    session.say() << (level.reticulations == 0 ? "" : ", ") << level.rootings;
  session.say() << " places) the likelihood is the same. "
                << (options.outgroup.empty() ? "Its place here means nothing; --outgroup says where it is.\n"
                                             : "Its place is that of the outgroup.\n");
}

nlohmann::ordered_json bounds_as_json(const std::vector<snp::parameter_at_bound>& at_bounds) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const snp::parameter_at_bound& parameter : at_bounds)
    all.push_back(
        {{"name", parameter.name}, {"value", parameter.value}, {"end", parameter.is_lower ? "lower" : "upper"}});
  return all;
}

void warn_of_bounds(session& session, const std::vector<snp::parameter_at_bound>& at_bounds, const std::string& where) {
  if (at_bounds.empty()) return;
  std::string names;
  for (const snp::parameter_at_bound& parameter : at_bounds)
    names += text(names.empty() ? "" : "; ", parameter.name, " = ", parameter.value,
                  parameter.is_lower ? " (least)" : " (most)");
  session.warn(text(where, where.empty() ? "" : ": ", at_bounds.size(),
                    at_bounds.size() == 1 ? " parameter ends" : " parameters end",
                    " at a bound of the range, so the data do not support it, or need another network: ", names));
}

}  // namespace quintet::driver
