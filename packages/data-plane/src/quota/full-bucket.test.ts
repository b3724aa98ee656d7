import { afterEach, beforeEach } from '@jest/globals';
import { describeFullBucket } from '../../test/quota/full-bucket-suite.ts';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';

let nats: OwnNats;
let url: string;
beforeEach(async () => {
  nats = await openOwnNats();
  ({ url } = await nats.startServer());
});
afterEach(() => nats.close());

describeFullBucket('a bucket of quotas that callers fill', {
  url: () => url,
  replicas: 1,
  dataPlanes: 2,
  defer: (close) => nats.defer(close),
});
