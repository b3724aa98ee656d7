import { Paper } from '@mantine/core';
import type { Service } from '../../api/client.ts';
import { Facts } from '../../ui/facts.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import {
  credentialText,
  healthCheckText,
  limitsText,
  protocolText,
  tlsText,
} from './settings-text.ts';
import classes from './service.module.css';

/** The settings of the service in words. */
export function ServiceSummary({ service }: { readonly service: Service }) {
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
            ['Environment', environment],
            ['Health check', healthCheckText(service)],
            [
              'Credential',
              <span key="credential">
                {credentialText(service)}
                {credential !== null && (
                  <>
                    , set <RelativeTime at={credential.set_at} />
                  </>
                )}
              </span>,
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
              <span key="changed">
                <RelativeTime at={updated_at} />, revision {revision}
              </span>,
            ],
          ]}
        />
      </div>
    </Paper>
  );
}
