package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/golang/protobuf/ptypes/wrappers"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

var (
	binary = string([]byte{0, 255, 16, 10, 13})
	token  string
	client *grpc.ClientConn
)

// Does what scenarios.ts describes, and prints what it sees: `name = what`.
func call(address string, bearer string, messages int) {
	token = bearer
	size := grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64 << 20))
	var err error
	client, err = grpc.Dial(address, grpc.WithInsecure(), size)
	if err != nil {
		panic(err)
	}
	count := strconv.Itoa(messages)
	print("unary call", string(only(open("Unary", nil, "message"))))
	large := only(open("Unary", nil, strings.Repeat("m", 16<<20)))
	print("message of 16 MiB each way", fmt.Sprintf("%d bytes", len(large)))
	print("status with details", end(open("Unary", fields{"do": "fail", "code": "9",
		"message": url.PathEscape("größer als erlaubt"), "detail-bin": binary}, "message")))
	print("metadata at the beginning and at the end", echoes())
	print("stream of the server", end(open("Down", fields{"count": count}, "message")))
	print("stream of the client", string(only(open("Up", nil, repeat(messages)...))))
	print("error after 10 messages", end(open("Down",
		fields{"count": "10", "do": "fail", "code": "8", "message": "enough"}, "message")))
	late, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	print("deadline, and a server that does not answer",
		strings.SplitN(end(openIn(late, "Unary", fields{"do": "wait"}, "message")), ":", 2)[0])
	print("cancelled by the client after 10 messages", cancelled())
	print("stream each way", end(open("Both", nil, repeat(messages)...)))
	print("messages in turns", turns(100))
}

type fields map[string]string

func print(name string, seen string) { fmt.Printf("%s = %s\n", name, seen) }

func repeat(count int) []string {
	messages := make([]string, count)
	for i := range messages {
		messages[i] = "message"
	}
	return messages
}

func open(method string, more fields, messages ...string) grpc.ClientStream {
	return openIn(context.Background(), method, more, messages...)
}

// Begins a call and sends its messages, while it goes on.
func openIn(ctx context.Context, method string, more fields, messages ...string) grpc.ClientStream {
	stream := begin(ctx, method, more)
	go func() {
		for _, message := range messages {
			if stream.SendMsg(&wrappers.BytesValue{Value: []byte(message)}) != nil {
				return
			}
		}
		stream.CloseSend()
	}()
	return stream
}

func begin(ctx context.Context, method string, more fields) grpc.ClientStream {
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	for name, value := range more {
		ctx = metadata.AppendToOutgoingContext(ctx, name, value)
	}
	description := &grpc.StreamDesc{
		ServerStreams: method == "Down" || method == "Both",
		ClientStreams: method == "Up" || method == "Both",
	}
	stream, err := client.NewStream(ctx, description, "/gateway.test.Calls/"+method)
	if err != nil {
		panic(err)
	}
	return stream
}

func only(stream grpc.ClientStream) []byte {
	message := new(wrappers.BytesValue)
	if err := stream.RecvMsg(message); err != nil {
		return []byte(err.Error())
	}
	return message.Value
}

// How many messages came, and the status after them.
func end(stream grpc.ClientStream) string {
	for count := 0; ; count++ {
		err := stream.RecvMsg(new(wrappers.BytesValue))
		if err == nil {
			continue
		}
		before := ""
		if count > 0 {
			before = fmt.Sprintf("%d messages", count)
		}
		if err == io.EOF {
			return before
		}
		if before != "" {
			before += ", then "
		}
		return before + describe(err)
	}
}

func describe(err error) string {
	failure, _ := status.FromError(err)
	text := fmt.Sprintf("%s: %s", failure.Code(), failure.Message())
	for _, detail := range failure.Details() {
		if value, ok := detail.(*wrappers.BytesValue); ok {
			text += ", detail " + base64.RawStdEncoding.EncodeToString(value.Value)
		}
	}
	return text
}

func echoes() string {
	ctx := metadata.AppendToOutgoingContext(context.Background(), "echo-text", "one", "echo-text", "two",
		"echo-bin", binary)
	stream := openIn(ctx, "Down", nil, "message")
	end(stream)
	head, _ := stream.Header()
	trailer := stream.Trailer()
	encode := func(values []string) string {
		return base64.RawStdEncoding.EncodeToString([]byte(strings.Join(values, "")))
	}
	return strings.Join([]string{
		strings.Join(head["echo-text"], ", "), encode(head["echo-bin"]),
		strings.Join(trailer["trailer-text"], ", "), encode(trailer["trailer-bin"]),
	}, "; ")
}

func cancelled() string {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream := openIn(ctx, "Down", fields{"count": "10", "do": "wait"}, "message")
	for count := 0; count < 10; count++ {
		if err := stream.RecvMsg(new(wrappers.BytesValue)); err != nil {
			return describe(err)
		}
	}
	cancel()
	return "10 messages, then " + describe(stream.RecvMsg(new(wrappers.BytesValue)))
}

func turns(count int) string {
	stream := begin(context.Background(), "Both", nil)
	for turn := 0; turn < count; turn++ {
		if err := stream.SendMsg(&wrappers.BytesValue{Value: []byte("message")}); err != nil {
			return describe(err)
		}
		if err := stream.RecvMsg(new(wrappers.BytesValue)); err != nil {
			return describe(err)
		}
	}
	stream.CloseSend()
	end(stream)
	return fmt.Sprintf("%d messages", count)
}

func main() {
	if len(os.Args) == 1 {
		serve()
	}
	messages, _ := strconv.Atoi(os.Args[3])
	call(os.Args[1], os.Args[2], messages)
}
