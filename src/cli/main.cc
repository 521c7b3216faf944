#include <fcntl.h>
#include <signal.h>

#include <cerrno>

#include <string_view>

#include "base/flush_denormals.h"
#include "cli/dispatch.h"
#include "cli/spin_limit.h"

namespace {

// A file that is opened later must not become standard output or error because those were closed. Open for reading
// only, so that writing there still fails.
void OpenStandardFiles() {
  for (int file = 0; file <= 2; ++file)
    if (::fcntl(file, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardFiles();
  const muster::FlushDenormals flush;  // for all threads to come
  // A reader that went away ("| head") is an error of the write, so that result files are still written.
  ::signal(SIGPIPE, SIG_IGN);
  // A file above the limit that is set for its size too: it says so as a full disk does.
  ::signal(SIGXFSZ, SIG_IGN);
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "bench" || command == "train") muster::cli::LimitSpinning(argv);
  return muster::cli::Dispatch({argv + 1, argv + argc});
}
