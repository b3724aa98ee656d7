import { describe, expect, it } from '@jest/globals';
import {
  data,
  ERROR,
  fieldBlock,
  frame,
  FRAME,
  HEAD,
  pseudo,
  reset,
  windowUpdate,
} from '@gateway/http/test/http2-frames';
import { eventually } from '@gateway/shared/test/eventually';
import { abuseOfHttp2, errorCode } from '../http2-abuse.ts';

/** The conformance table has the forms of a malformed request; these are their marks on the gateway. */
const abuse = abuseOfHttp2();

describe('a malformed HTTP/2 request', () => {
  it('is reset, has no record and reaches no upstream', async () => {
    abuse.connection.send(abuse.get(1, ['x-field', 'v ']));
    expect(errorCode(await abuse.connection.frame(FRAME.rstStream, 1))).toBe(ERROR.protocolError);
    await abuse.othersAreServed();
    expect(abuse.seen()).toEqual([]);
    await eventually(() => expect(abuse.gateway.records).toHaveLength(2));
    expect(abuse.gateway.records.map(({ outcome }) => outcome)).toEqual(['success', 'success']);
  });

  it('that gets a response, as over HTTP/1.1, is counted, and has no record', async () => {
    const fields = fieldBlock(pseudo('GET', '/v1/proxy/test/\xe9'));
    abuse.connection.send(frame(FRAME.headers, HEAD, 1, fields));
    const head = await abuse.connection.frame(FRAME.headers, 1);
    expect(abuse.connection.fields(head)[':status']).toBe('400');
    await abuse.othersAreServed();
    expect(abuse.gateway.records.map(({ status }) => status)).not.toContain(400);
    expect(await abuse.gateway.registry.metrics()).toContain(
      'gateway_malformed_requests_total{reason="malformed_head"} 1\n',
    );
  });

  it.each([ERROR.noError, ERROR.cancel])(
    'is not passed on as complete if it was reset within its body: code %i',
    async (code) => {
      abuse.connection.send(abuse.post(1), data('{"amount":1'));
      // A stream that is reset in the same read makes no request.
      await eventually(async () => expect(await abuse.gateway.inFlight()).toBe(1));
      abuse.connection.send(reset(code));
      await eventually(() => {
        expect(abuse.gateway.records).toMatchObject([{ outcome: 'client_aborted' }]);
      });
      await abuse.othersAreServed();
      expect(abuse.seen()).toEqual([]);
    },
  );
});

describe('a stream that is reset in the read that opened it', () => {
  it.each([
    ['by its caller', reset()],
    ['by the gateway', windowUpdate(0)],
  ])('is no request, has no record and reaches no upstream: %s', async (_by, after) => {
    abuse.connection.send(abuse.post(1), after);
    await abuse.othersAreServed();
    expect(abuse.seen()).toEqual([]);
    expect(abuse.gateway.records.map(({ outcome }) => outcome)).not.toContain('client_aborted');
  });
});
