// Calls the address in its argument once for each line of its input, with the line as the metadata x-fail-with, and prints
// the status and the message of each call.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Messages have no bytes.
type emptyCodec struct{}

func (emptyCodec) Marshal(interface{}) ([]byte, error) { return nil, nil }
func (emptyCodec) Unmarshal([]byte, interface{}) error { return nil }
func (emptyCodec) Name() string                        { return "proto" }

func main() {
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := metadata.Pairs("x-fail-with", lines.Text(), "x-was-sent", "1")
		ctx := metadata.NewOutgoingContext(context.Background(), fields)
		err := connection.Invoke(ctx, "/gateway.test.Calls/Unary", nil, nil, grpc.ForceCodec(emptyCodec{}))
		result := status.Convert(err)
		fmt.Printf("%d %s\n", result.Code(), result.Message())
	}
}
