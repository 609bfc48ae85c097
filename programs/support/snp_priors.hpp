// Priors as input of a driver.
#pragma once

#include <string>
#include <vector>

#include "quintet/snp/inference/priors.hpp"

namespace quintet::driver {

/// The lines of --priors (empty: no file) and the values of --prior, each with its own name for errors. Throws
/// FileError for a file that cannot be read.
std::vector<snp::prior_source> prior_sources(const std::string& file, const std::vector<std::string>& values);

}  // namespace quintet::driver
