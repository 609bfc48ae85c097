// One name for a stage: what progress reports is a region that is open, and every family has its regions.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "quintet/core/profile.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "quintet/neighbours/neighbours.hpp"
#include "quintet/poincare/distances.hpp"
#include "quintet/poincare/nearest.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/randomised.hpp"
#include "support/mcmc_oracles.hpp"

namespace quintet::test {
namespace {

using names = std::set<std::string>;

/// Regions of this thread while it lives.
class Stages : public testing::Test {
 protected:
  Stages() {
    open_ = &of_thread_;
    of_thread_.clear();
    set_profile_hook({.begin =
                          [](void* self, const char* stage) {
                            if (open_ == nullptr) return;  // a helper of the sampler
                            open_->emplace_back(stage);
                            static_cast<Stages*>(self)->seen_.insert(stage);
                          },
                      .end =
                          [](void*, const char* stage) {
                            if (open_ == nullptr) return;
                            ASSERT_FALSE(open_->empty());
                            EXPECT_EQ(open_->back(), stage);
                            open_->pop_back();
                          },
                      .context = this});
  }
  ~Stages() override {
    set_profile_hook({});
    EXPECT_TRUE(of_thread_.empty());
    open_ = nullptr;
  }

  /// A callback that wants every name to be that of an open region.
  progress_callback report() {
    return [this](std::string_view stage, double) {
      EXPECT_TRUE(open_ != nullptr && std::find(open_->begin(), open_->end(), stage) != open_->end()) << stage;
      reported_.emplace(stage);
      return true;
    };
  }
  /// What began since the last call of this.
  names seen() { return std::exchange(seen_, {}); }
  names reported() { return std::exchange(reported_, {}); }

 private:
  static thread_local std::vector<std::string>* open_;
  std::vector<std::string> of_thread_;
  names seen_, reported_;
};
thread_local std::vector<std::string>* Stages::open_ = nullptr;

TEST_F(Stages, Hdbscan) {
  std::vector<float> values(400 * 2);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = float(e * 7919 % 101) + (e < 400 ? 0.0F : 1000.0F);
  const matrix_view<const float> points(values.data(), 400, 2);
  const auto model = hdbscan::cluster(points, {.min_cluster_size = 5}, Device::best(), report());
  EXPECT_EQ(seen(), (names{"neighbours", "spanning_tree", "tree_stage"}));
  EXPECT_EQ(reported(), (names{"neighbours", "spanning_tree"}));
  ASSERT_GE(model.clusters(), 2);
  EXPECT_GT(model.neighbours_seconds, 0);
  EXPECT_GT(model.spanning_tree_seconds, 0);
  EXPECT_GT(model.tree_stage_seconds, 0);

  hdbscan::validity_index(points, model.labels, {}, Device::best(), report());
  EXPECT_EQ(seen().count("validity"), 1U);
  EXPECT_EQ(reported(), (names{"validity"}));

  const auto core = hdbscan::core_distances(points, {.min_samples = 5}).distances;
  EXPECT_EQ(seen(), (names{"neighbours"}));
  std::vector<float> matrix(400 * 400);
  hdbscan::mutual_reachability(points, core, matrix_view<float>(matrix.data(), 400, 400));
  EXPECT_EQ(seen(), (names{"reachability"}));
  hdbscan::all_points_membership_vectors(model, points);
  EXPECT_EQ(seen(), (names{"membership"}));
  hdbscan::approximate_predict(model, points, points);
  EXPECT_EQ(seen(), (names{"predict"}));
  hdbscan::cluster_distances({matrix.data(), 400, 400}, {.min_cluster_size = 5});
  EXPECT_EQ(seen(), (names{"neighbours", "spanning_tree", "tree_stage"}));
}

TEST_F(Stages, NeighboursAndPoincare) {
  const std::vector<double> values{0.1, 0.2, -0.3, 0.1, 0.4, 0.0, -0.1, -0.2};
  const matrix_view<const double> points(values.data(), 4, 2);
  neighbours::nearest(points, 2, {});
  EXPECT_EQ(seen(), (names{"neighbours"}));
  neighbours::within_radius(points, 0.5, {});
  EXPECT_EQ(seen(), (names{"neighbours"}));
  poincare::nearest(points, points, 2);
  EXPECT_EQ(seen(), (names{"neighbours"}));
  std::vector<double> out(16);
  poincare::distances(points, points, matrix_view<double>(out.data(), 4, 4));
  EXPECT_EQ(seen(), (names{"distances"}));
}

TEST_F(Stages, Svd) {
  const std::vector<double> values{1, 2, 3, 4, 5, 7};
  const batch_view<const double> a(values.data(), 1, 3, 2);
  svd::decompose(a);
  EXPECT_EQ(seen(), (names{"decompose", "rotate"}));
  std::vector<double> large(64 * 64, 1);
  svd::decompose(batch_view<const double>(large.data(), 1, 64, 64), {.vectors = svd::vectors::none}, Device::host());
  EXPECT_EQ(seen(), (names{"decompose", "reduce"}));
  svd::randomised(a, {.rank = 1});
  EXPECT_EQ(seen(), (names{"decompose", "rotate"}));
}

TEST_F(Stages, Spgemm) {
  // Enough products that the result's size is predicted.
  constexpr std::int64_t n = 3000, each = 40;
  std::vector<std::int64_t> rows(n + 1), columns(n * each);
  std::vector<double> values(n * each, 1);
  for (std::int64_t i = 0; i <= n; ++i) rows[i] = i * each;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < each; ++k) columns[i * each + k] = i % 50 + k * 50;
  const spgemm::csr_view<double, std::int64_t> a{n, n, rows.data(), columns.data(), values.data()};
  spgemm::report report;
  spgemm::multiply(a, a, {}, Device::host(), &report);
  const names all{"analysis", "prediction", "product", "assembly"};
  EXPECT_EQ(seen(), all);
  for (const double seconds :
       {report.analysis_seconds, report.prediction_seconds, report.product_seconds, report.assembly_seconds})
    EXPECT_GT(seconds, 0);
}

TEST_F(Stages, Snp) {
  const snp::Data data = counted_sites("ABC", {2, 2, 1}, "000x35 001x3 020x1 121x1 200x1 201x1 211x4 220x3 221x31");
  const snp::Network network = snp::parse_newick("((A:0.1,B:0.15)x:0.12,C:0.3)r;", {.theta = 0.2});
  snp::Likelihood likelihood(network, data, {});
  EXPECT_EQ(seen(), (names{"setup"}));
  likelihood.evaluate();
  EXPECT_EQ(seen(), (names{"likelihood"}));
  likelihood.gradient();
  EXPECT_EQ(seen(), (names{"gradient", "likelihood"}));
  snp::optimise(likelihood, {.max_iterations = 2, .progress = report()});
  EXPECT_EQ(seen(), (names{"optimise", "gradient", "likelihood"}));
  EXPECT_EQ(reported(), (names{"optimise"}));
  snp::search_networks(
      data,
      {.max_reticulations = 0, .starts = 1, .patience = 1, .optimise = {.max_iterations = 2}, .progress = report()});
  EXPECT_EQ(seen().count("search"), 1U);
  EXPECT_EQ(reported().count("search"), 1U);
  snp::simulate_sites(network, {.copies = {2, 2, 2}, .sites = 50});
  EXPECT_EQ(seen(), (names{"sites"}));

  const snp::prior_options priors = snp::parse_priors(
      "netdiv = exponential(10)\nturnover = beta(1,1)\norigin = exponential(0.1)\n"
      "theta = each gamma(2,20)\npi1 = beta(2,2)\n");
  const snp::priors prior(priors, 3, {.max_reticulations = 1});
  const auto species = std::make_shared<const std::vector<std::string>>(data.species().begin(), data.species().end());
  snp::sampler chains(species, &data, prior,
                      {.chains = 2, .iterations = 200, .burn_in = 100, .sample_every = 50, .threads = 2});
  seen();
  chains.advance(report());
  EXPECT_EQ(seen().count("sample"), 1U);
  EXPECT_EQ(reported(), (names{"sample"}));
  snp::simulate_network(priors, species, {.max_reticulations = 1}, 1, 0);
  EXPECT_EQ(seen(), (names{"networks"}));
}

}  // namespace
}  // namespace quintet::test
