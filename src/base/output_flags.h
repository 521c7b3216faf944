#pragma once

#include <string>
#include <utility>
#include <vector>

namespace muster {

// Flags that name an output, before any work: throws Error with one line that names the flag when the name is empty or
// the output could not be written later. Nothing is created.

// The flag of a file, for example CheckFileFlag("json", "result.json"); see CheckWritable.
void CheckFileFlag(const std::string& flag, const std::string& path);

// The same for a file of JSON. A file that is there and is something else (data, a checkpoint) is refused, as it would
// be lost; not one that standard output or error goes to, which is only added to.
void CheckJsonFlag(const std::string& flag, const std::string& path);

// The flag of a folder, for example CheckFolderFlag("train_dir", "run"); see CheckFolder.
void CheckFolderFlag(const std::string& flag, const std::string& folder);

// Files that one command writes, as (flag, path); empty paths do not count. Throws InvalidArgument naming two flags
// that lead to the same file.
void CheckDistinctFiles(const std::vector<std::pair<std::string, std::string>>& files);

// The flag of a folder that is only read and need not exist: throws Error if it is something else.
void CheckNotAFile(const std::string& flag, const std::string& folder);

}  // namespace muster
