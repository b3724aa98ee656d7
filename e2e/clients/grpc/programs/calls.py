"""A server of the calls that behaviour.ts describes, and a client that does what scenarios.ts describes."""

import base64
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, unquote

import grpc
from google.protobuf import any_pb2, wrappers_pb2

SERVICE = "gateway.test.Calls"
BINARY = bytes([0, 255, 16, 10, 13])
SIZES = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
MESSAGE = wrappers_pb2.BytesValue(value=b"message")


def encode(value):
    return value.SerializeToString()


decode = wrappers_pb2.BytesValue.FromString


def status_with(code, message, detail):
    """A google.rpc.Status, encoded: Debian has no package of its Python code."""
    packed = any_pb2.Any()
    packed.Pack(wrappers_pb2.BytesValue(value=detail))
    parts = [(2, message.encode()), (3, packed.SerializeToString())]
    head = bytes([0x08, code])
    return head + b"".join(bytes([number << 3 | 2, len(part)]) + part for number, part in parts)


def serve():
    """Prints a line for its port, and one for each call that was cancelled."""

    def behaviour(run):
        def handle(request, context):
            fields = context.invocation_metadata()
            given = dict(fields)
            echoed = [(name, value) for name, value in fields if name.startswith("echo-")]
            context.send_initial_metadata(echoed)
            trailers = [(name.replace("echo-", "trailer-"), value) for name, value in echoed]
            context.set_trailing_metadata(trailers)
            yield from run(request, given)
            if given.get("do") == "wait":
                ended = threading.Event()
                context.add_callback(ended.set)
                ended.wait()
                print("cancelled", flush=True)
            if given.get("do") == "fail":
                code, message = int(given["code"]), unquote(given["message"])
                if "detail-bin" in given:
                    details = status_with(code, message, given["detail-bin"])
                    context.set_trailing_metadata([*trailers, ("grpc-status-details-bin", details)])
                context.abort(next(one for one in grpc.StatusCode if one.value[0] == code), message)

        return handle

    def answer(request, given):
        if "do" not in given:
            yield request

    def many(_request, given):
        for _ in range(int(given.get("count", "1"))):
            yield wrappers_pb2.BytesValue(value=b"m")

    def summary(requests, _given):
        sizes = [len(one.value) for one in requests]
        yield wrappers_pb2.BytesValue(value=f"{len(sizes)} messages, {sum(sizes)} bytes".encode())

    def echo(requests, _given):
        yield from requests

    def last(handle):
        def run(request, context):
            found = wrappers_pb2.BytesValue()
            for found in handle(request, context):
                pass
            return found

        return run

    handlers = {
        "Unary": grpc.unary_unary_rpc_method_handler(last(behaviour(answer)), decode, encode),
        "Down": grpc.unary_stream_rpc_method_handler(behaviour(many), decode, encode),
        "Up": grpc.stream_unary_rpc_method_handler(last(behaviour(summary)), decode, encode),
        "Both": grpc.stream_stream_rpc_method_handler(behaviour(echo), decode, encode),
    }
    server = grpc.server(ThreadPoolExecutor(max_workers=16), options=SIZES)
    generic = grpc.method_handlers_generic_handler(SERVICE, handlers)
    server.add_generic_rpc_handlers((generic,))
    print("port", server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


def call(address, token, messages):
    """Prints what it sees: `name = what`."""
    channel = grpc.insecure_channel(address, options=SIZES)
    path = f"/{SERVICE}/"
    unary = channel.unary_unary(path + "Unary", encode, decode)
    down = channel.unary_stream(path + "Down", encode, decode)
    up = channel.stream_unary(path + "Up", encode, decode)
    both = channel.stream_stream(path + "Both", encode, decode)
    bearer = ("authorization", f"Bearer {token}")

    def told(*fields):
        return [bearer, *fields]

    def end(stream):
        """How many messages came, and the status after them."""
        count = 0
        try:
            for _ in stream:
                count += 1
            return f"{count} messages"
        except grpc.RpcError as error:
            return (f"{count} messages, then " if count else "") + describe(error)

    def describe(error):
        details = dict(error.trailing_metadata() or []).get("grpc-status-details-bin")
        after = ""
        if details is not None:
            after = ", detail " + unpadded(details[-len(BINARY) :])
        return f"{error.code().name}: {error.details()}{after}"

    def failure(run):
        try:
            return run().value.decode()
        except grpc.RpcError as error:
            return describe(error)

    def unpadded(value):
        return base64.b64encode(value).decode().rstrip("=")

    def values(fields, name):
        found = [value for key, value in fields if key == name]
        return ", ".join(one if isinstance(one, str) else unpadded(one) for one in found)

    def echoes():
        fields = [("echo-text", "one"), ("echo-text", "two"), ("echo-bin", BINARY)]
        stream = down(MESSAGE, metadata=told(*fields))
        end(stream)
        head, trailers = stream.initial_metadata(), stream.trailing_metadata()
        return "; ".join(
            [
                values(head, "echo-text"),
                values(head, "echo-bin"),
                values(trailers, "trailer-text"),
                values(trailers, "trailer-bin"),
            ]
        )

    def cancelled():
        stream = down(MESSAGE, metadata=told(("count", "10"), ("do", "wait")))
        for _ in range(10):
            next(stream)
        stream.cancel()
        return "10 messages, then " + end(stream)

    def turns(count):
        sent = queue.Queue()
        stream = both(iter(sent.get, None), metadata=told())
        for _ in range(count):
            sent.put(MESSAGE)
            next(stream)
        sent.put(None)
        end(stream)
        return f"{count} messages"

    def show(name, seen):
        print(f"{name} = {seen}", flush=True)

    many = [MESSAGE] * messages
    large = wrappers_pb2.BytesValue(value=b"m" * 16 * 1024 * 1024)
    failing = [("do", "fail"), ("code", "9"), ("message", quote("größer als erlaubt"))]
    enough = [("count", "10"), ("do", "fail"), ("code", "8"), ("message", "enough")]
    show("unary call", failure(lambda: unary(MESSAGE, metadata=told())))
    show("message of 16 MiB each way", f"{len(unary(large, metadata=told()).value)} bytes")
    detailed = told(*failing, ("detail-bin", BINARY))
    show("status with details", failure(lambda: unary(MESSAGE, metadata=detailed)))
    show("metadata at the beginning and at the end", echoes())
    counted = told(("count", str(messages)))
    show("stream of the server", end(down(MESSAGE, metadata=counted)))
    show("stream of the client", failure(lambda: up(iter(many), metadata=told())))
    show("error after 10 messages", end(down(MESSAGE, metadata=told(*enough))))
    waiting = told(("do", "wait"))
    late = failure(lambda: unary(MESSAGE, metadata=waiting, timeout=0.3))
    show("deadline, and a server that does not answer", late.split(":")[0])
    show("cancelled by the client after 10 messages", cancelled())
    show("stream each way", end(both(iter(many), metadata=told())))
    show("messages in turns", turns(100))


if len(sys.argv) == 1:
    serve()
else:
    call(sys.argv[1], sys.argv[2], int(sys.argv[3]))
