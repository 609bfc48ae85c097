// C functions of maximum likelihood on a network.
#include "c/snp_support.hpp"
#include "quintet/snp/likelihood/optimise.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

static_assert(QUINTET_SNP_THETAS_FIXED == int(snp::theta_parameters::fixed) &&
              QUINTET_SNP_THETAS_EACH == int(snp::theta_parameters::each) &&
              QUINTET_SNP_THETAS_COMMON == int(snp::theta_parameters::common));

constexpr auto optimise_option_list = [](auto visit) {
  using c = quintet_snp_optimise_options;
  using library = snp::optimise_options;
  visit(&c::lengths, &library::lengths);
  visit(&c::gammas, &library::gammas);
  visit(&c::thetas, &library::thetas, 3, "thetas");
  visit(&c::max_iterations, &library::max_iterations);
  visit(&c::tolerance, &library::tolerance);
  visit(&c::min_length, &library::min_length);
  visit(&c::max_length, &library::max_length);
  visit(&c::min_theta, &library::min_theta);
  visit(&c::max_theta, &library::max_theta);
  visit(&c::min_gamma, &library::min_gamma);
};

quintet_snp_optimise_options default_optimise_options() {
  quintet_snp_optimise_options options{};
  options.size = sizeof(options);
  copy_to_interface(optimise_option_list, snp::optimise_options{}, options);
  return options;
}

snp::optimise_options settings_of(const quintet_snp_optimise_options* c_options) {
  snp::optimise_options options;
  copy_to_library(optimise_option_list, known_options(c_options, default_optimise_options()), options);
  return options;
}

}  // namespace

extern "C" {

quintet_status quintet_snp_optimise_options_default(quintet_snp_optimise_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(default_optimise_options(), options, size, "options"); });
}

quintet_status quintet_snp_likelihood_optimise(quintet_snp_likelihood* likelihood,
                                               const quintet_snp_optimise_options* options, quintet_progress report,
                                               void* user, quintet_snp_optimum* optimum) noexcept {
  return guarded([&] {
    if (optimum != nullptr) check_struct_size(optimum->size, sizeof(*optimum), "optimum->size");
    snp::optimise_options settings = settings_of(options);
    settings.progress = passed_on(report, user);
    const snp::optimise_result result = snp::optimise(required(likelihood, "likelihood").likelihood, settings);
    if (optimum == nullptr) return;
    write_struct({optimum->size, result.start, result.log_likelihood, result.iterations, result.evaluations,
                  result.converged, 0, result.truncation_bound},
                 optimum, optimum->size, "optimum->size");
  });
}

}  // extern "C"
