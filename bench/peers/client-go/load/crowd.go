package main

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// limit is where a crowd stops: at a number, or when the time is over.
type limit struct {
	objects int
	time    time.Duration
}

// rate is what a crowd did, and how long each single thing took.
type rate struct {
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
	Median  float64 `json:"median_s"`
	P99     float64 `json:"p99_s"`
}

// crowd lets clients act, each as soon as its last act is answered. Every act
// gets a number of its own. The first error ends it.
func crowd(clients int, until limit, act func(number int) error) (rate, error) {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	took := make([][]time.Duration, clients)
	began := time.Now()
	var all sync.WaitGroup
	for client := range clients {
		all.Add(1)
		go func() {
			defer all.Done()
			for failed.Load() == nil && (until.time == 0 || time.Since(began) < until.time) {
				number := int(next.Add(1)) - 1
				if until.objects > 0 && until.time == 0 && number >= until.objects {
					return
				}
				start := time.Now()
				if err := act(number); err != nil {
					failed.Store(&err)
					return
				}
				took[client] = append(took[client], time.Since(start))
			}
		}()
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return rate{}, *err
	}
	return summed(slices.Concat(took...), time.Since(began)), nil
}

func summed(took []time.Duration, whole time.Duration) rate {
	slices.Sort(took)
	return rate{
		Count:   len(took),
		Seconds: whole.Seconds(),
		Median:  took[len(took)/2].Seconds(),
		P99:     took[len(took)*99/100].Seconds(),
	}
}
