#pragma once

namespace muster::train {

// Where the trainer and its displays get the time from, so that tests can set it.
class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since the process started; rises steadily.
  virtual double Seconds() const = 0;
};

// The real one: counts from the start of the process as the kernel recorded it, so that a time to accuracy includes
// loading the program. Where the kernel does not say, from the first construction.
class ProcessClock : public Clock {
 public:
  ProcessClock();
  double Seconds() const override;

 private:
  double start_;  // on the clock that Seconds reads
};

}  // namespace muster::train
