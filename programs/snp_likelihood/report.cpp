#include "snp_likelihood/report.hpp"

#include <algorithm>
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
    const snp::branch& one = network.branch(b);
    out << std::left << std::setw(column) << name_of(network, one.child) << std::setw(column)
        << name_of(network, one.parent) << std::right;
    number(one.length, 14);
    number(one.theta, 14);
    if (network.kind(one.child) == snp::node_kind::reticulation) number(one.gamma, 10);
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
  for (const compared_network& one : networks) {
    aic.push_back(snp::aic(one.log_likelihood, one.parameters));
    bic.push_back(snp::bic(one.log_likelihood, one.parameters, sites));
    width = std::max(width, one.name.size());
    all.push_back({{"name", one.name},
                   {"reticulations", one.network.reticulations().size()},
                   {"log_likelihood", one.log_likelihood},
                   {"parameters", one.parameters},
                   {"aic", aic.back()},
                   {"bic", bic.back()},
                   {"converged", one.converged},
                   {"at_bounds", bounds_as_json(one.at_bounds)},
                   {"network", snp::to_newick(one.network)}});
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
    const compared_network& one = networks[i];
    out << std::left << std::setw(int(width) + 2) << one.name << std::right << std::setw(13)
        << one.network.reticulations().size() << std::setprecision(4) << std::setw(16) << one.log_likelihood
        << std::setw(12) << one.parameters;
    criterion(aic[i], min_aic);
    criterion(bic[i], min_bic);
    out << "\n";
  }
}

void report_resampling(session& session, const snp::resampling_result& found) {
  using parameter = snp::resampled_parameter;
  const bool is_jackknife = found.method == snp::resampling_method::jackknife;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::ostream& out = session.say();
  out << (is_jackknife ? "jackknife" : "bootstrap") << " of " << found.blocks << " blocks, " << found.replicates.size()
      << " replicates: estimate, standard error, 95 % interval\n";
  const auto show = [&](const std::string& name, const char* what, const snp::parameter_error& e) {
    all.push_back({{"branch", name},
                   {"parameter", what},
                   {"estimate", e.estimate},
                   {"mean", e.mean},
                   {"standard_error", e.standard_error},
                   {"low", e.low},
                   {"high", e.high}});
    out << "  " << std::left << std::setw(7) << what << std::defaultfloat << std::setprecision(5) << std::right
        << std::setw(12) << e.estimate << std::setw(12) << e.standard_error << std::setw(12) << e.low << std::setw(12)
        << e.high << "  " << name << "\n";
  };
  for (std::int64_t b = 0; b < found.estimate.branches(); ++b)
    for (const auto& [what, name] :
         {std::pair(parameter::length, "length"), {parameter::theta, "theta"}, {parameter::gamma, "gamma"}}) {
      const snp::parameter_error error = snp::summarise_parameter(found, what, b);
      if (error.standard_error > 0) show(found.estimate.describe_branch(b), name, error);
    }
  session.result("resampling", {{"method", is_jackknife ? "jackknife" : "bootstrap"},
                                {"blocks", found.blocks},
                                {"replicates", found.replicates.size()},
                                {"converged", found.converged},
                                {"parameters", all}});
  const auto failed = std::int64_t(found.replicates.size()) - found.converged;
  if (failed > 0) session.warn(text(failed, " of ", found.replicates.size(), " replicates reached no maximum"));
}

void report_search(session& session, const snp::search_result& found, const snp::search_options& options) {
  session.result("topologies", found.topologies);
  session.result("root_is_seen", found.is_root_seen);
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  session.say() << "reticulations  log-likelihood  parameters         AIC         BIC  starts\n" << std::fixed;
  for (const snp::search_level& level : found.levels) {
    levels.push_back({{"reticulations", level.reticulations},
                      {"log_likelihood", level.log_likelihood},
                      {"parameters", level.parameters},
                      {"aic", level.aic},
                      {"bic", level.bic},
                      {"starts", level.starts},
                      {"rootings", level.rootings},
                      {"at_bounds", bounds_as_json(level.at_bounds)},
                      {"network", snp::to_newick(level.network)}});
    session.say() << std::setw(13) << level.reticulations << std::setprecision(4) << std::setw(16)
                  << level.log_likelihood << std::setw(12) << level.parameters << std::setprecision(2) << std::setw(12)
                  << level.aic << std::setw(12) << level.bic << std::setw(5) << level.starts << "/" << options.starts
                  << "\n";
  }
  session.result("levels", levels);
  for (const snp::search_level& level : found.levels) {
    session.say() << level.reticulations << " " << snp::to_newick(level.network) << "\n";
    warn_of_bounds(session, level.at_bounds, text("the network with r = ", level.reticulations));
  }
  if (std::int64_t(found.levels.size()) <= options.max_reticulations)
    session.warn(text("--outgroup admits no network with ", found.levels.size(), " reticulations near the best one"));
  if (found.is_root_seen) return;
  session.say() << "The data do not show the root, because all thetas are equal: with the root on another branch (";
  for (const snp::search_level& level : found.levels)
    session.say() << (level.reticulations == 0 ? "" : ", ") << level.rootings;
  session.say() << " places) the likelihood is the same. "
                << (options.outgroup.empty() ? "Its place here means nothing; --outgroup says where it is.\n"
                                             : "Its place is that of the outgroup.\n");
}

nlohmann::ordered_json bounds_as_json(const std::vector<snp::parameter_at_bound>& at_bounds) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const snp::parameter_at_bound& one : at_bounds)
    all.push_back({{"name", one.name}, {"value", one.value}, {"end", one.is_lower ? "lower" : "upper"}});
  return all;
}

void warn_of_bounds(session& session, const std::vector<snp::parameter_at_bound>& at_bounds, const std::string& where) {
  if (at_bounds.empty()) return;
  std::string names;
  for (const snp::parameter_at_bound& one : at_bounds)
    names += text(names.empty() ? "" : "; ", one.name, " = ", one.value, one.is_lower ? " (least)" : " (most)");
  session.warn(text(where, where.empty() ? "" : ": ", at_bounds.size(),
                    at_bounds.size() == 1 ? " parameter ends" : " parameters end",
                    " at a bound of the range, so the data do not support it, or need another network: ", names));
}

}  // namespace quintet::driver
