// What quintet-snp-likelihood prints: tables of branches and of networks, and warnings.
#pragma once

#include <string>
#include <vector>

#include "quintet/snp/inference/resampling.hpp"
#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/markers/f_statistics.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

/// A network of --compare after its evaluation.
struct compared_network {
  std::string name;
  snp::Network network;
  double log_likelihood = 0;
  std::int64_t parameters = 0;  ///< 0: nothing was optimised
  bool converged = true;
  std::vector<snp::parameter_at_bound> at_bounds = {};
  double truncation_bound = 0;
};

/// Sites that the likelihood counts: with polymorphic_only those that are.
double counted_sites(const snp::Data& data, const snp::model& model);

/// One line per branch with its parameters, and the root's theta.
void print_branches(session& session, const snp::Network& network);
/// One line per network, the least AIC and BIC marked; also as results "networks".
void report_comparison(session& session, const std::vector<compared_network>& networks, double sites);
/// One line per branch with standard errors and intervals of what varies; also as result "resampling".
void report_resampling(session& session, const snp::resampling_result& resampling);
/// Topologies, clusters and hybrid events with their shares of the replicates; also as result "support".
void report_support(session& session, const snp::resampled_search& resampling);
/// How many f3 are below 0 and f4 far from 0, and the farthest; also as result "f_statistics".
void report_f_statistics(session& session, const std::vector<snp::f_statistic>& statistics);
/// One line per level of a search, and its network; also as results "topologies", "root_is_seen" and "levels".
void report_search(session& session, const snp::search_result& outcome, const snp::search_options& options);
/// A warning that names them, if there are any; `where` says of which network.
void warn_of_bounds(session& session, const std::vector<snp::parameter_at_bound>& at_bounds, const std::string& where);
nlohmann::ordered_json bounds_as_json(const std::vector<snp::parameter_at_bound>& at_bounds);

}  // namespace quintet::driver
