// C functions that read networks and markers: part of quintet_io.
#include "quintet/c/snp_files.h"

#include "c/snp_support.hpp"
#include "quintet/io/snp_data.hpp"
#include "quintet/io/snp_network.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

constexpr quintet_snp_read_options default_read_options = [] {
  quintet_snp_read_options options{};
  options.size = sizeof(options);
  options.max_missing = 1;
  return options;
}();

io::population_map populations_of(const quintet_snp_read_options& options) {
  if (options.population_file != nullptr && options.population_rule != nullptr)
    throw InvalidArgument(text("population_file and population_rule must not both be given (population_file=",
                               options.population_file, ", population_rule=", options.population_rule, ")"));
  if (options.population_file != nullptr) return io::population_map::from_file(options.population_file);
  if (options.population_rule != nullptr) return io::population_map::from_rule(options.population_rule);
  return {};
}

}  // namespace

extern "C" {

quintet_status quintet_snp_network_read(const char* path, double theta, double root_theta,
                                        quintet_snp_network** network) noexcept {
  return make_handle(
      network, [&] { return quintet_snp_network{io::read_network(&required(path, "path"), {theta, root_theta})}; });
}

quintet_status quintet_snp_read_options_default(quintet_snp_read_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(default_read_options, options, size, "options"); });
}

quintet_status quintet_snp_data_read(const char* path, const quintet_snp_read_options* options,
                                     quintet_snp_data** data) noexcept {
  return make_handle(data, [&] {
    const quintet_snp_read_options known = known_options(options, default_read_options);
    io::snp_read_options settings;
    settings.populations = populations_of(known);
    settings.diploid = known.diploid != 0;
    settings.dominant = known.dominant != 0;
    settings.haploid = known.haploid != 0;
    settings.max_missing = known.max_missing;
    settings.thin_distance = known.thin_distance;
    settings.one_per_locus = known.one_per_locus != 0;
    settings.empty = enumerated<snp::empty_species>(known.empty, 2, "empty");
    return quintet_snp_data{io::read_snp_data(&required(path, "path"), settings).data};
  });
}

}  // extern "C"
