// Everything of species networks and SNPs.
#pragma once

#include "quintet/snp/inference/diagnostics.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/inference/resampling.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/likelihood/rules.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"
#include "quintet/snp/network/network_state.hpp"
#include "quintet/snp/network/network_topology.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/network/rooting.hpp"
#include "quintet/snp/simulation/simulate.hpp"
