#include <signal.h>

#include <string_view>

#include "cli/dispatch.h"
#include "cli/spin_limit.h"

int main(int argc, char** argv) {
  // A reader that went away ("| head") is an error of the write, so that result files are still written.
  ::signal(SIGPIPE, SIG_IGN);
  // A file above the limit that is set for its size too: it says so as a full disk does.
  ::signal(SIGXFSZ, SIG_IGN);
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "bench" || command == "train") muster::cli::LimitSpinning(argv);
  return muster::cli::Dispatch({argv + 1, argv + argc});
}
