#pragma once

#include <string>
#include <vector>

namespace muster::cli {

// One command of the program: "muster NAME ...". "run" gets the words behind the name and returns the exit code; it may
// throw, see RunCommand.
struct Command {
  const char* name;
  const char* summary;  // one line of "muster --help"
  int (*run)(const std::vector<std::string>& words);
};

// The commands that exist, in the order of the help. A new command is a file with its function, and a line here.
const std::vector<Command>& Commands();

int BenchCommand(const std::vector<std::string>& words);       // bench_command.cc
int TrainCommand(const std::vector<std::string>& words);       // train_command.cc
int DevicesCommand(const std::vector<std::string>& words);     // devices_command.cc
int GraphCommand(const std::vector<std::string>& words);       // graph_command.cc
int CheckpointCommand(const std::vector<std::string>& words);  // checkpoint_command.cc
int DataCommand(const std::vector<std::string>& words);        // data_command.cc

}  // namespace muster::cli
