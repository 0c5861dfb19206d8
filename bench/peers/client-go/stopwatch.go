package main

import (
	"syscall"
	"time"
)

// stopwatch is wall time, and processor time of all threads, since it was made.
type stopwatch struct {
	began time.Time
	cpu   float64
}

func newStopwatch() stopwatch {
	return stopwatch{began: time.Now(), cpu: processorSeconds()}
}

func (watch stopwatch) read() map[string]any {
	return map[string]any{
		"seconds":     time.Since(watch.began).Seconds(),
		"cpu_seconds": processorSeconds() - watch.cpu,
	}
}

func processorSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
