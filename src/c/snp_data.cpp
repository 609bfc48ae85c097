// C functions of counts of alleles.
#include "c/snp_support.hpp"

using namespace quintet;
using namespace quintet::c;

static_assert(QUINTET_SNP_DROP == int(snp::empty_species::drop) && QUINTET_SNP_KEEP == int(snp::empty_species::keep));

extern "C" {

quintet_status quintet_snp_data_create(const char* const* names, int64_t species, const int64_t* red,
                                       const int64_t* copies, const double* weights, int64_t sites, int64_t stride,
                                       int32_t dominant, quintet_snp_empty empty, quintet_snp_data** data) noexcept {
  return make_handle(data, [&] {
    std::vector<std::string> labels;
    for (const char* name : array(names, species, "names"))
      labels.emplace_back(&required(name, "every element of names"));
    const auto red_counts = input_matrix<std::int64_t>(red, sites, species, stride, "red");
    const auto copy_counts = input_matrix<std::int64_t>(copies, sites, species, stride, "copies");
    const auto site_weights = optional_array<double>(weights, sites, "weights");
    snp::DataBuilder builder(std::move(labels), {dominant != 0, enumerated<snp::empty_species>(empty, 2, "empty")});
    const auto width = static_cast<std::size_t>(species);
    for (std::int64_t i = 0; i < sites; ++i)
      builder.add_site({red_counts.row(i), width}, {copy_counts.row(i), width},
                       site_weights.empty() ? 1 : site_weights[static_cast<std::size_t>(i)]);
    return quintet_snp_data{builder.finish()};
  });
}

void quintet_snp_data_free(quintet_snp_data* data) noexcept { delete data; }

quintet_status quintet_snp_data_sizes(const quintet_snp_data* data, int64_t* species, int64_t* patterns,
                                      int64_t* given_sites, int64_t* sites) noexcept {
  return guarded([&] {
    const snp::Data& held = required(data, "data").data;
    set(species, std::int64_t(held.species().size()));
    set(patterns, held.patterns());
    set(given_sites, held.given_sites());
    set(sites, held.sites());
  });
}

quintet_status quintet_snp_data_species(const quintet_snp_data* data, int64_t s, const char** name) noexcept {
  return guarded([&] {
    const auto names = required(data, "data").data.species();
    const auto count = std::int64_t(names.size());
    require_argument(s >= 0 && s < count, "species", s, text("in [0, ", count, ")"));
    required(name, "name") = names[static_cast<std::size_t>(s)].c_str();
  });
}

quintet_status quintet_snp_data_patterns(const quintet_snp_data* data, const double** weights, const int16_t** red,
                                         const int16_t** copies) noexcept {
  return guarded([&] {
    const snp::Data& held = required(data, "data").data;
    set(weights, held.weights().data());
    set(red, held.red().data());
    set(copies, held.copies().data());
  });
}

quintet_status quintet_snp_data_pattern_of_site(const quintet_snp_data* data, const int64_t** patterns,
                                                int64_t* given_sites) noexcept {
  return guarded([&] {
    const snp::Data& held = required(data, "data").data;
    give(held.pattern_of_site().data(), held.given_sites(), patterns, given_sites);
  });
}

}  // extern "C"
