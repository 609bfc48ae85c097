// C functions of maximum likelihood on a network.
#include "c/snp_support.hpp"
#include "quintet/snp/likelihood/optimise.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

static_assert(QUINTET_SNP_THETAS_FIXED == int(snp::theta_parameters::fixed) &&
              QUINTET_SNP_THETAS_EACH == int(snp::theta_parameters::each) &&
              QUINTET_SNP_THETAS_COMMON == int(snp::theta_parameters::common));

quintet_snp_optimise_options default_optimise_options() {
  const snp::optimise_options defaults;
  quintet_snp_optimise_options options{};
  options.size = sizeof(options);
  options.lengths = defaults.lengths;
  options.gammas = defaults.gammas;
  options.thetas = static_cast<quintet_snp_thetas>(defaults.thetas);
  options.max_iterations = defaults.max_iterations;
  options.tolerance = defaults.tolerance;
  options.min_length = defaults.min_length;
  options.max_length = defaults.max_length;
  options.min_theta = defaults.min_theta;
  options.max_theta = defaults.max_theta;
  options.min_gamma = defaults.min_gamma;
  return options;
}

snp::optimise_options settings_of(const quintet_snp_optimise_options* given) {
  const quintet_snp_optimise_options known = known_options(given, default_optimise_options());
  snp::optimise_options options;
  options.lengths = known.lengths != 0;
  options.thetas = enumerated<snp::theta_parameters>(known.thetas, 3, "thetas");
  options.gammas = known.gammas != 0;
  options.max_iterations = known.max_iterations;
  options.tolerance = known.tolerance;
  options.min_length = known.min_length;
  options.max_length = known.max_length;
  options.min_theta = known.min_theta;
  options.max_theta = known.max_theta;
  options.min_gamma = known.min_gamma;
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
    const snp::optimise_result found = snp::optimise(required(likelihood, "likelihood").likelihood, settings);
    if (optimum == nullptr) return;
    write_struct(
        {optimum->size, found.start, found.log_likelihood, found.iterations, found.evaluations, found.converged, 0},
        optimum, optimum->size, "optimum->size");
  });
}

}  // extern "C"
