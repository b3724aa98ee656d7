import { grpcStatusOf } from '@gateway/client/grpc-status';
import { InvalidArgumentError, Option } from 'commander';

/** The option that selects gRPC calls by the status with which they ended. */
export function grpcStatusOption(): Option {
  return new Option(
    '--grpc-status <status>',
    'only gRPC calls that ended with this status, such as UNAVAILABLE or 14',
  ).argParser(parse);
}

function parse(text: string): number {
  const status = grpcStatusOf(text);
  if (status !== undefined) return status;
  throw new InvalidArgumentError(
    'It must be a gRPC status: 0 to 16, or a name such as UNAVAILABLE.',
  );
}
