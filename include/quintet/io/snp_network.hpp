// Networks from files.
#pragma once

#include <string>
#include <vector>

#include "quintet/snp/network/newick.hpp"

namespace quintet::io {

/// Reads the one network of a file: extended Newick (quintet/snp/network/newick.hpp), or a NEXUS file with one tree or
/// network in a TREES or NETWORKS block, where a TRANSLATE table may stand for names. ".gz" is compressed. Throws
/// FileError: with the line for invalid Newick, with the broken rule for what is no network, for no network and for
/// several; InvalidArgument for options out of range. Time and memory O(size of the file).
snp::Network read_network(const std::string& path, const snp::newick_options& options = {});

/// Reads all networks of such a file, at least one, in their order; errors, time and memory as for read_network().
std::vector<snp::Network> read_networks(const std::string& path, const snp::newick_options& options = {});

}  // namespace quintet::io
