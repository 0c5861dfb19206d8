package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

const name = "NAME"

// create makes objects, while listers read the whole collection if there are any.
func (server *server) create(body, prefix string, clients, listers int, until limit) (any, error) {
	object, err := os.ReadFile(body)
	if err != nil {
		return nil, err
	}
	var lists rate
	var reading sync.WaitGroup
	if listers > 0 {
		reading.Add(1)
		go func() {
			defer reading.Done()
			lists, err = crowd(listers, limit{time: until.time}, func(int) error {
				_, err := server.read("")
				return err
			})
		}()
	}
	found, failed := crowd(clients, until, func(number int) error {
		return server.post(named(object, prefix, number))
	})
	reading.Wait()
	if failed != nil {
		return nil, failed
	}
	return map[string]any{"creates": found, "lists": lists}, err
}

func named(object []byte, prefix string, number int) []byte {
	return bytes.ReplaceAll(object, []byte(name), fmt.Appendf(nil, "%s-%06d", prefix, number))
}

// get reads objects that are there, one after the other.
func (server *server) get(prefix string, clients int, until limit) (any, error) {
	return crowd(clients, limit{time: until.time}, func(number int) error {
		_, err := server.read(fmt.Sprintf("/%s-%06d", prefix, number%until.objects))
		return err
	})
}

// list reads the whole collection, several times.
func (server *server) list(rounds int) (any, error) {
	var size int64
	found, err := crowd(1, limit{objects: rounds}, func(int) (err error) {
		size, err = server.read("")
		return err
	})
	return map[string]any{"lists": found, "bytes": size}, err
}

// fanOut makes objects and has each seen by every watcher.
func (server *server) fanOut(body, prefix string, clients, watchers, objects int) (any, error) {
	object, err := os.ReadFile(body)
	if err != nil {
		return nil, err
	}
	watches := make([]*http.Response, watchers)
	for number := range watches {
		watches[number], err = server.client.Get(server.url + "?watch=true&timeoutSeconds=300&resourceVersion=")
		if err != nil {
			return nil, err
		}
		defer watches[number].Body.Close()
	}
	errors := make(chan error, watchers)
	began := time.Now()
	for _, watch := range watches {
		go func() { errors <- seen(watch, []byte(`"name":"`+prefix+`-`), objects) }()
	}
	made, err := crowd(clients, limit{objects: objects}, func(number int) error {
		return server.post(named(object, prefix, number))
	})
	if err != nil {
		return nil, err
	}
	for range watches {
		if err := <-errors; err != nil {
			return nil, err
		}
	}
	return map[string]any{"creates": made, "events": watchers * objects, "seconds": time.Since(began).Seconds()}, nil
}

// seen returns when a watch has told of that many objects.
func seen(watch *http.Response, mark []byte, objects int) error {
	lines := bufio.NewReaderSize(watch.Body, 1<<20)
	for found := 0; found < objects; {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return err
		}
		if bytes.Contains(line, mark) {
			found++
		}
	}
	return nil
}
