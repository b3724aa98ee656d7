import { expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startSecureDataPath } from '../../test/secure-data-path.ts';
import { CONNECTION_END_REASONS } from './end-reasons.ts';

const opened = closeAfterEach();

it('each reason to end a connection is counted from 0, so that a rate shows its first event', async () => {
  const gateway = opened(await startSecureDataPath({ upstreams: [] }));
  const metrics = await gateway.registry.metrics();
  for (const reason of CONNECTION_END_REASONS) {
    expect(metrics).toContain(`gateway_connections_ended_total{reason="${reason}"} 0`);
  }
});
