#include "muster/session.h"

#include "run/session_impl.h"
#include "session/local_devices.h"

namespace muster {

class Session::Impl : public SessionImpl {
 public:
  using SessionImpl::SessionImpl;
};

Session::Session(const Graph* graph, SessionOptions options) {
  std::vector<LocalDevice> devices = MakeLocalDevices(options);
  impl_ = std::make_unique<Impl>(graph, std::move(options), std::move(devices));
}

Session::~Session() = default;

void Session::Initialize() { impl_->Initialize(); }

std::vector<Tensor> Session::Run(const Feeds& feeds, const std::vector<Output>& fetches,
                                 const std::vector<NodeId>& targets) {
  return impl_->Run(feeds, fetches, targets);
}

std::unique_ptr<Runner> Session::Prepare(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                         const std::vector<NodeId>& targets) {
  return impl_->Prepare(feeds, fetches, targets);
}

Tensor Session::ReadVariable(Output ref) { return impl_->ReadVariable(ref); }
void Session::WriteVariable(Output ref, const Tensor& value) { impl_->WriteVariable(ref, value); }
int64_t Session::step() const { return impl_->step(); }
void Session::set_step(int64_t step) { impl_->set_step(step); }
std::vector<std::pair<std::string, std::string>> Session::Libraries() { return BackendLibraries(); }
int Session::num_threads() const { return impl_->num_threads(); }
std::vector<DeviceInfo> Session::Devices() const { return impl_->Devices(); }
std::vector<std::string> Session::DevicePlacement() const { return impl_->DevicePlacement(); }
std::vector<SoftPlacement> Session::SoftPlacements() const { return impl_->SoftPlacements(); }
Graph Session::PlacedGraph() const { return impl_->PlacedGraph(); }

}  // namespace muster
