// What the C functions of biallelic markers share.
#pragma once

#include "c/support.hpp"
#include "quintet/c/snp.h"
#include "quintet/snp/likelihood/likelihood.hpp"

struct quintet_snp_network {
  quintet::snp::Network network;
};
struct quintet_snp_data {
  quintet::snp::Data data;
};
struct quintet_snp_likelihood {
  quintet::snp::Likelihood likelihood;
  std::int64_t patterns, given_sites;  ///< of the data
};
