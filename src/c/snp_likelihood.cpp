// C functions of the likelihood of biallelic markers.
#include "c/snp_support.hpp"

#include <array>

using namespace quintet;
using namespace quintet::c;

namespace {

constexpr auto member_list = [](auto visit) {
  using c = quintet_snp_model;
  using library = snp::model;
  visit(&c::u, &library::u);
  visit(&c::v, &library::v);
  visit(&c::mutation_only_at_root, &library::mutation_only_at_root);
  visit(&c::polymorphic_only, &library::polymorphic_only);
  visit(&c::full_samples, &library::full_samples);
  visit(&c::unseen_zeros, &library::unseen_zeros);
  visit(&c::unseen_ones, &library::unseen_ones);
  visit(&c::ordered_data, &library::ordered_data);
};

constexpr quintet_snp_model default_model = [] {
  quintet_snp_model model{};
  model.size = sizeof(model);
  copy_to_interface(member_list, snp::model{}, model);
  model.truncation = snp::default_truncation;
  return model;
}();

snp::model model_of(const quintet_snp_model* c_options) {
  const quintet_snp_model known = known_options(c_options, default_model);
  snp::model model;
  copy_to_library(member_list, known, model);
  const auto rates = array(known.rate_categories, known.categories, "model->rate_categories");
  if (!rates.empty()) model.rate_categories.assign(rates.begin(), rates.end());
  return model;
}

snp::likelihood_options settings_of(const quintet_snp_model* model, std::int64_t memory_limit, const char* device) {
  require_argument(memory_limit >= 0, "memory_limit", memory_limit, ">= 0");
  return {.device = chosen_device(device),
          .memory_limit = memory_limit,
          .truncation = known_options(model, default_model).truncation};
}

template <class Action>
quintet_status with_likelihood(quintet_snp_likelihood* handle, Action&& action) noexcept {
  return guarded([&] { action(required(handle, "likelihood").likelihood); });
}

// `out` of the caller must have as many elements as there are values.
void check_count(std::int64_t count, std::int64_t expected, const char* name) {
  require_argument(count == expected, name, count, text(expected, ", the number there is"));
}

}  // namespace

extern "C" {

quintet_status quintet_snp_model_default(quintet_snp_model* model, size_t size) noexcept {
  return guarded([&] { write_struct(default_model, model, size, "model"); });
}

quintet_status quintet_snp_gamma_rates(double shape, int64_t categories, double* rates) noexcept {
  return guarded([&] {
    const auto values = snp::gamma_rates(shape, categories);
    copy_to(values, array(rates, categories, "rates").data());
  });
}

quintet_status quintet_snp_estimate_likelihood(const quintet_snp_network* network, const quintet_snp_data* data,
                                               const quintet_snp_model* model, int64_t memory_limit, const char* device,
                                               quintet_snp_estimate* estimate) noexcept {
  return guarded([&] {
    check_struct_size(required(estimate, "estimate").size, sizeof(*estimate), "estimate->size");
    const auto needs = snp::estimate(required(network, "network").network, required(data, "data").data, model_of(model),
                                     settings_of(model, memory_limit, device));
    write_struct({estimate->size, needs.largest_group, needs.bytes, needs.operations, needs.blocks,
                  needs.largest_group_untruncated},
                 estimate, estimate->size, "estimate->size");
  });
}

quintet_status quintet_snp_likelihood_create(const quintet_snp_network* network, const quintet_snp_data* data,
                                             const quintet_snp_model* model, int64_t memory_limit, const char* device,
                                             quintet_snp_likelihood** likelihood) noexcept {
  return make_handle(likelihood, [&] {
    const snp::Data& held = required(data, "data").data;
    return quintet_snp_likelihood{snp::Likelihood(required(network, "network").network, held, model_of(model),
                                                  settings_of(model, memory_limit, device)),
                                  held.patterns(), held.given_sites()};
  });
}

void quintet_snp_likelihood_free(quintet_snp_likelihood* likelihood) noexcept { delete likelihood; }

quintet_status quintet_snp_likelihood_evaluate(quintet_snp_likelihood* likelihood, double* log_likelihood) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) {
    required(log_likelihood, "log_likelihood");
    *log_likelihood = held.evaluate();
  });
}

quintet_status quintet_snp_likelihood_truncation(quintet_snp_likelihood* likelihood, double* bound,
                                                 double* mass) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) {
    const snp::truncation_report& report = held.truncation();
    if (bound != nullptr) *bound = report.bound;
    if (mass != nullptr) *mass = report.mass;
  });
}

quintet_status quintet_snp_likelihood_set_length(quintet_snp_likelihood* likelihood, int64_t branch,
                                                 double length) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) { held.set_length(branch, length); });
}

quintet_status quintet_snp_likelihood_set_theta(quintet_snp_likelihood* likelihood, int64_t branch,
                                                double theta) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) { held.set_theta(branch, theta); });
}

quintet_status quintet_snp_likelihood_set_gamma(quintet_snp_likelihood* likelihood, int64_t branch,
                                                double gamma) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) { held.set_gamma(branch, gamma); });
}

quintet_status quintet_snp_likelihood_set_root_theta(quintet_snp_likelihood* likelihood, double theta) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) { held.set_root_theta(theta); });
}

quintet_status quintet_snp_likelihood_set_rates(quintet_snp_likelihood* likelihood, double u, double v) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) { held.set_rates(u, v); });
}

quintet_status quintet_snp_likelihood_accept(quintet_snp_likelihood* likelihood) noexcept {
  return with_likelihood(likelihood, [](snp::Likelihood& held) { held.accept(); });
}

quintet_status quintet_snp_likelihood_reject(quintet_snp_likelihood* likelihood) noexcept {
  return with_likelihood(likelihood, [](snp::Likelihood& held) { held.reject(); });
}

quintet_status quintet_snp_likelihood_parameters(const quintet_snp_likelihood* likelihood,
                                                 quintet_snp_network** network, double* u, double* v) noexcept {
  return guarded([&] {
    const snp::Likelihood& held = required(likelihood, "likelihood").likelihood;
    set(u, held.model().u);
    set(v, held.model().v);
    if (network == nullptr) return;
    *network = nullptr;
    *network = new quintet_snp_network{held.network()};
  });
}

quintet_status quintet_snp_likelihood_patterns(quintet_snp_likelihood* likelihood, double* out,
                                               int64_t count) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) {
    check_count(count, likelihood->patterns, "count");
    array(out, count, "out");
    copy_to(held.pattern_log_likelihoods(), out);
  });
}

quintet_status quintet_snp_likelihood_sites(quintet_snp_likelihood* likelihood, double* out, int64_t count) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) {
    check_count(count, likelihood->given_sites, "count");
    array(out, count, "out");
    copy_to(held.site_log_likelihoods(), out);
  });
}

quintet_status quintet_snp_likelihood_gradient(quintet_snp_likelihood* likelihood, int64_t branches, double* length,
                                               double* theta, double* gamma, double* others) noexcept {
  return with_likelihood(likelihood, [&](snp::Likelihood& held) {
    check_count(branches, held.network().branches(), "branches");
    const snp::gradient slope = held.gradient();
    copy_to(slope.length, length);
    copy_to(slope.theta, theta);
    copy_to(slope.gamma, gamma);
    copy_to(std::array{slope.u, slope.v, slope.root_theta}, others);
  });
}

}  // extern "C"
