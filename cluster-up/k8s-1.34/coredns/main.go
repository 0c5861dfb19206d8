// CoreDNS with the plugins that a cluster's DNS needs and no others: the stock
// program links the client libraries of every cloud, which trebles its build.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/template"
	_ "github.com/coredns/coredns/plugin/whoami"
)

func init() {
	// The order is the order in which a query passes the plugins, the same as
	// in the stock program.
	dnsserver.Directives = []string{
		"reload", "bind", "health", "ready", "prometheus", "errors", "log",
		"cache", "loadbalance", "loop", "template", "hosts", "kubernetes",
		"forward", "whoami",
	}
}

func main() {
	coremain.Run()
}
