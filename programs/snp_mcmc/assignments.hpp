// Several assignments of the same individuals to species, and the table of their marginal likelihoods.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "quintet/snp/inference/marginal_likelihood.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

/// A column of the file of assignments.
struct assignment {
  std::string name;
  std::vector<std::pair<std::string, std::string>> species_of;  ///< individual and species
};

/// Reads a table with a header: individual, then a column for every assignment. Commas, semicolons, tabs or blanks are
/// between. Throws FileError with the line: another number of fields, an empty one, an individual or a name twice, an
/// individual without a species.
std::vector<assignment> read_assignments(const std::string& path);

/// What is known of an assignment after its chains.
struct compared_assignment {
  std::string name;
  snp::marginal_likelihood_estimate estimate;
};

/// One line per assignment, the most likely first: log Z, its error, log of the Bayes factor against the first, and
/// words; also as result "assignments".
void report_assignments(session& session, std::vector<compared_assignment> assignments);

}  // namespace quintet::driver
