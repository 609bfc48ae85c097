// Likelihoods and chains of quintet/snp that several ranks share.
//
//   mpi::communicator ranks;
//   snp::Likelihood likelihood(network, data, model, {.shared_by = mpi::snp::group_of(ranks)});
//   likelihood.evaluate();                             // on every rank; the bits of one process
//   snp::sampler chains(species, &data, prior, {.chains = 4, .temperatures = 4, .shared_by =
//   mpi::snp::group_of(ranks)});
//
// A likelihood distributes its patterns to the ranks, in the order of the data; every rank makes the tables of all
// patterns. An evaluation gathers 8 bytes per pattern, and every rank adds them up in the order of the data. A gradient
// gathers its numbers and adds them by rank. A sampler distributes its walkers. With more ranks than walkers, the ranks
// of a walker share its patterns, see sampler_options::shared_by. Network, data, model, options and calls are the same
// on all ranks.
#pragma once

#include <memory>

#include "quintet/core/process_group.hpp"
#include "quintet/mpi/communicator.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"

namespace quintet::mpi::snp {

/// The ranks of a communicator, which must outlive the group, as a group of processes. O(1).
std::shared_ptr<process_group> group_of(communicator& ranks);

}  // namespace quintet::mpi::snp
