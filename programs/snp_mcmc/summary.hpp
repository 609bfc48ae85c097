// What a run says: posterior probabilities, columns with their diagnostics, warnings.
#pragma once

#include <nlohmann/json.hpp>

#include "snp_mcmc/output.hpp"

namespace quintet::driver {

/// summary.json without anything that depends on time or threads. "warnings" has the worst first, "advice" a remedy.
nlohmann::ordered_json summary_of(const kept_chains& samples, const std::vector<std::string>& columns,
                                  const std::shared_ptr<const std::vector<std::string>>& species,
                                  const snp::sampler& chains, const std::vector<std::vector<snp::move_record>>& moves,
                                  const snp::priors& prior);

/// One line of how far a run has come: log-likelihood, ESS and R-hat of it and of the root's height, reticulations,
/// acceptance. Samples may be few.
std::string progress_line(const kept_chains& samples, const std::vector<std::string>& columns,
                          const snp::sampler& chains);

}  // namespace quintet::driver
