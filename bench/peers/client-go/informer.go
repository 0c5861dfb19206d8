package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const plural = "virtualmachineinstances"

var groupVersion = schema.GroupVersion{Group: "kubevirt.io", Version: "v1"}

// newClient is a REST client that decodes JSON straight into our types, built
// the way generated clients are.
func newClient(config *rest.Config) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion, &VirtualMachineInstance{}, &VirtualMachineInstanceList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	typed := rest.CopyConfig(config)
	typed.GroupVersion = &groupVersion
	typed.APIPath = "/apis"
	typed.ContentType = runtime.ContentTypeJSON
	typed.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(typed)
}

func newInformer(client *rest.RESTClient, keep, listAt string, finish *finishLine) (cache.SharedIndexInformer, error) {
	source := cache.NewFilteredListWatchFromClient(client, plural, metav1.NamespaceAll,
		func(options *metav1.ListOptions) {
			if listAt != "" && !options.Watch && options.Continue == "" {
				options.ResourceVersion = listAt
				options.ResourceVersionMatch = metav1.ResourceVersionMatchExact
			}
		})
	informer := cache.NewSharedIndexInformer(source, &VirtualMachineInstance{}, 0, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"node": func(object any) ([]string, error) {
			return []string{object.(*VirtualMachineInstance).Status.NodeName}, nil
		},
	})
	switch keep {
	case "full":
	case "subset":
		if err := informer.SetTransform(keepSubset); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("-keep is full, subset or nothing, not %q", keep)
	}
	_, err := informer.AddEventHandler(finish)
	return informer, err
}

// finishLine notes when the last of the expected changes was seen.
type finishLine struct {
	last    string
	updates int
	reached chan struct{}
}

func newFinishLine(last string) *finishLine {
	return &finishLine{last: last, reached: make(chan struct{})}
}

func (line *finishLine) OnAdd(any, bool) {}

func (line *finishLine) OnUpdate(_, current any) {
	line.updates++
	if current.(*VirtualMachineInstance).ResourceVersion == line.last {
		close(line.reached)
	}
}

func (line *finishLine) OnDelete(any) {}
