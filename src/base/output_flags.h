#pragma once

#include <string>

namespace muster {

// Flags that name an output, before any work: throws Error with one line that names the flag when the name is empty or
// the output could not be written later. Nothing is created.

// The flag of a file, for example CheckFileFlag("json", "result.json"); see CheckWritable.
void CheckFileFlag(const std::string& flag, const std::string& path);

// The flag of a folder, for example CheckFolderFlag("train_dir", "run"); see CheckFolder.
void CheckFolderFlag(const std::string& flag, const std::string& folder);

}  // namespace muster
