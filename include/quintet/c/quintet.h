/// @file
/// The whole C interface. Conventions are in quintet/c/core.h.
#ifndef QUINTET_C_QUINTET_H
#define QUINTET_C_QUINTET_H

#include "quintet/c/core.h"
#include "quintet/c/hdbscan.h"
#include "quintet/c/hdbscan_files.h"
#include "quintet/c/neighbours.h"
#include "quintet/c/neighbours_files.h"
#include "quintet/c/poincare.h"
#include "quintet/c/snp.h"
#include "quintet/c/snp_files.h"
#include "quintet/c/spgemm.h"
#include "quintet/c/svd.h"

#endif
