import { expect, it } from '@jest/globals';
import { idsInTexts, readableTexts } from './explained-text.ts';

const TOKEN = 'tok_01kb5zv4x8n3m6q9r2t7w0y1z4';
const SERVICE = 'svc_01kb5zv4x8n3m6q9r2t7w0y1z4';

it('has names in place of ids, and units that people use, in each text', () => {
  const explanation = {
    authentication: { token_id: TOKEN },
    retry_policy: 'At most 2 retries within 90000 ms (timeout_ms); it waits at most 50 ms.',
    stages: [{ reason: `The token ${TOKEN} is valid.` }, { reason: 'More than 65536 bytes.' }],
    timeouts: { timeout_ms: 90_000 },
  };
  expect(idsInTexts(explanation)).toEqual([TOKEN]);
  expect(readableTexts(explanation, (id) => (id === TOKEN ? 'checkout' : id))).toEqual({
    authentication: { token_id: 'checkout' },
    retry_policy: 'At most 2 retries within 90 s (timeout_ms); it waits at most 50 ms.',
    stages: [{ reason: 'The token checkout is valid.' }, { reason: 'More than 64 KiB.' }],
    timeouts: { timeout_ms: 90_000 },
  });
});

it('keeps what only looks like an id or an amount, and the names of people as they are', () => {
  const texts = [`x${TOKEN}`, 'tok_1', 'http1000 msg', '1000 msecs', `service ${SERVICE}`];
  expect(readableTexts(texts, () => '5000 ms')).toEqual([...texts.slice(0, 4), 'service 5000 ms']);
});
