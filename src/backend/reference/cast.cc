#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"
#include "core/convert.h"

namespace muster {
namespace {

using namespace reference;

// From T to whatever the attribute says.
struct Cast {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    const int64_t count = request.out(0).num_elements();
    return ByDType(request.attr<CastAttrs>().to, [&](auto to) {
      using To = decltype(to);
      PreparedKernel prepared;
      if (sizeof(To) == sizeof(T)) prepared.in_place = {{0, 0}};
      prepared.kernel = MakeKernel([=](const LaunchArgs& args) {
        const T* x = args.in<T>(0);
        To* y = args.out<To>(0);
        for (int64_t i = 0; i < count; ++i) y[i] = Convert<To>(x[i]);
      });
      return prepared;
    });
  }
};

}  // namespace

std::vector<KernelRow> ReferenceCastRows() {
  std::vector<KernelRow> rows;
  AddRows<Cast, float, double, Float16, BFloat16, int32_t, int64_t, uint8_t, bool>(rows, OpKind::kCast);
  return rows;
}

}  // namespace muster
