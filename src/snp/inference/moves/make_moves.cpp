#include "quintet/core/error.hpp"
#include "snp/inference/moves/add_move.hpp"
#include "snp/inference/moves/delete_move.hpp"
#include "snp/inference/moves/flip_move.hpp"
#include "snp/inference/moves/gamma_move.hpp"
#include "snp/inference/moves/head_move.hpp"
#include "snp/inference/moves/height_move.hpp"
#include "snp/inference/moves/joint_move.hpp"
#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/origin_move.hpp"
#include "snp/inference/moves/scalar_move.hpp"
#include "snp/inference/moves/scale_move.hpp"
#include "snp/inference/moves/swap_move.hpp"
#include "snp/inference/moves/tail_move.hpp"
#include "snp/inference/moves/theta_move.hpp"
#include "snp/inference/moves/trade_move.hpp"

namespace quintet::snp {

namespace {

// Standard deviation of the logarithms of new thetas.
constexpr double jump_width = 0.5;

}  // namespace

std::vector<std::unique_ptr<move>> make_moves(const priors& priors, const fixed_parts& fixed) {
  const bool is_each = priors.options().thetas == theta_mode::each;
  if (!fixed.topology && (fixed.heights || fixed.gamma || (fixed.theta && is_each && priors.has_theta())))
    throw InvalidArgument("heights, gammas and thetas of single branches can be fixed only with the topology");
  const bool has_theta = priors.has_theta() && !fixed.theta, has_origin = priors.has_origin() && !fixed.origin;
  const bool has_reticulations = priors.limits().max_reticulations > 0;
  std::vector<std::unique_ptr<move>> moves;
  const auto use = [&](bool is_wanted, auto&& make) {
    if (is_wanted) moves.push_back(make());
  };
  use(!fixed.heights, [] { return std::make_unique<height_move>(20); });
  use(has_theta, [] { return std::make_unique<theta_move>(20); });
  use(!fixed.heights && has_theta && is_each, [] { return std::make_unique<trade_move>(10); });
  const coordinate_parts numbers{.heights = !fixed.heights,
                                 .origin = has_origin,
                                 .thetas = has_theta,
                                 .gammas = has_reticulations && !fixed.gamma,
                                 .pi1 = priors.has_pi1() && !fixed.rates};
  use(numbers.heights || (numbers.thetas && is_each), [&] { return std::make_unique<joint_move>(40, numbers); });
  const auto use_scale = [&](bool is_wanted, std::string_view name, double weight, double width,
                             scale_exponents exponents) {
    use(is_wanted, [&] { return std::make_unique<scale_move>(name, weight, width, exponents); });
  };
  use_scale(has_theta && is_each, "all thetas", 3, 0.5, {.thetas = 1});
  use(has_reticulations && !fixed.gamma, [] { return std::make_unique<gamma_move>(8); });
  use(!fixed.topology, [] { return std::make_unique<tail_move>(8); });
  use(!fixed.topology, [] { return std::make_unique<swap_move>(5); });
  if (!fixed.topology && has_reticulations) {
    const jump_options jump{priors.limits().max_reticulations, priors.options().inheritance, has_theta && is_each};
    const auto width = std::make_shared<double>(jump_width);
    moves.push_back(std::make_unique<head_move>(4));
    moves.push_back(std::make_unique<flip_move>(3));
    moves.push_back(std::make_unique<add_move>(6, width, jump));
    moves.push_back(std::make_unique<delete_move>(6, width, jump));
  }
  const std::int32_t origin = has_origin ? 1 : 0;
  use_scale(!fixed.heights, "scale", 2, 0.5, {.heights = 1, .origin = origin});
  use_scale(!fixed.heights && has_theta, "up-up", 2, 0.5, {.heights = 1, .origin = origin, .thetas = 1});
  use_scale(!fixed.heights && has_theta, "up-down", 2, 0.3, {.heights = 1, .origin = origin, .thetas = -1});
  use(has_origin, [] { return std::make_unique<origin_move>(2); });
  const auto use_scalar = [&](bool is_wanted, std::string_view name, double weight, double width,
                              double network_state::* member, support range, bool changes_likelihood) {
    use(is_wanted,
        [&] { return std::make_unique<scalar_move>(name, weight, width, member, range, changes_likelihood); });
  };
  use_scalar(priors.has_pi1() && !fixed.rates, "pi1", 2, 1, &network_state::pi1, support::unit_interval, true);
  use_scalar(priors.has_netdiv() && !fixed.rates, "netdiv", 1, 3, &network_state::netdiv, support::positive, false);
  use_scalar(priors.has_turnover() && !fixed.rates, "turnover", 1, 3, &network_state::turnover, support::unit_interval,
             false);
  use_scalar(priors.has_clock_rate() && !fixed.rates, "clock", 2, 0.5, &network_state::clock, support::positive, false);
  use_scalar(priors.has_theta_mean() && !fixed.theta, "theta mean", 1, 1, &network_state::theta_mean, support::positive,
             false);
  return moves;
}

}  // namespace quintet::snp
