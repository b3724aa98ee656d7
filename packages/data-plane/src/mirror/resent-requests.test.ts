import { expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startMirrored } from '../../test/mirror-world.ts';
import { arrived, startAttempted } from '../../test/resend-world.ts';

const opened = closeAfterEach();

it('the copy of a request that is sent again in part has its body once', async () => {
  const upstream = opened(await startAttempted());
  const mirror = opened(await startUpstream());
  const route = { retry_count: 1 };
  const gateway = opened(await startMirrored(upstream.url, [mirror.url], { route }));
  const services = gateway.snapshot.services.map((service) => {
    return service.id === 'svc_mirror' ? service : { ...service, protocol: 'http2' as const };
  });
  await gateway.use({ ...gateway.snapshot, services, version: 2 });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const body = writable.getWriter();
  const response = gateway.call('test', { method: 'POST', body: readable, duplex: 'half' });
  await body.write(Buffer.from('first '));
  const attempt = await upstream.next();
  await arrived(attempt, 'first ');
  attempt.refuse();
  const next = await upstream.next(2);
  await body.write(Buffer.from('second'));
  await body.close();
  await arrived(next, 'first second');
  next.answer();
  expect((await response).status).toBe(200);
  await eventually(() => expect(mirror.seen).toHaveLength(1));
  expect(mirror.seen[0]?.body).toBe('first second');
});
