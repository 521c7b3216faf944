#include "muster/saver.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/output_file.h"
#include "data/format/bundle_reader.h"
#include "data/format/bundle_writer.h"
#include "data/format/checkpoint_state.h"
#include "data/format/meta_graph.h"
#include "graph/graphdef_saver.h"
#include "muster/error.h"
#include "muster/graph_export.h"
#include "train/checkpoint_folder.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

std::vector<SavedVariable> AllVariables(const Graph& graph) {
  std::vector<SavedVariable> variables;
  for (const VariableInfo& info : graph.variables()) variables.push_back({info.ref, info.name, {}});
  return variables;
}

std::string FolderOf(const std::string& path) { return fs::path(path).parent_path().string(); }

bool SamePath(const std::string& a, const std::string& b) {
  return fs::path(a).lexically_normal() == fs::path(b).lexically_normal();
}

// Whatever ways lead there.
bool IsSameFolder(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a.empty() ? "." : a, b.empty() ? "." : b, error) && !error;
}

// What TensorFlow's import_meta_graph needs to go on with the graph and the checkpoint. A variable without a first
// value has no place in its collections.
std::string MetaGraphOf(const Graph& graph, const std::vector<SavedVariable>& variables, const SaverOptions& options) {
  std::vector<std::pair<Output, std::string>> saved;
  std::set<NodeId> is_saved;
  for (const SavedVariable& variable : variables) {
    saved.emplace_back(variable.ref, variable.name);
    is_saved.insert(variable.ref.node);
  }
  const GraphDefSaver saver = MakeGraphDefSaver(graph, saved);
  data::MetaGraph meta{.graph_def = GraphToGraphDef(graph) + saver.nodes,
                       .filename = saver.filename,
                       .save = saver.save,
                       .restore = saver.restore,
                       .max_to_keep = options.max_to_keep};
  for (size_t i = 0; i < graph.variables().size(); ++i) {
    const VariableInfo& info = graph.variables()[i];
    if (info.initializer == kNoNode) continue;
    const Node& initializer = graph.node(info.initializer);
    const Output value = initializer.inputs[1];
    meta.variables.push_back({info.name + ":0", initializer.name,
                              fmt::format("{}:{}", graph.node(value.node).name, value.index), saver.reads[i],
                              info.trainable, is_saved.contains(info.ref.node)});
  }
  return data::MetaGraphBytes(meta);
}

// Values by name.
using Snapshot = std::map<std::string, Tensor>;

}  // namespace

class Saver::Impl {
 public:
  Impl(const Graph* graph, std::vector<SavedVariable> variables, SaverOptions options)
      : graph_(graph), variables_(std::move(variables)), options_(options) {}

  std::string SaveInBackground(Session& session, const std::string& prefix, std::optional<int64_t> global_step) {
    Wait();
    const std::string path = global_step ? fmt::format("{}-{}", prefix, *global_step) : prefix;
    if (fs::path(path).filename().empty())
      throw InvalidArgument(fmt::format("{}: a checkpoint needs a name, not a folder alone", path));
    EnterFolder(path);
    if (options_.write_meta_graph && meta_graph_.empty()) meta_graph_ = MetaGraphOf(*graph_, variables_, options_);
    writing_ = std::async(std::launch::async, [this, path, snapshot = Take(session)] { Write(path, snapshot); });
    return path;
  }

  void Wait() {
    if (writing_.valid()) writing_.get();
  }

  void Restore(Session& session, const std::string& path) {
    Wait();
    const data::BundleReader bundle(path);
    std::vector<std::pair<const SavedVariable*, Tensor>> values;
    std::vector<std::string> missing;
    for (const SavedVariable& variable : variables_) {
      const data::BundleEntry* entry = EntryOf(variable, bundle);
      if (entry == nullptr && !variable.is_optional) throw Missing(variable, bundle);
      if (entry == nullptr) missing.push_back(variable.name);
      else values.emplace_back(&variable, ValueOf(variable, *entry, bundle));
      if (entry != nullptr && IsStep(variable)) CheckStep(values.back().second, *entry, bundle);
    }
    for (const auto& [variable, value] : values) {
      session.WriteVariable(variable->ref, value);
      if (IsStep(*variable)) session.set_step(value.scalar<int64_t>());
    }
    missing_ = std::move(missing);
  }

  const std::vector<std::string>& missing() const { return missing_; }

 private:
  Snapshot Take(Session& session) const {
    Snapshot snapshot;
    for (const SavedVariable& variable : variables_)
      if (!snapshot.contains(variable.name)) snapshot.emplace(variable.name, session.ReadVariable(variable.ref));
    return snapshot;
  }

  // Takes over the checkpoints that the folder has when the first one is written there. Those that its "checkpoint"
  // file names elsewhere (a copied file does) are somebody else's: they neither count nor are removed.
  void EnterFolder(const std::string& path) {
    const std::string folder = FolderOf(path);
    if (folder_ == folder) return;
    const std::string name = fs::path(path).filename().string();
    RemoveAbandonedFiles(folder, name.substr(0, name.rfind('-')));
    RemoveAbandonedFiles(folder, data::kCheckpointStateFile);
    kept_.clear();
    std::string newest;
    try {
      const data::CheckpointState state = data::ReadCheckpointState(folder);
      newest = data::ResolveCheckpoint(folder, state.newest);
      for (const std::string& old : state.all) {
        const std::string here = (fs::path(folder) / fs::path(old).filename()).string();
        if (IsSameFolder(FolderOf(data::ResolveCheckpoint(folder, old)), folder) && train::CheckpointExists(here))
          kept_.push_back(here);
      }
    } catch (const Error&) {  // none, or one that is damaged, which the first save replaces
    }
    train::RemoveRemnants(folder, name.substr(0, name.rfind('-')), newest);
    folder_ = folder;
  }

  // In the writing thread.
  void Write(const std::string& path, const Snapshot& snapshot) {
    std::error_code error;
    const bool is_first = !fs::exists(fs::path(*folder_) / data::kCheckpointStateFile, error);
    WriteAllOrNothing(path, snapshot, is_first);
    std::erase_if(kept_, [&](const std::string& old) { return SamePath(old, path); });
    kept_.push_back(path);
    if (!is_first || kept_.size() > 1) List(path);
    if (RemoveSurplus()) WriteState(kept_);
  }

  // What fails leaves nothing behind, unless a checkpoint of that name was there before.
  void WriteAllOrNothing(const std::string& path, const Snapshot& snapshot, bool is_first) const {
    const bool replaces = train::CheckpointExists(path);
    try {
      WriteFiles(path, snapshot, is_first);
    } catch (const Error& failure) {
      std::error_code error;
      if (!replaces) train::RemoveCheckpoint(path);
      if (!replaces && is_first) fs::remove(fs::path(*folder_) / data::kCheckpointStateFile, error);
      if (kept_.empty()) throw;
      throw Error(failure.code(), fmt::format("{}; the newest checkpoint is {}", failure.what(), kept_.back()));
    }
  }

  // A checkpoint that is whole stays, listed or not: what was trained for it is in no other. The next run goes on from
  // the newest that is listed, unless somebody does what the error says.
  void List(const std::string& path) const try { WriteState(kept_); } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}; checkpoint {} is whole, but not in that list: {} to go on from it",
                                          error.what(), path, train::HowToList(*folder_, path)));
  }

  // A folder gets its "checkpoint" file before its first checkpoint: one that has checkpoints, but no such file, has
  // lost it.
  void WriteFiles(const std::string& path, const Snapshot& snapshot, bool is_first) const {
    data::BundleWriter writer(path);
    for (const auto& [name, value] : snapshot) writer.Add(name, value);
    if (is_first) WriteState({path});
    writer.Finish();
    if (options_.write_meta_graph) WriteFileAtomically(path + ".meta", meta_graph_);
  }

  // After they were listed with the new one, so that they are found and removed if the process ends in between; whoever
  // reads the list meanwhile takes the newest. True if there were any.
  bool RemoveSurplus() {
    const size_t before = kept_.size();
    while (options_.max_to_keep > 0 && kept_.size() > static_cast<size_t>(options_.max_to_keep)) {
      train::RemoveCheckpoint(kept_.front());
      kept_.erase(kept_.begin());
    }
    return kept_.size() < before;
  }

  // Relative paths, so that the folder may be moved.
  void WriteState(const std::vector<std::string>& paths) const {
    data::CheckpointState state;
    for (const std::string& path : paths) state.all.push_back(fs::path(path).filename().string());
    state.newest = state.all.back();
    data::WriteCheckpointState(*folder_, state);
  }

  // Null: the checkpoint lacks it.
  static const data::BundleEntry* EntryOf(const SavedVariable& variable, const data::BundleReader& bundle) {
    const data::BundleEntry* entry = bundle.Find(variable.name);
    for (size_t i = 0; entry == nullptr && i < variable.other_names.size(); ++i)
      entry = bundle.Find(variable.other_names[i]);
    return entry;
  }

  Tensor ValueOf(const SavedVariable& variable, const data::BundleEntry& entry,
                 const data::BundleReader& bundle) const {
    const TensorDesc& desc = graph_->desc(variable.ref);
    if (entry.data_type != TensorFlowDataType(desc.dtype) || !(entry.shape == desc.shape))
      throw InvalidArgument(fmt::format("{}: tensor {} is {}{}, but the model's variable is {}",
                                        data::IndexPath(bundle.prefix()), entry.name,
                                        data::DataTypeName(entry.data_type), entry.shape.ToString(), desc.ToString()));
    return bundle.Read(entry.name);
  }

  bool IsStep(const SavedVariable& variable) const {
    return graph_->node(variable.ref.node).name == "global_step" && graph_->desc(variable.ref).dtype == DType::kInt64;
  }

  static void CheckStep(const Tensor& value, const data::BundleEntry& entry, const data::BundleReader& bundle) {
    if (const auto step = value.scalar<int64_t>(); step < 0)
      throw DataLoss(fmt::format("{}: tensor {} is {}, but a number of steps is at least 0",
                                 data::IndexPath(bundle.prefix()), entry.name, step));
  }

  Error Missing(const SavedVariable& variable, const data::BundleReader& bundle) const {
    std::set<std::string> known;
    size_t missing = 0;
    for (const SavedVariable& v : variables_) {
      missing += bundle.Find(v.name) == nullptr && !v.is_optional ? 1 : 0;
      known.insert(v.name);
    }
    std::string example;
    for (const data::BundleEntry& entry : bundle.entries())
      if (example.empty() && !known.contains(entry.name))
        example = fmt::format("; it has {}, which the model lacks", entry.name);
    return NotFound(fmt::format(
        "{}: holds no tensor {} ({} of the model's {} variables are missing{}): it is of another model or optimizer",
        data::IndexPath(bundle.prefix()), variable.name, missing, variables_.size(), example));
  }

  const Graph* graph_;
  const std::vector<SavedVariable> variables_;
  const SaverOptions options_;
  std::string meta_graph_;            // made when first needed
  std::vector<std::string> missing_;  // of the last Restore

  // Of the writing thread while it runs.
  std::optional<std::string> folder_;
  std::vector<std::string> kept_;  // oldest first

  std::future<void> writing_;  // last: it uses everything above
};

Saver::Saver(const Graph* graph, SaverOptions options) : Saver(graph, AllVariables(*graph), options) {}

Saver::Saver(const Graph* graph, std::vector<SavedVariable> variables, SaverOptions options)
    : impl_(std::make_unique<Impl>(graph, std::move(variables), options)) {}

Saver::~Saver() = default;

std::string Saver::Save(Session& session, const std::string& prefix, std::optional<int64_t> global_step) {
  std::string path = impl_->SaveInBackground(session, prefix, global_step);
  impl_->Wait();
  return path;
}

std::string Saver::SaveInBackground(Session& session, const std::string& prefix, std::optional<int64_t> global_step) {
  return impl_->SaveInBackground(session, prefix, global_step);
}

void Saver::Wait() { impl_->Wait(); }

void Saver::Restore(Session& session, const std::string& path) { impl_->Restore(session, path); }

const std::vector<std::string>& Saver::missing() const { return impl_->missing(); }

std::string Saver::LatestCheckpoint(const std::string& folder) {
  data::CheckpointState state;
  try {
    state = data::ReadCheckpointState(folder);
  } catch (const Error& error) {
    if (error.code() == Code::kNotFound) return "";
    throw;
  }
  for (auto path = state.all.rbegin(); path != state.all.rend(); ++path) {
    const std::string resolved = data::ResolveCheckpoint(folder, *path);
    if (train::CheckpointExists(resolved)) return resolved;
  }
  // All are gone: of the only one that is kept, or because somebody tidied up. What else is here was written whole.
  const std::vector<std::string> others = train::CheckpointsIn(folder);
  return others.empty() ? "" : others.front();
}

}  // namespace muster
