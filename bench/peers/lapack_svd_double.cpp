#include "peers/lapack_svd_impl.hpp"

namespace quintet::bench {

template bool peer_svd(svd_peer, const double*, std::int64_t, std::int64_t, double*, double*, double*);

}  // namespace quintet::bench
