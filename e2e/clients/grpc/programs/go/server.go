package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/golang/protobuf/ptypes/wrappers"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// A server of the calls that behaviour.ts describes. It prints a line for its port, and one for each call that was
// cancelled. At SIGUSR1 it ends gracefully, and a new one serves at another port.
func serve() {
	next := make(chan os.Signal, 1)
	signal.Notify(next, syscall.SIGUSR1)
	for {
		server := start()
		<-next
		go server.GracefulStop()
	}
}

func start() *grpc.Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64<<20), grpc.MaxSendMsgSize(64<<20))
	server.RegisterService(&description, nil)
	go server.Serve(listener)
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	return server
}

var description = grpc.ServiceDesc{
	ServiceName: "gateway.test.Calls",
	HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{
		// A unary call is a stream with one message each way.
		{StreamName: "Unary", Handler: handler(answerOnce)},
		{StreamName: "Down", Handler: handler(answerMany), ServerStreams: true},
		{StreamName: "Up", Handler: handler(summarize), ClientStreams: true},
		{StreamName: "Both", Handler: handler(echo), ServerStreams: true, ClientStreams: true},
	},
}

type told struct {
	metadata.MD
	grpc.ServerStream
}

func (call told) value(name string) string { return strings.Join(call.Get(name), ", ") }

func handler(run func(call told) error) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		fields, _ := metadata.FromIncomingContext(stream.Context())
		head, trailer := metadata.MD{}, metadata.MD{}
		for name, values := range fields {
			if strings.HasPrefix(name, "echo-") {
				head[name] = values
				trailer[strings.Replace(name, "echo-", "trailer-", 1)] = values
			}
		}
		stream.SetHeader(head)
		stream.SetTrailer(trailer)
		call := told{fields, stream}
		if err := run(call); err != nil {
			return err
		}
		return endAsTold(call)
	}
}

func endAsTold(call told) error {
	switch call.value("do") {
	case "fail":
		code, _ := strconv.Atoi(call.value("code"))
		message, _ := url.PathUnescape(call.value("message"))
		failure := status.New(codes.Code(code), message)
		if detail := call.value("detail-bin"); detail != "" {
			failure, _ = failure.WithDetails(&wrappers.BytesValue{Value: []byte(detail)})
		}
		return failure.Err()
	case "wait":
		<-call.Context().Done()
		fmt.Println("cancelled")
		return call.Context().Err()
	}
	return nil
}

func answerOnce(call told) error {
	message := new(wrappers.BytesValue)
	if err := call.RecvMsg(message); err != nil || call.value("do") != "" {
		return err
	}
	return call.SendMsg(message)
}

func answerMany(call told) error {
	if err := call.RecvMsg(new(wrappers.BytesValue)); err != nil {
		return err
	}
	count := 1
	if given := call.value("count"); given != "" {
		count, _ = strconv.Atoi(given)
	}
	for ; count > 0; count-- {
		if err := call.SendMsg(&wrappers.BytesValue{Value: []byte("m")}); err != nil {
			return err
		}
	}
	return nil
}

func summarize(call told) error {
	messages, bytes := 0, 0
	for {
		message := new(wrappers.BytesValue)
		err := call.RecvMsg(message)
		if err == io.EOF {
			text := fmt.Sprintf("%d messages, %d bytes", messages, bytes)
			return call.SendMsg(&wrappers.BytesValue{Value: []byte(text)})
		} else if err != nil {
			return err
		}
		messages++
		bytes += len(message.Value)
	}
}

func echo(call told) error {
	for {
		message := new(wrappers.BytesValue)
		if err := call.RecvMsg(message); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := call.SendMsg(message); err != nil {
			return err
		}
	}
}
