#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "data/format/bundle.h"
#include "muster/tensor.h"

namespace muster::data {

// Writes a checkpoint (bundle.h) so that it appears whole or not at all: data and index are written under temporary
// names, synced, and renamed by Finish, the index last, without which there is no checkpoint. If anything fails, by an
// exception or a killed process, a checkpoint of the same name that was there before is still there, whole. A killed
// process may also leave temporary files (RemoveAbandonedFiles) and data that no index names. For one thread. Errors
// name the file.
//
// The bytes are those that TensorFlow writes if tensors come in the order in which it saves them, sorted by name.
class BundleWriter {
 public:
  explicit BundleWriter(std::string prefix, int num_shards = 1);

  // A name must not come twice: throws InvalidArgument.
  void Add(const std::string& name, const Tensor& value, int shard = 0);
  void AddStrings(const std::string& name, const Shape& shape, const std::vector<std::string>& values, int shard = 0);
  // A slice of tensor "name" of shape "whole".
  void AddSlice(const std::string& name, const Shape& whole, const TensorSlice& slice, const Tensor& value,
                int shard = 0);
  // Nothing may be added afterwards.
  void Finish();

 private:
  OutputFile& Shard(int shard);
  void CommitIndex(int num_shards) const;
  bool RenameData(int from_shards) const;
  BundleEntry Write(std::string_view bytes, int data_type, const Shape& shape, int shard);
  void Insert(const std::string& key, BundleEntry entry);

  std::string prefix_;
  std::vector<std::unique_ptr<OutputFile>> shards_;
  std::map<std::string, BundleEntry> entries_;  // by key
};

// Removes a checkpoint's files, the index first, so that what is left after a crash is no checkpoint. Files that are
// not there are no error.
void RemoveBundle(const std::string& prefix);

}  // namespace muster::data
