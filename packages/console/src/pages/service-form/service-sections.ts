import { amountText } from '@gateway/client/amounts';
import { SERVICE_FORM } from '@gateway/client/form-fields';
import type { Service } from '../../api/client.ts';
import { valueAt, type Draft } from '../../ui/form/draft.ts';
import type { FoldedSection, Section } from '../../ui/form/section.ts';
import {
  credentialText,
  healthCheckText,
  limitsText,
  protocolText,
  tlsText,
} from '../service/settings-text.ts';
import { NEW_SERVICE } from './service-draft.ts';

/** What has to be said of every service: its name, and where it is. */
export const FIRST_SECTIONS: readonly Section[] = [
  { title: 'Service', fields: ['name'] },
  {
    title: 'Upstreams',
    description:
      'Requests are divided between the healthy ones, by weight. Data planes prefer those of their own region.',
    columns: 1,
    fields: ['upstreams'],
  },
];

const said = (text: (service: Service) => string) => (draft: Draft) =>
  sentenceOf(text(draft as unknown as Service));

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** What is left as it is until the reader changes it. */
export const FOLDED_SECTIONS: readonly FoldedSection[] = [
  {
    title: 'Health check',
    fields: ['health_path', 'health_check'],
    sentence: said(healthCheckText),
  },
  {
    title: 'Authentication',
    description: 'How the gateway authenticates at the upstreams.',
    fields: ['credential'],
    sentence: credentialSentence,
  },
  {
    title: 'TLS',
    description: 'TLS to upstreams with https.',
    fields: ['tls'],
    sentence: tlsSentence,
  },
  {
    title: 'Requests to upstreams',
    fields: ['protocol', 'websocket_protocol', 'send_via'],
    sentence: said(protocolText),
  },
  {
    title: SERVICE_FORM['limits']?.label ?? '',
    description: 'They keep a slow service from using up what the others need.',
    fields: ['limits'],
    sentence: limitsSentence,
  },
];

const NEW_CREDENTIALS: Readonly<Record<string, string>> = {
  bearer: 'A bearer token is sent to the upstreams.',
  basic: 'A user name and a password are sent to the upstreams.',
  header: 'A header is sent to the upstreams.',
};

/** Without limits of its own, the first part is what a data plane gives every service. */
function limitsSentence(draft: Draft): string {
  const { limits } = draft as unknown as Service;
  return `At most ${limitsText({ limits })}.`;
}

const NO_TLS = { ca_pem: null, server_name: null, client_certificate: null };

/** What was not touched is not in the draft of an object that was null. */
function tlsSentence(draft: Draft): string {
  const { tls } = draft as unknown as Service;
  const all = { ...NO_TLS, ...tls };
  const isUsual = Object.values(all).every((value) => value === null);
  return sentenceOf(tlsText({ tls: isUsual ? null : all }));
}

/** One that is stored has the name of its header; one that is typed has its secret, which is not shown. */
function credentialSentence(draft: Draft): string {
  const { credential } = draft as unknown as Service;
  if (credential === null) return 'Nothing is sent.';
  if (valueAt(credential, 'set_at') !== undefined) return `${credentialText({ credential })}.`;
  return NEW_CREDENTIALS[credential.type] ?? '';
}

/** The defaults that people ask for first, in one sentence. */
export function defaultsSentence(): string {
  const { health_path, health_check, protocol } = NEW_SERVICE as unknown as Service;
  const interval = amountText(health_check.interval_ms, 'ms');
  const version = SERVICE_FORM['protocol']?.choices.find(([one]) => one === protocol)?.[1] ?? '';
  return `Defaults: GET ${health_path} every ${interval}, ${version}, no credential.`;
}
