import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { GenService } from '@bufbuild/protobuf/codegenv2';
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_wrappers,
  type BytesValueSchema,
} from '@bufbuild/protobuf/wkt';
import { METHODS, SERVICE } from './calls.ts';

interface Method<K extends string> {
  readonly methodKind: K;
  readonly input: typeof BytesValueSchema;
  readonly output: typeof BytesValueSchema;
}

const MESSAGE = '.google.protobuf.BytesValue';
const DOT = SERVICE.lastIndexOf('.');

/** What protoc would make of the service. */
const file = create(FileDescriptorProtoSchema, {
  name: 'gateway/test/calls.proto',
  package: SERVICE.slice(0, DOT),
  syntax: 'proto3',
  dependency: [file_google_protobuf_wrappers.proto.name],
  service: [
    {
      name: SERVICE.slice(DOT + 1),
      method: [
        { name: METHODS.unary },
        { name: METHODS.down, serverStreaming: true },
        { name: METHODS.up, clientStreaming: true },
        { name: METHODS.both, clientStreaming: true, serverStreaming: true },
      ].map((method) => ({ ...method, inputType: MESSAGE, outputType: MESSAGE })),
    },
  ],
});

/** The service for the libraries of Connect. */
export const CallsService = createFileRegistry(
  file,
  () => file_google_protobuf_wrappers,
).getService(SERVICE) as unknown as GenService<{
  unary: Method<'unary'>;
  down: Method<'server_streaming'>;
  up: Method<'client_streaming'>;
  both: Method<'bidi_streaming'>;
}>;
