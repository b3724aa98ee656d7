import { Group, Tabs, Text } from '@mantine/core';
import { useDeferredValue } from 'react';
import { stringify } from 'yaml';
import { CopyButton } from '../../copy-button.tsx';
import { visibleText } from '../../visible-text.ts';
import { curlCommand } from './curl-command.ts';
import type { FormPreview } from './form-preview.ts';
import classes from './preview.module.css';

/** What the form would send, as a file for gwctl and as a command. */
export function PreviewPanel({ preview }: { readonly preview: FormPreview }) {
  const { manifest, call } = useDeferredValue(preview);
  const isEmpty = Object.keys(call.body).length === 0;
  return (
    <Tabs defaultValue="yaml" className={classes.panel ?? ''} keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="yaml">YAML</Tabs.Tab>
        <Tabs.Tab value="curl">curl</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="yaml" className={classes.text ?? ''}>
        {/* As gwctl export writes it. */}
        <Code
          text={stringify(manifest, { lineWidth: 0 })}
          what="YAML"
          about="For gwctl apply -f FILE. Defaults are left out."
        />
      </Tabs.Panel>
      <Tabs.Panel value="curl" className={classes.text ?? ''}>
        {isEmpty ? (
          <Text c="dimmed" p="sm">
            Nothing was changed.
          </Text>
        ) : (
          <Code
            text={curlCommand(call, location.origin)}
            what="curl command"
            about="Set its variables in your shell first."
          />
        )}
      </Tabs.Panel>
    </Tabs>
  );
}

interface CodeProps {
  readonly text: string;
  readonly what: string;
  readonly about: string;
}

function Code({ text, what, about }: CodeProps) {
  return (
    <>
      <Group justify="space-between" gap="xs" wrap="nowrap" p="xs" pl="sm">
        <Text size="xs" c="dimmed">
          {about}
        </Text>
        <CopyButton text={text} what={what} />
      </Group>
      <pre className={classes.code} tabIndex={0} role="region" aria-label={what}>
        {visibleText(text)}
      </pre>
    </>
  );
}
