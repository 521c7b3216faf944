#include <signal.h>

#include "cli/dispatch.h"

int main(int argc, char** argv) {
  // A reader that went away ("| head") is an error of the write, so that result files are still written.
  ::signal(SIGPIPE, SIG_IGN);
  return muster::cli::Dispatch({argv + 1, argv + argc});
}
