module kubevirt.io/cluster-up/pause

go 1.24.0
