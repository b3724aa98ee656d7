import { Group, Paper } from '@mantine/core';
import type { Service } from '../../api/client.ts';
import { Facts } from '../../ui/facts.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import {
  credentialText,
  healthCheckText,
  limitsText,
  protocolText,
  tlsText,
} from './settings-text.ts';
import classes from './service.module.css';

/**
 * What the service is, and its settings in words.
 *
 * @param status the newest one, which may be newer than the service as it was read
 */
export function ServiceSummary({
  service,
  status,
}: {
  readonly service: Service;
  readonly status: Service['status'];
}) {
  const { environment, upstreams, credential, revision, updated_at } = service;
  const usesTls = upstreams.some(({ url }) => url.startsWith('https:'));
  return (
    <Paper withBorder component="section" aria-labelledby="settings">
      <div className={classes.head}>
        <h2 id="settings">Settings</h2>
      </div>
      <div className={classes.facts}>
        <Facts
          facts={[
            ['Status', <StatusBadge key="status" status={status} />],
            ['Environment', environment],
            ['Health check', healthCheckText(service)],
            [
              'Credential',
              <Group key="credential" gap={4}>
                {credentialText(service)}
                {credential !== null && (
                  <span>
                    (set <RelativeTime at={credential.set_at} />)
                  </span>
                )}
              </Group>,
            ],
            ['Protocol', protocolText(service)],
            [
              'TLS',
              usesTls || service.tls !== null ? tlsText(service) : 'not used by the upstreams',
            ],
            ['Limits', limitsText(service)],
            ['Via', service.send_via ? 'names the gateway' : 'not sent by the gateway'],
            [
              'Changed',
              <Group key="changed" gap={4}>
                <RelativeTime at={updated_at} />
                <span>(revision {revision})</span>
              </Group>,
            ],
          ]}
        />
      </div>
    </Paper>
  );
}
