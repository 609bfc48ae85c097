// Options of likelihoods, optimisation, search and chains from Python: objects of python/quintet/snp/_options.py.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

#include "options.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"

namespace quintet::python {

constexpr auto model_list = [](auto visit) {
  using snp::model;
  visit("u", &model::u);
  visit("v", &model::v);
  visit("rate_categories", &model::rate_categories);
  visit("mutation_only_at_root", &model::mutation_only_at_root);
  visit("polymorphic_only", &model::polymorphic_only);
  visit("full_samples", &model::full_samples);
  visit("unseen_zeros", &model::unseen_zeros);
  visit("unseen_ones", &model::unseen_ones);
  visit("ordered_data", &model::ordered_data);
};

constexpr auto optimise_list = [](auto visit) {
  using snp::optimise_options;
  visit("lengths", &optimise_options::lengths);
  visit("thetas", &optimise_options::thetas);
  visit("gammas", &optimise_options::gammas);
  visit("max_iterations", &optimise_options::max_iterations);
  visit("tolerance", &optimise_options::tolerance);
  visit("min_gamma", &optimise_options::min_gamma);
};

constexpr auto search_list = [](auto visit) {
  using snp::search_options;
  visit("max_reticulations", &search_options::max_reticulations);
  visit("starts", &search_options::starts);
  visit("patience", &search_options::patience);
  visit("theta", &search_options::theta);
  visit("seed", &search_options::seed);
  visit("outgroup", &search_options::outgroup);
  visit("composite", &search_options::composite);
};

constexpr auto sampler_list = [](auto visit) {
  using snp::sampler_options;
  visit("chains", &sampler_options::chains);
  visit("temperatures", &sampler_options::temperatures);
  visit("heat", &sampler_options::heat);
  visit("tune_heat", &sampler_options::tune_heat);
  visit("powers", &sampler_options::powers);
  visit("iterations", &sampler_options::iterations);
  visit("burn_in", &sampler_options::burn_in);
  visit("sample_every", &sampler_options::sample_every);
  visit("swap_every", &sampler_options::swap_every);
  visit("seed", &sampler_options::seed);
  visit("threads", &sampler_options::threads);
  visit("fix_topology", &sampler_options::fix_topology);
  visit("fix_heights", &sampler_options::fix_heights);
  visit("fix_origin", &sampler_options::fix_origin);
  visit("fix_theta", &sampler_options::fix_theta);
  visit("fix_gamma", &sampler_options::fix_gamma);
  visit("fix_rates", &sampler_options::fix_rates);
  visit("delayed_acceptance", &sampler_options::delayed_acceptance);
  visit("frequent_share", &sampler_options::frequent_share);
  visit("weights", &sampler_options::weights);
};

inline snp::model model_of(nb::handle object) { return options_from<snp::model>(model_list, object); }

inline snp::optimise_options optimise_options_of(nb::handle object) {
  auto options = options_from<snp::optimise_options>(optimise_list, object);
  using range = std::pair<double, double>;
  std::tie(options.min_length, options.max_length) = nb::cast<range>(object.attr("length_range"));
  std::tie(options.min_theta, options.max_theta) = nb::cast<range>(object.attr("theta_range"));
  return options;
}

}  // namespace quintet::python
