import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { countedText } from '@gateway/client/measures';
import classes from './resource-form.module.css';

interface FormFooterProps {
  /** On the button that saves. */
  readonly action: string;
  readonly isBusy: boolean;
  /** The reader has to decide something first. */
  readonly isBlocked: boolean;
  readonly onCancel: () => void;
  /** How many fields differ from what was read. With it the buttons stay at the lower edge of the window. */
  readonly changes?: number;
  /** It does not exist yet, so that nothing can be unchanged. */
  readonly isNew?: boolean;
  /** Further buttons. */
  readonly children?: ReactNode;
}

/** The buttons of a form. */
export function FormFooter(props: FormFooterProps) {
  const { action, isBusy, isBlocked, onCancel, changes, isNew = false, children } = props;
  const buttons = (
    <Group justify="flex-end" gap="xs" wrap="nowrap" className={classes.buttons ?? ''}>
      {children}
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" loading={isBusy} disabled={isBlocked}>
        {action}
      </Button>
    </Group>
  );
  if (changes === undefined) return buttons;
  return (
    <div className={classes.footer}>
      <Text c="dimmed" role="status" className={classes.count ?? ''} data-none={changes === 0}>
        {changes === 0 ? !isNew && 'No changes' : countedText(changes, 'change')}
      </Text>
      {buttons}
    </div>
  );
}
