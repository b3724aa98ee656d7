import { Metadata } from '@grpc/grpc-js';
import { toBase64, type Fields } from './calls.ts';

const isBinary = (name: string) => name.endsWith('-bin');

export function toMetadata(fields: Fields): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of fields) {
    metadata.add(name, isBinary(name) ? Buffer.from(value, 'base64') : value);
  }
  return metadata;
}

export function fromMetadata(metadata: Metadata): Fields {
  return Object.entries(metadata.toJSON()).flatMap(([name, values]) =>
    values.map((value) => [name, typeof value === 'string' ? value : toBase64(value)] as const),
  );
}
