// Select and AddN.

#include "backend/reference/reference_rows.h"
#include "backend/reference/rows.h"

namespace muster {
namespace {

using namespace reference;

PreparedKernel PrepareSelect(const KernelRequest& request, const DeviceCaps&) {
  return BySize(request.outputs[0].dtype, [&](auto word) {
    using Word = decltype(word);
    const int64_t count = request.out(0).num_elements();
    const int64_t step = request.in(0).rank() == 0 ? 0 : 1;
    auto launch = [=](const LaunchArgs& args) {
      const bool* condition = args.in<bool>(0);
      const Word* a = args.in<Word>(1);
      const Word* b = args.in<Word>(2);
      Word* y = args.out<Word>(0);
      for (int64_t i = 0; i < count; ++i) y[i] = condition[i * step] ? a[i] : b[i];
    };
    return PreparedKernel{MakeKernel(launch), 0, {{0, 1}, {0, 2}}};
  });
}

struct AddN {
  template <typename T>
  static PreparedKernel Prepare(const KernelRequest& request, const DeviceCaps&) {
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    const int64_t count = ValuesIn(request.outputs[0]);
    const int num = static_cast<int>(request.inputs.size());
    PreparedKernel prepared;
    for (int i = 0; i < num; ++i) prepared.in_place.emplace_back(0, i);
    prepared.kernel = MakeKernel([=](const LaunchArgs& args) {
      T* y = args.out<T>(0);
      for (int64_t i = 0; i < count; ++i) {
        Sum sum = 0;
        for (int j = 0; j < num; ++j) sum += static_cast<Sum>(args.in<T>(j)[i]);
        y[i] = static_cast<T>(sum);
      }
    });
    return prepared;
  }
};

}  // namespace

std::vector<KernelRow> ReferenceSelectRows() {
  std::vector<KernelRow> rows;
  AddAllRows(rows, OpKind::kSelect, PrepareSelect);
  AddRows<AddN, float, double, int32_t, int64_t, uint8_t>(rows, OpKind::kAddN);
  return rows;
}

}  // namespace muster
