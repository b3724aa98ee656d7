import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { decodeBytes, encodeBytes } from './bytes-value.ts';

const TYPE = 'google.protobuf.BytesValue';
const TYPE_URL = `type.googleapis.com/${TYPE}`;
const DETAILS_TAG = 3;
const VALUE_TAG = 2;

/** The metadata that carries a `google.rpc.Status`. */
export const DETAILS = 'grpc-status-details-bin';

/** A `google.rpc.Status` with one detail: a `BytesValue`, encoded. */
export function encodeStatus(code: number, message: string, detail: Uint8Array): Uint8Array {
  return new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(code)
    .tag(2, WireType.LengthDelimited)
    .string(message)
    .tag(DETAILS_TAG, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .string(TYPE_URL)
    .tag(VALUE_TAG, WireType.LengthDelimited)
    .bytes(encodeBytes(detail))
    .join()
    .finish();
}

/** The values of such details of a `google.rpc.Status`. */
export function detailsOf(status: Uint8Array): Uint8Array[] {
  return fieldsOf(status, DETAILS_TAG).flatMap((any) => fieldsOf(any, VALUE_TAG).map(decodeBytes));
}

function fieldsOf(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted) found.push(reader.bytes());
    else reader.skip(type, field);
  }
  return found;
}
