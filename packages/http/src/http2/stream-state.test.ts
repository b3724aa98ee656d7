import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  afterEvent,
  EVENT,
  OUTCOME,
  ResetStreams,
  STATE,
  type StreamState,
} from './stream-state.ts';

const EVENTS = Object.values(EVENT);
const { receiveHeaders, receiveData, receiveWindow, receiveEnd, receiveReset } = EVENT;
const { sendHeaders, sendEnd, sendReset } = EVENT;

/** A stream as RFC 9113 section 5.1 describes it: which sides have ended it, and who has reset it. */
class Model {
  isIdle = true;
  peerEnded = false;
  ownEnded = false;
  resetBy: 'peer' | 'own' | undefined;

  get isClosed(): boolean {
    return this.resetBy !== undefined || (this.peerEnded && this.ownEnded);
  }

  /** What the event is if it does not happen. */
  refusal(event: number): number | undefined {
    const isReceived = event <= receiveReset;
    if (!isReceived) return this.#mayNotSend(event) ? OUTCOME.impossible : undefined;
    if (this.isIdle) return event === receiveHeaders ? undefined : OUTCOME.protocolError;
    if (this.resetBy === 'own') return OUTCOME.ignored;
    const isMessage = event === receiveHeaders || event === receiveData || event === receiveEnd;
    if (!isMessage) return this.isClosed ? OUTCOME.ignored : undefined;
    if (this.isClosed && this.resetBy === undefined && event === receiveHeaders) {
      return OUTCOME.connectionClosed;
    }
    return this.peerEnded || this.isClosed ? OUTCOME.streamClosed : undefined;
  }

  #mayNotSend(event: number): boolean {
    // A late frame of a stream that the peer has reset is answered with a reset.
    if (event === sendReset) return this.isIdle || (this.isClosed && this.resetBy !== 'peer');
    if (this.isIdle) return event !== sendHeaders;
    return this.isClosed || this.ownEnded;
  }

  apply(event: number): void {
    if (event === receiveHeaders || event === sendHeaders) this.isIdle = false;
    if (event === receiveEnd) this.peerEnded = true;
    if (event === sendEnd) this.ownEnded = true;
    if (event === receiveReset) this.resetBy = 'peer';
    if (event === sendReset) this.resetBy = 'own';
  }

  get state(): StreamState {
    if (this.isIdle) return STATE.idle;
    if (this.resetBy !== undefined) return this.resetBy === 'own' ? STATE.reset : STATE.resetByPeer;
    if (this.peerEnded) return this.ownEnded ? STATE.closed : STATE.halfClosedRemote;
    return this.ownEnded ? STATE.halfClosedLocal : STATE.open;
  }
}

describe('the states of a stream', () => {
  it('are those of RFC 9113 section 5.1 after every sequence of events', () => {
    const events = fc.array(fc.constantFrom(...EVENTS), { maxLength: 12 });
    fc.assert(
      fc.property(events, (all) => {
        const model = new Model();
        let state: StreamState = STATE.idle;
        for (const event of all) {
          const refusal = model.refusal(event);
          const after = afterEvent(state, event);
          if (refusal !== undefined) expect(after).toBe(refusal);
          else {
            model.apply(event);
            expect(after).toBe(model.state);
            state = model.state;
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('need no window to be open: an update is no error once the stream has begun', () => {
    for (const state of Object.values(STATE)) {
      const isError = afterEvent(state, receiveWindow) === OUTCOME.protocolError;
      expect(isError).toBe(state === STATE.idle);
    }
  });
});

describe('the resets of a connection', () => {
  it('are remembered, the last 256 of them', () => {
    const resets = new ResetStreams();
    for (let stream = 1; stream < 2000; stream += 2) resets.add(stream, STATE.reset);
    expect(resets.stateOf(1999)).toBe(STATE.reset);
    expect(resets.stateOf(1999 - 2 * 255)).toBe(STATE.reset);
    expect(resets.stateOf(1999 - 2 * 256)).toBe(STATE.closed);
  });
});
