package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// measureQueue takes keys from the queue, gives them back and adds them again,
// until that many have been handled. Returns the seconds it took.
func measureQueue(handled, workers, keys int) float64 {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	for i := range keys {
		queue.Add(fmt.Sprintf("tenant-%02d/web-frontend-%05d", i%20, i))
	}
	var left atomic.Int64
	left.Store(int64(handled))
	var working sync.WaitGroup
	began := time.Now()
	for range workers {
		working.Add(1)
		go func() {
			defer working.Done()
			for {
				key, shutdown := queue.Get()
				if shutdown {
					return
				}
				queue.Forget(key)
				queue.Done(key)
				if left.Add(-1) <= 0 {
					queue.ShutDown()
					return
				}
				queue.Add(key)
			}
		}()
	}
	working.Wait()
	return time.Since(began).Seconds()
}
