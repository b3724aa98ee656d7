import { Button, Drawer, Paper, Skeleton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { lazyPart } from '../../lazy-part.tsx';
import type { FormPreview } from './form-preview.ts';
import classes from './preview.module.css';

/** It writes YAML, which few visits need. */
const PreviewPanel = lazyPart(
  'form-preview',
  async () => (await import('./preview-panel.tsx')).PreviewPanel,
  () => <Skeleton height={240} m="sm" />,
);

interface PreviewProps {
  readonly preview: FormPreview;
}

/** Whether the preview has room beside the form. */
export function useIsPreviewBeside(): boolean {
  return useMediaQuery('(width >= 1440px)', false, { getInitialValueInEffect: false });
}

/** The preview beside the form. */
export function PreviewColumn({ preview }: PreviewProps) {
  return (
    <Paper withBorder component="aside" aria-label="Preview" className={classes.column ?? ''}>
      <PreviewPanel preview={preview} />
    </Paper>
  );
}

/** Opens the preview over the page. */
export function PreviewButton({ preview }: PreviewProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="subtle" c="var(--accent)" onClick={() => setOpen(true)}>
        Preview
      </Button>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        position="right"
        size="min(560px, 100vw)"
        title="Preview"
      >
        <PreviewPanel preview={preview} />
      </Drawer>
    </>
  );
}
