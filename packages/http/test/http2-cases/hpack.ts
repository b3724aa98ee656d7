import { ERROR, FRAME } from '../../src/http2/protocol.ts';
import { fieldBlock, frame, HEAD, pseudo } from '../http2-frames.ts';
import { ANSWER, type Case, type Expected } from './case.ts';

const block = fieldBlock(pseudo());
const COMPRESSION: Expected = { goAway: ERROR.compressionError };
/** `user-agent` and `h2spec`, plain and with the Huffman code; `x-test` with it. */
const USER_AGENT = '0a757365722d6167656e74';
const USER_AGENT_HUFFMAN = '87b505b161cc5a93';
const VALUE = '06683273706563';
const VALUE_HUFFMAN = '849c48aca4';
const X_TEST = '06782d74657374';
const X_TEST_HUFFMAN = '85f2b24a84ff';

const headers = (...parts: readonly Buffer[]) => [
  frame(FRAME.headers, HEAD, 1, Buffer.concat(parts)),
];
const after = (hex: string) => headers(block, Buffer.from(hex, 'hex'));
const before = (hex: string) => headers(Buffer.from(hex, 'hex'), block);

/** The representations of RFC 7541: those of h2spec's `generic` tests, and all of its `hpack` tests. */
export const HPACK: readonly Case[] = [
  ['6.1', 'an indexed field', after('ba'), ANSWER],
  ['6.2.1', 'indexed literal', after(`40${USER_AGENT_HUFFMAN}${VALUE_HUFFMAN}`), ANSWER],
  ['6.2.1', 'indexed literal, plain', after(`40${USER_AGENT}${VALUE}`), ANSWER],
  ['6.2.1', 'indexed literal with a new name', after(`40${X_TEST}${VALUE}`), ANSWER],
  [
    '6.2.1',
    'indexed literal with a new name, Huffman',
    after(`40${X_TEST_HUFFMAN}${VALUE_HUFFMAN}`),
    ANSWER,
  ],
  ['6.2.2', 'literal without indexing', after(`00${USER_AGENT}${VALUE}`), ANSWER],
  [
    '6.2.2',
    'literal without indexing, Huffman',
    after(`00${USER_AGENT_HUFFMAN}${VALUE_HUFFMAN}`),
    ANSWER,
  ],
  ['6.2.2', 'literal without indexing with a new name', after(`00${X_TEST}${VALUE}`), ANSWER],
  [
    '6.2.2',
    'literal without indexing with a new name, Huffman',
    after(`00${X_TEST_HUFFMAN}${VALUE_HUFFMAN}`),
    ANSWER,
  ],
  ['6.2.3', 'literal never indexed', after(`10${USER_AGENT}${VALUE}`), ANSWER],
  [
    '6.2.3',
    'literal never indexed, Huffman',
    after(`10${USER_AGENT_HUFFMAN}${VALUE_HUFFMAN}`),
    ANSWER,
  ],
  ['6.2.3', 'literal never indexed with a new name', after(`10${X_TEST}${VALUE}`), ANSWER],
  [
    '6.2.3',
    'literal never indexed with a new name, Huffman',
    after(`10${X_TEST_HUFFMAN}${VALUE_HUFFMAN}`),
    ANSWER,
  ],
  ['6.3', 'a smaller table', before('3f61'), ANSWER],
  ['6.3', 'two sizes of the table', before('3f613fe11f'), ANSWER],
  ['2.3.3', 'an index beyond the table', after('c6'), COMPRESSION],
  ['2.3.3', 'a name index beyond the table', after('7f0700'), COMPRESSION],
  ['4.2', 'a size of the table at the end of a block', after('21'), COMPRESSION],
  ['5.2', 'padding of more than 7 bits', after('0085f2b24a84ff8449509fff'), COMPRESSION],
  ['5.2', 'padding with zeros', after('0085f2b24a84ff83495090'), COMPRESSION],
  ['5.2', 'the end of the string within it', after('0085f2b24a84ff874951fffffffa7f'), COMPRESSION],
  ['6.1', 'index 0', after('80'), COMPRESSION],
  ['6.3', 'a table that is larger than allowed', before('3fe21f'), COMPRESSION],
];
