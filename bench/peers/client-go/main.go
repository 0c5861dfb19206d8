// An informer as a KubeVirt controller in Go has it: typed objects, a REST
// client with the scheme's codecs, a shared informer with two indexes.
//
// It speaks the protocol of bench/protocol.py: one JSON object per line on
// standard output, one word per line on standard input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file that says where the server is")
	keep := flag.String("keep", "full", "full: the whole object; subset: what ours keeps; nothing: drain only")
	listAt := flag.String("list-at", "", "list at exactly this resource version, then catch up")
	until := flag.String("until", "", "the resource version that ends catching up")
	queue := flag.Int("queue", 0, "measure the work queue instead, with that many operations")
	workers := flag.Int("workers", 1, "how many take from the queue")
	keys := flag.Int("keys", 1, "how many different keys go through the queue")
	flag.Parse()

	driver := bufio.NewReader(os.Stdin)
	if *queue > 0 {
		tell("done", map[string]any{"seconds": measureQueue(*queue, *workers, *keys)})
		return
	}
	if err := run(driver, *kubeconfig, *keep, *listAt, *until); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(driver *bufio.Reader, kubeconfig, keep, listAt, until string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := newClient(config)
	if err != nil {
		return err
	}
	// The connection is made before the clock runs, as for the others.
	if err := client.Get().AbsPath("/version").Do(context.Background()).Error(); err != nil {
		return err
	}
	if keep == "nothing" {
		return drain(driver, client, listAt, until)
	}
	return follow(driver, client, keep, listAt, until)
}

func follow(driver *bufio.Reader, client *rest.RESTClient, keep, listAt, until string) error {
	finish := newFinishLine(until)
	informer, err := newInformer(client, keep, listAt, finish)
	if err != nil {
		return err
	}
	settle()
	tell("ready")
	await(driver)

	watch := newStopwatch()
	go informer.Run(context.Background().Done())
	// cache.WaitForCacheSync looks every 100 ms only, which would be added to
	// the time of this contender alone.
	for !informer.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	tell("synced", watch.read(), map[string]any{"objects": len(informer.GetStore().ListKeys())})
	if until != "" {
		watch = newStopwatch()
		<-finish.reached
		tell("followed", watch.read(), map[string]any{"events": finish.updates})
		return nil
	}
	settle()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	tell("settled", map[string]any{"heap_bytes": memory.HeapAlloc})
	await(driver)
	runtime.KeepAlive(informer)
	return nil
}

// settle gives back to the kernel what no longer belongs to the cache. A
// program in production never does so and is larger; the others do the same.
func settle() {
	runtime.GC()
	debug.FreeOSMemory()
}

func tell(event string, values ...map[string]any) {
	line := map[string]any{"event": event}
	for _, each := range values {
		maps.Copy(line, each)
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

func await(driver *bufio.Reader) {
	if _, err := driver.ReadString('\n'); err != nil {
		os.Exit(0) // The driver is gone.
	}
}
