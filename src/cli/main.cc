#include "cli/dispatch.h"

int main(int argc, char** argv) { return muster::cli::Dispatch({argv + 1, argv + argc}); }
