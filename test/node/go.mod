module github.com/mountward/mountward/test/node

go 1.26.6

require (
	github.com/mountward/mountward/test/runtime v0.0.0
	golang.org/x/sys v0.48.0
	google.golang.org/grpc v1.83.2
	k8s.io/cri-api v0.37.0
)

require (
	github.com/opencontainers/runtime-spec v1.3.0 // indirect
	golang.org/x/net v0.58.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260825221802-da73d73af1c5 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/mountward/mountward/test/runtime => ../runtime
