import { Stack, Tabs, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useScope } from '../../api/rights.ts';
import { bytesText } from '../../ui/bytes-text.ts';
import { msText } from '../../ui/ms-text.ts';
import { fromBase64 } from './base64.ts';
import { ResponseBody } from './response-body.tsx';
import type { SendResponse } from './send-call.ts';
import type { SentRoute } from './send-draft.ts';
import classes from './send.module.css';
import { SentExplanation } from './sent-explanation.tsx';
import { SentRecord } from './sent-record.tsx';
import type { SendOutcome } from './use-sending.ts';

interface SendResultProps {
  readonly route: SentRoute;
  readonly result: SendOutcome;
}

/** What came back, the record of the request, and what each stage of the gateway decides about such a request. */
export function SendResult({ route, result }: SendResultProps) {
  const { response, draft } = result;
  const { allowed: mayExplain } = useScope('config:read');
  const shown = useRef<HTMLDivElement>(null);
  // In a narrow window it is below what was typed.
  useEffect(() => {
    // Newer browsers return a promise, which React would take for the clean-up.
    shown.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const [tab, setTab] = useState<string | null>('body');
  return (
    <Stack gap="md" role="region" aria-label="Response" ref={shown}>
      <Verdict response={response} />
      <SentRecord id={response.request_id} />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="body">Body</Tabs.Tab>
          <Tabs.Tab value="headers">Headers ({response.headers.length})</Tabs.Tab>
          {mayExplain && <Tabs.Tab value="explain">Explain</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="body">
          <ResponseBody bytes={fromBase64(response.body)} end={response.body_end} />
        </Tabs.Panel>
        <Tabs.Panel value="headers">
          <Headers headers={response.headers} />
        </Tabs.Panel>
        <Tabs.Panel value="explain">
          <SentExplanation route={route} draft={draft} token={response.token} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

/** The status first, then how long it took and how large it is. */
function Verdict({ response }: { readonly response: SendResponse }) {
  const { status, status_text: text, head_ms, total_ms, body_bytes, body_end } = response;
  return (
    <div className={classes.verdict}>
      <span className={classes.status} data-tone={toneOf(status)}>
        {status} {text}
      </span>
      <Text size="sm" c="dimmed">
        {msText(total_ms)}
        {total_ms - head_ms > 20 && `, the first byte after ${msText(head_ms)}`}
      </Text>
      <Text size="sm" c="dimmed">
        {bytesText(body_bytes)}
        {body_end !== 'complete' && ' shown'}
      </Text>
    </div>
  );
}

function toneOf(status: number): string {
  if (status >= 500) return 'bad';
  if (status >= 400) return 'warn';
  return status >= 300 ? 'info' : 'good';
}

function Headers({ headers }: Pick<SendResponse, 'headers'>) {
  return (
    <dl className={classes.headers}>
      {headers.map(([name, value], index) => (
        // A field may come several times, and their order counts.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
