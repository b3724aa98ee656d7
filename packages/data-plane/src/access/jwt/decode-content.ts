import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';

type Decode = (
  bytes: Buffer,
  options: Pick<ZlibOptions, 'maxOutputLength'>,
  done: (error: Error | null, decoded: Buffer) => void,
) => void;

/** The content codings that are decoded (RFC 9110 section 8.4.1), by name. */
const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: (bytes, options, done) => {
    const decode = hasZlibHeader(bytes) ? inflate : inflateRaw;
    decode(bytes, options, done);
  },
  br: brotliDecompress,
};

/** The `Accept-Encoding` field that asks for them. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE';

/** A body that cannot be decoded, and whether that is because of its size. */
export class DecodeError extends Error {
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge: boolean) {
    super(message);
    this.tooLarge = tooLarge;
  }
}

/**
 * Decodes a body with the codings of its `Content-Encoding`. It never takes more memory than `maxBytes` for the result,
 * however well the body is compressed.
 *
 * @throws DecodeError
 */
export function decodeContent(bytes: Buffer, coding: string, maxBytes: number): Promise<Buffer> {
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return Promise.resolve(bytes);
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  return new Promise((resolve, reject) => {
    if (decode === undefined) {
      reject(new DecodeError(`its content coding is not one of ${ACCEPTED_CODINGS}`, false));
      return;
    }
    decode(bytes, { maxOutputLength: maxBytes }, (error, decoded) => {
      if (error === null) resolve(decoded);
      else if ((error as NodeJS.ErrnoException).code === TOO_LARGE) {
        reject(new DecodeError(`it is larger than ${maxBytes} bytes`, true));
      } else reject(new DecodeError(`it is not valid ${name}`, false));
    });
  });
}

/** RFC 1950 section 2.2. Some servers send the compressed data without it, against RFC 9110 section 8.4.1.2. */
function hasZlibHeader([method = 0, flags = 0]: Buffer): boolean {
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
}
