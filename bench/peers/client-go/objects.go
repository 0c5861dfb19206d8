package main

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type VirtualMachineInstance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              VirtualMachineInstanceSpec   `json:"spec"`
	Status            VirtualMachineInstanceStatus `json:"status,omitempty"`
}

type VirtualMachineInstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualMachineInstance `json:"items"`
}

// Informers never copy an object; the interface asks for the method.

func (vmi *VirtualMachineInstance) DeepCopyObject() runtime.Object {
	return copyThroughJSON(vmi, &VirtualMachineInstance{})
}

func (list *VirtualMachineInstanceList) DeepCopyObject() runtime.Object {
	return copyThroughJSON(list, &VirtualMachineInstanceList{})
}

func copyThroughJSON[T runtime.Object](from, to T) T {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err)
	}
	return to
}
