#include "peers/lapack_svd_impl.hpp"

namespace quintet::bench {

template bool peer_svd(svd_peer, const float*, std::int64_t, std::int64_t, float*, float*, float*);

}  // namespace quintet::bench
