import { framed } from '../parts/frame.ts';
import { PROCESSES } from '../parts/variables.ts';
import { ingest } from './ingest.ts';
import { keys } from './keys.ts';
import { quotas } from './quotas.ts';
import { sending } from './sending.ts';

export const recordsAndNats = () =>
  framed({
    uid: 'gateway-records',
    title: 'records and NATS',
    description: 'Are records, quotas and idempotency keys safe, and is NATS fast enough?',
    variables: [PROCESSES],
    rows: [sending, ingest, quotas, keys],
  });
