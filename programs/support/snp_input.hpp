// Markers as input of a driver: the options that say which and how, reading them, and what is reported of them.
#pragma once

#include <string>

#include "quintet/io/snp_data.hpp"
#include "quintet/snp/network/model.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

/// What the options of describe_markers() and describe_corrections() set.
struct snp_input {
  std::string data, format, population_map, species_rule;
  io::snp_read_options reading;
  bool keep_empty = false;
  snp::model model;
  double gamma_shape = snp::unset;
  std::int64_t gamma_categories = 4;
  bool is_for_likelihood = true;  ///< which depends on how many sites are constant
};

/// --data (required or not), --format, --population-map, --species-rule, --diploid, --dominant, --keep-empty.
void describe_markers(po::options_description& options, snp_input& input, bool is_required = true);
/// --polymorphic-only, --full-samples, --ordered-data, --unseen-zeros, --unseen-ones, --mutation-only-at-root,
/// --gamma-shape,
/// --gamma-categories.
void describe_corrections(po::options_description& options, snp_input& input);
/// What the options say together; throws InvalidArgument for those that exclude each other and FileError for files.
void complete(snp_input& input);

/// Reads, reports what was left out as results and warnings; throws for data without a site that counts.
io::snp_input read_marker_file(session& session, const snp_input& input);
/// The data of read_marker_file().
snp::Data read_markers(session& session, const snp_input& input);

///@{
/// Notifiers of options.
inline auto positive(const char* option) {
  return
      [option](double value) { require_argument(std::isfinite(value) && value > 0, option, value, "finite and > 0"); };
}
inline auto not_negative(const char* option) {
  return [option](double value) {
    require_argument(std::isfinite(value) && value >= 0, option, value, "finite and >= 0");
  };
}
///@}

}  // namespace quintet::driver
