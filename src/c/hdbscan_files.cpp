// C functions that read and write clusterings with their points: part of quintet_io.
#include "quintet/c/hdbscan_files.h"

#include <utility>

#include "c/hdbscan_support.hpp"
#include "quintet/io/hdbscan_model.hpp"

using namespace quintet;
using namespace quintet::c;

namespace {

// What a predictor from a file refers to.
struct loaded {
  io::hdbscan_model file;
  quintet_hdbscan_clustering fitted;
};

}  // namespace

extern "C" {

quintet_status quintet_hdbscan_save(const quintet_hdbscan_clustering* clustering, const void* points, quintet_type type,
                                    int64_t n, int64_t dim, int64_t stride, const char* path) noexcept {
  return guarded([&] {
    const auto& fitted = required(clustering, "clustering");
    const any_matrix x = clustered_points(fitted, points, type, n, dim, stride);
    io::write_model(&required(path, "path"), fitted.model, x);
  });
}

quintet_status quintet_hdbscan_load(const char* path, const char* device,
                                    quintet_hdbscan_predictor** predictor) noexcept {
  return make_handle(predictor, [&] {
    const Device on = chosen_device(device);
    const auto holder = std::make_shared<loaded>(loaded{io::read_model(&required(path, "path")), {}});
    const any_matrix points = holder->file.points();
    holder->fitted = {std::move(holder->file.clustering), static_cast<quintet_type>(points.type), points.cols};
    return quintet_hdbscan_predictor{holder, &holder->fitted, hdbscan::predictor(holder->fitted.model, points, on)};
  });
}

}  // extern "C"
