import { choiceField } from './fields.ts';

/** In which status of HTTP a gRPC call gets the errors of the gateway. */
export const grpcErrorsField = choiceField(['status', 'trailers'], {
  status: 'The status of the error',
  trailers: '200, with the gRPC status in the trailers',
})
  .default('status')
  .meta({
    title: 'Errors of gRPC calls',
    description:
      'The HTTP status of an error that the gateway makes for a gRPC call. `status`: that of the error, with `grpc-status` beside it. `trailers`: 200, for clients that read no `grpc-status` beside another status, such as connect-node. Records and metrics have the status of the error.',
    examples: ['status'],
  });
