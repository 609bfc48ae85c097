#include "peers/mkl_product.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "quintet/core/error.hpp"

namespace quintet::bench {

namespace {

// Numbers of mkl_spblas.h and mkl_service.h.
enum : int { success = 0, from_zero = 0, not_transposed = 10, threads_of_gnu = 3 };
using handle = void*;

struct mkl_functions {
  int (*create)(handle*, int, int, int, int*, int*, int*, double*);
  int (*multiply)(int, handle, handle, handle*);
  int (*order)(handle);
  int (*get)(handle, int*, int*, int*, int**, int**, int**, double**);
  int (*destroy)(handle);
  void (*set_threads)(int);

  explicit mkl_functions(void* library)
      : create(find<decltype(create)>(library, "mkl_sparse_d_create_csr")),
        multiply(find<decltype(multiply)>(library, "mkl_sparse_spmm")),
        order(find<decltype(order)>(library, "mkl_sparse_order")),
        get(find<decltype(get)>(library, "mkl_sparse_d_export_csr")),
        destroy(find<decltype(destroy)>(library, "mkl_sparse_destroy")),
        set_threads(find<decltype(set_threads)>(library, "MKL_Set_Num_Threads")) {
    // One runtime of OpenMP more in the process, as for GraphBLAS; LLVM's is not shared.
    find<int (*)(int)>(library, "MKL_Set_Threading_Layer")(threads_of_gnu);
  }

 private:
  template <class Function>
  static Function find(void* library, const char* name) {
    void* const symbol = ::dlsym(library, name);
    if (symbol == nullptr) throw Error(std::string("MKL has no function ") + name);
    return reinterpret_cast<Function>(symbol);
  }
};

const mkl_functions* functions() {
  static const std::unique_ptr<const mkl_functions> loaded = [] {
    const char* const path = std::getenv("QUINTET_MKL");
    void* const library = ::dlopen(path != nullptr ? path : "libmkl_rt.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr && path != nullptr) throw Error(std::string("QUINTET_MKL cannot be loaded: ") + ::dlerror());
    return library == nullptr ? nullptr : std::make_unique<const mkl_functions>(library);
  }();
  return loaded.get();
}

void require_success(int status, const char* function) {
  if (status != success) throw Error(std::string(function) + " fails with status " + std::to_string(status));
}

class loaded_product final : public mkl_product {
 public:
  loaded_product(const mkl_functions& mkl, const spgemm::csr_view<double, std::int32_t>& a,
                 const spgemm::csr_view<double, std::int32_t>& b)
      : mkl_(mkl), a_(mkl, a), b_(mkl, b) {}
  std::int64_t run(int threads, bool sorted) const override {
    mkl_.set_threads(threads);
    const matrix c(mkl_, a_, b_);
    if (sorted) require_success(mkl_.order(c.held), "mkl_sparse_order");
    return c.entries();
  }
  double sum_of_product() const override {
    const matrix c(mkl_, a_, b_);
    double sum = 0;
    for (std::int64_t k = 0; k < c.entries(); ++k) sum += c.values()[k];
    return sum;
  }

 private:
  struct matrix {
    matrix(const mkl_functions& mkl, const spgemm::csr_view<double, std::int32_t>& m)
        : mkl(mkl), pointers(m.row_pointers, m.row_pointers + m.rows + 1) {
      require_success(mkl.create(&held, from_zero, int(m.rows), int(m.cols), pointers.data(), pointers.data() + 1,
                                 const_cast<std::int32_t*>(m.columns), const_cast<double*>(m.values)),
                      "mkl_sparse_d_create_csr");
    }
    matrix(const mkl_functions& mkl, const matrix& a, const matrix& b) : mkl(mkl) {
      require_success(mkl.multiply(not_transposed, a.held, b.held, &held), "mkl_sparse_spmm");
    }
    matrix(const matrix&) = delete;
    matrix& operator=(const matrix&) = delete;
    ~matrix() { mkl.destroy(held); }
    std::int64_t entries() const { return arrays().last; }
    const double* values() const { return arrays().values; }

    const mkl_functions& mkl;
    std::vector<int> pointers;
    handle held = nullptr;

   private:
    struct content {
      std::int64_t last = 0;
      const double* values = nullptr;
    };
    content arrays() const {
      int base = 0, rows = 0, cols = 0, *begin = nullptr, *end = nullptr, *columns = nullptr;
      double* values = nullptr;
      require_success(mkl.get(held, &base, &rows, &cols, &begin, &end, &columns, &values), "mkl_sparse_d_export_csr");
      return {rows == 0 ? 0 : end[rows - 1], values};
    }
  };

  const mkl_functions& mkl_;
  matrix a_, b_;
};

}  // namespace

std::shared_ptr<mkl_product> mkl_product::load(const spgemm::csr_view<double, std::int32_t>& a,
                                               const spgemm::csr_view<double, std::int32_t>& b) {
  const mkl_functions* const mkl = functions();
  return mkl == nullptr ? nullptr : std::make_shared<loaded_product>(*mkl, a, b);
}

}  // namespace quintet::bench
