package main

import (
	"bufio"
	"bytes"
	"context"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// drain reads what an informer would and decodes nothing: what remains is the
// time that the server takes, below which no contender can be.
func drain(driver *bufio.Reader, client *rest.RESTClient, listAt, until string) error {
	tell("ready")
	await(driver)
	watch := newStopwatch()
	if until == "" {
		body, err := client.Get().Resource(plural).
			VersionedParams(&metav1.ListOptions{ResourceVersion: "0"}, metav1.ParameterCodec).
			Stream(context.Background())
		if err != nil {
			return err
		}
		size, err := io.Copy(io.Discard, body)
		if err != nil {
			return err
		}
		tell("synced", watch.read(), map[string]any{"objects": 0, "bytes": size})
		tell("settled")
		await(driver)
		return nil
	}
	tell("synced", watch.read(), map[string]any{"objects": 0})
	return drainWatch(client, listAt, until)
}

func drainWatch(client *rest.RESTClient, from, until string) error {
	watch := newStopwatch()
	body, err := client.Get().Resource(plural).
		VersionedParams(&metav1.ListOptions{ResourceVersion: from, Watch: true}, metav1.ParameterCodec).
		Stream(context.Background())
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(body, 1<<20)
	last := []byte(`"resourceVersion":"` + until + `"`)
	for events := 1; ; events++ {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return err
		}
		if bytes.Contains(line, last) {
			tell("followed", watch.read(), map[string]any{"events": events})
			return nil
		}
	}
}
