import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { bytesText } from '../../ui/bytes-text.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import type { SendResponse } from './send-call.ts';
import classes from './send.module.css';
import { shownBody } from './shown-body.ts';

interface ResponseBodyProps {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly end: SendResponse['body_end'];
}

const CUT: Readonly<Record<Exclude<SendResponse['body_end'], 'complete'>, string>> = {
  size: 'The body is longer. Only its beginning is shown.',
  time: 'The time was over before the body ended. What had arrived is shown.',
  broken: 'The connection was lost within the body. What had arrived is shown.',
};

/** A body as text, JSON with indents if the reader wants that. It is text and never a part of the page. */
export function ResponseBody({ bytes, end }: ResponseBodyProps) {
  const { raw, pretty } = useMemo(() => shownBody(bytes, end === 'complete'), [bytes, end]);
  const [form, setForm] = useState('pretty');
  const shown = form === 'pretty' ? (pretty ?? raw) : raw;
  return (
    <Stack gap="xs">
      {end !== 'complete' && (
        <Text size="sm" role="status">
          {CUT[end]}
        </Text>
      )}
      {bytes.length === 0 && <Text c="dimmed">The response has no body.</Text>}
      {bytes.length > 0 && shown === undefined && (
        <Text c="dimmed">{bytesText(bytes.length)} that are no text.</Text>
      )}
      {bytes.length > 0 && shown !== undefined && (
        <>
          <Group justify="space-between">
            {pretty === undefined ? (
              <span />
            ) : (
              <SegmentedControl
                aria-label="Form of the body"
                data={[
                  { value: 'pretty', label: 'Pretty' },
                  { value: 'raw', label: 'Raw' },
                ]}
                value={form}
                onChange={setForm}
              />
            )}
            <CopyButton text={shown} what="the body" />
          </Group>
          {/* Long ones scroll, by keyboard too. */}
          <pre className={classes.code} tabIndex={0} role="group" aria-label="Body of the response">
            {visibleText(shown)}
          </pre>
        </>
      )}
    </Stack>
  );
}
