// Networks from files.
#pragma once

#include <string>

#include "quintet/snp/network/newick.hpp"

namespace quintet::io {

/// Reads the one network of a file: extended Newick (quintet/snp/network/newick.hpp), or a NEXUS file whose TREES or
/// NETWORKS block has one tree or network (without a TRANSLATE table). ".gz" is compressed. Throws FileError: with the
/// line for what is no Newick, with the broken rule for what is no network, for no network and for several;
/// InvalidArgument for options out of range. Time and memory O(size of the file).
snp::Network read_network(const std::string& path, const snp::newick_options& options = {});

}  // namespace quintet::io
