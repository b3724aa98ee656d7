import { eventually } from '@gateway/shared/test/eventually';
import { metric } from './figures.ts';

/** Resolves when each of these data planes, which are all, has an equal share of every quota: a few seconds after its start. */
export async function shareQuotas(dataPlanes: readonly { adminUrl: string }[]): Promise<void> {
  await eventually(
    async () => {
      for (const { adminUrl } of dataPlanes) {
        const share = await metric(adminUrl, 'gateway_quota_share');
        if (Math.abs(share - 1 / dataPlanes.length) > 0.001)
          throw new Error(`the share is ${share}`);
      }
    },
    { deadlineMs: 30_000 },
  );
}
