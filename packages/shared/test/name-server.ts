import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The records of a name. A name without an entry does not exist. */
export interface NameEntry {
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
  /** The name that this one is an alias of (CNAME). */
  readonly alias?: string;
  /** The response code in place of an answer (RFC 1035 section 4.1.1). */
  readonly failure?: number;
}

export interface NameServer {
  /** `address:port`, in the format of DNS_SERVERS. */
  readonly address: string;
  /** Records by name. A test may change it at any time. */
  readonly names: Map<string, NameEntry>;
  /** Names in the order of the queries for their IPv4 addresses. */
  readonly asked: readonly string[];
  /** While it is true, no query is answered. */
  silent: boolean;
  /** Names whose queries are never answered. */
  readonly silentNames: Set<string>;
  /** Whether queries for IPv6 addresses are never answered. */
  silentForIpv6: boolean;
  close(): Promise<void>;
}

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_CNAME = 5;
const TYPE_AAAA = 28;
/** A response to a standard query, with recursion (RFC 1035 section 4.1.1). */
const RESPONSE = 0x8180;
const NAME_ERROR = 3;
/** A pointer to the name in the question (RFC 1035 section 4.1.4). */
const NAME_POINTER = 0xc00c;

/** Starts a DNS server for a test on 127.0.0.1 over UDP. The only IPv6 address that it supports is `::1`. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const server = {
    address: '',
    names: new Map<string, NameEntry>(),
    asked,
    silent: false,
    silentNames: new Set<string>(),
    silentForIpv6: false,
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
  socket.on('message', (message, peer) => {
    const { name, type, question } = readQuestion(message);
    if (type === TYPE_A) asked.push(name);
    if (server.silent || server.silentNames.has(name)) return;
    if (server.silentForIpv6 && type === TYPE_AAAA) return;
    const id = message.subarray(0, 2);
    socket.send(respond(id, question, server.names.get(name), type), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  server.address = `127.0.0.1:${socket.address().port}`;
  return server;
}

function readQuestion(message: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const question = message.subarray(HEADER_BYTES, at + 5);
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), question };
}

function respond(id: Buffer, question: Buffer, entry: NameEntry | undefined, type: number): Buffer {
  const addresses = entry?.addresses.filter((one) => typeOf(one) === type) ?? [];
  const answers = addresses.map((address) => ({ kind: type, bytes: bytesOf(address) }));
  if (entry?.alias !== undefined) {
    answers.unshift({ kind: TYPE_CNAME, bytes: labelsOf(entry.alias) });
  }
  const header = Buffer.alloc(HEADER_BYTES);
  id.copy(header);
  header.writeUInt16BE(RESPONSE | (entry === undefined ? NAME_ERROR : (entry.failure ?? 0)), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  const records = answers.map(({ kind, bytes }) => {
    const record = Buffer.alloc(12);
    record.writeUInt16BE(NAME_POINTER, 0);
    record.writeUInt16BE(kind, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(entry?.ttlSeconds ?? 0, 6);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, question, ...records]);
}

function labelsOf(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}

function typeOf(address: string): number {
  return address.includes(':') ? TYPE_AAAA : TYPE_A;
}

function bytesOf(address: string): Buffer {
  if (address !== '::1') return Buffer.from(address.split('.').map(Number));
  return Buffer.concat([Buffer.alloc(15), Buffer.from([1])]);
}
