// Pause is the process that holds a pod's namespaces. It does nothing, reaps
// what is handed to it when a pod shares its process namespace, and ends when
// it is told to.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A process that ignores SIGCHLD has its children reaped by the kernel.
	signal.Ignore(syscall.SIGCHLD)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
}
