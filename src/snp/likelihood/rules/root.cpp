#include "snp/likelihood/rules/root.hpp"

#include "device/for_each.hpp"
#include "snp/likelihood/adjoint_context.hpp"
#include "snp/likelihood/rates.hpp"
#include "snp/likelihood/rules/root_kernel.hpp"

namespace quintet::snp {

void update_root_weights(partials_store& values, const parameters& params) {
  const partial_shape& root = values.shape(values.host().root);
  const auto [a1, a0] = scaled_rates(params.root_theta, params.rates.root_v, params.rates.root_u);
  partials_store::root_values& to = values.root;
  if (to.weight.size() == 0) {
    to.weight = Buffer<double>(root.entries, values.device());
    to.likelihood = Buffer<double>(root.padded, values.device());
  }
  if (to.a1 == a1 && to.a0 == a0) return;
  if (values.host().is_scaled) {
    if (to.exponent.size() == 0) {
      to.weight_exponent = Buffer<std::int32_t>(root.entries, values.device());
      to.exponent = Buffer<std::int32_t>(root.padded, values.device());
    }
    const scaled_root_weights weights = scaled_root_weights_of(values.host().root_layout, a1, a0);
    to.weight.copy_from_host(weights.value.data(), root.entries);
    to.weight_exponent.copy_from_host(weights.exponent.data(), root.entries);
    to.a1 = a1;
    to.a0 = a0;
    return;
  }
  to.weight.copy_from_host(root_weights_of(values.host().root_layout, a1, a0).value.data(), root.entries);
  to.a1 = a1;
  to.a0 = a0;
}

namespace {

void evaluate_scaled_root(partials_store& values, std::vector<double>& likelihood,
                          std::vector<std::int32_t>& exponent) {
  const plan& host = values.host();
  const partial_shape& root = values.shape(host.root);
  partials_store::root_values& at = values.root;
  device::for_each(root.padded,
                   scaled_root_sum{values.entries(host.root), root.padded, at.weight.data(), at.weight_exponent.data(),
                                   values.partial(host.root), at.likelihood.data(), at.exponent.data()},
                   values.device());
  likelihood.resize(std::size_t(root.patterns));
  at.likelihood.copy_to_host(likelihood.data(), root.patterns);
  exponent.resize(std::size_t(root.patterns));
  values.copy_total_exponents(host.root_scale, exponent);
  std::vector<std::int32_t> own(exponent.size());
  at.exponent.copy_to_host(own.data(), root.patterns);
  for (std::size_t p = 0; p < own.size(); ++p) exponent[p] += own[p];
}

}  // namespace

void evaluate_root(partials_store& values, const parameters& params, std::vector<double>& likelihood,
                   std::vector<std::int32_t>& exponent) {
  const plan& host = values.host();
  const partial_shape& root = values.shape(host.root);
  update_root_weights(values, params);
  if (host.is_scaled) return evaluate_scaled_root(values, likelihood, exponent);
  with_rules(values.device(), [&](auto shape) {
    device::launch(root_kernel<decltype(shape)>{values.entries(host.root), root.padded, values.root.weight.data(),
                                                values.partial(host.root), values.root.likelihood.data()},
                   tiles_of(root.padded, tile_columns), values.device());
  });
  likelihood.resize(std::size_t(root.patterns));
  values.root.likelihood.copy_to_host(likelihood.data(), root.patterns);
  exponent.assign(std::size_t(root.patterns), 0);
  if (host.root_scale >= 0) values.copy_total_exponents(host.root_scale, exponent);
}

void adjoint_root(adjoint_context& pass, std::span<const double> seed) {
  partials_store& values = pass.values;
  const plan& host = values.host();
  const partial_shape& root = values.shape(host.root);
  std::vector<double> padded(seed.begin(), seed.end());
  padded.resize(std::size_t(root.padded), 0.0);
  const Buffer<double> seeds(padded, values.device());
  Buffer<double> by_weight(root.entries, values.device());
  const std::int64_t entries = values.entries(host.root);
  device::fill(by_weight, 0.0);
  device::for_each(entries * root.padded,
                   root_adjoint{root.padded, values.root.weight.data(), seeds.data(), pass.adjoint(host.root)},
                   values.device());
  device::for_each(entries, root_weight_adjoint{root.padded, seeds.data(), values.partial(host.root), by_weight.data()},
                   values.device());
  const double theta = pass.params.root_theta;
  const mutation_rates& rates = pass.params.rates;
  const root_weights weights = root_weights_of(host.root_layout, theta * rates.root_v, theta * rates.root_u);
  const auto slope = by_weight.to_vector();
  double by_a1 = 0, by_a0 = 0;
  for (std::size_t e = 0; e < slope.size(); ++e) {
    by_a1 += slope[e] * weights.by_a1[e];
    by_a0 += slope[e] * weights.by_a0[e];
  }
  pass.result.root_v = theta * by_a1;
  pass.result.root_u = theta * by_a0;
  pass.result.root_theta = rates.root_v * by_a1 + rates.root_u * by_a0;
}

}  // namespace quintet::snp
