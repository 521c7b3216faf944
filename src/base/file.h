#pragma once

#include <string>
#include <string_view>

#include "muster/error.h"

namespace muster {

// Whole files, safely. All functions throw Error with one line that names the path and the system's reason.

// The file's bytes. NotFound when it does not exist.
std::string ReadFile(const std::string& path);

// Replaces the file's contents so that a reader, or a crash at any moment, sees the old bytes or the new, never half:
// writes a temporary file in the same folder, syncs it, renames it over "path" and syncs the folder. Symbolic links
// stay: the file behind them is replaced. What is no regular file (a device, a named pipe), and the file that standard
// output or error goes to, is never replaced: the bytes are written to it.
void WriteFileAtomically(const std::string& path, std::string_view bytes);

// Whether standard output or error goes to this file, so that what is written to it comes behind what they wrote.
bool IsStandardStream(const std::string& path);

// Adds bytes at the end with a single write (several processes may append lines to one file).
void AppendToFile(const std::string& path, std::string_view bytes);

// Makes sure, before hours of work, that WriteFileAtomically(path) can succeed: the folder exists and is writable, and
// "path" is not a folder. Leaves nothing behind.
void CheckWritable(const std::string& path);

// The same for CreateWritableFolder(folder). Leaves nothing behind, no empty folders either.
void CheckFolder(const std::string& folder);

// Creates the folder and its parents if they are missing, and makes sure that files can be created in it. Folders that
// it created are removed again when that fails.
void CreateWritableFolder(const std::string& folder);

// "cannot <doing> <path>: <reason>", with the code that fits the system's error number.
Error FileError(const std::string& doing, const std::string& path, int error);

// Makes renames and removals in a folder ("": the current one) durable.
void SyncFolder(const std::string& folder);

}  // namespace muster
