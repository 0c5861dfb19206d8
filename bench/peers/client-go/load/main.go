// Load for an API server, made by a program that is faster than any of them,
// so that the server is what is measured. It prints one JSON object and ends.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the server, and who asks it")
	do := flag.String("do", "", "create, get, list or watch")
	path := flag.String("path", "", "of the collection")
	body := flag.String("body", "", "a file with an object whose name is NAME")
	prefix := flag.String("prefix", "", "of the names of objects")
	clients := flag.Int("clients", 1, "who ask at the same time")
	listers := flag.Int("listers", 0, "who list the collection meanwhile, again and again")
	seconds := flag.Float64("seconds", 0, "for how long; 0 for as long as there is `-objects`")
	objects := flag.Int("objects", 0, "how many there are, or shall be")
	watchers := flag.Int("watchers", 0, "who see all of it")
	rounds := flag.Int("rounds", 1, "how often")
	flag.Parse()

	server, err := connect(*kubeconfig, *path)
	if err == nil {
		limit := limit{objects: *objects, time: time.Duration(*seconds * float64(time.Second))}
		var found any
		switch *do {
		case "create":
			found, err = server.create(*body, *prefix, *clients, *listers, limit)
		case "get":
			found, err = server.get(*prefix, *clients, limit)
		case "list":
			found, err = server.list(*rounds)
		case "watch":
			found, err = server.fanOut(*body, *prefix, *clients, *watchers, *objects)
		default:
			err = fmt.Errorf("-do is create, get, list or watch, not %q", *do)
		}
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(found)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
