import { Combobox, Modal, TextInput, useCombobox } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useEnvironment } from '../../api/environments.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { usePaletteItems, type PaletteItem } from './palette-items.ts';
import classes from './palette.module.css';

interface PaletteProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Goes anywhere by a few letters: to a page, a route, a service, what a token did, or a request by its id. */
export function Palette({ opened, onClose }: PaletteProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Go to"
      withCloseButton={false}
      size={560}
      padding={0}
      centered={false}
      yOffset="12vh"
      classNames={{ header: classes.title ?? '', body: classes.body ?? '' }}
    >
      <PaletteContent onDone={onClose} />
    </Modal>
  );
}

function PaletteContent({ onDone }: { readonly onDone: () => void }) {
  const [text, setText] = useState('');
  const items = usePaletteItems(useEnvironment(), text);
  const navigate = useNavigate();
  const combobox = useCombobox({ opened: true });

  function open(id: string): void {
    const item = items.find((one) => one.id === id);
    if (item === undefined) return;
    onDone();
    if (typeof item.link === 'string') window.open(item.link, '_blank', 'noreferrer');
    else void navigate(item.link);
  }

  return (
    <Combobox store={combobox} onOptionSubmit={open}>
      <Combobox.EventsTarget withExpandedAttribute>
        <TextInput
          data-autofocus
          aria-label="Go to"
          placeholder="A page, route, service, token, or request id"
          leftSection={<Search size={16} aria-hidden />}
          variant="unstyled"
          autoComplete="off"
          spellCheck={false}
          className={classes.field ?? ''}
          value={text}
          onChange={({ currentTarget: { value } }) => {
            setText(value);
            combobox.resetSelectedOption();
          }}
          onKeyDown={(event) => {
            // The list would take it, and stay.
            if (event.key === 'Escape') onDone();
            // The first one, unless another was chosen.
            if (event.key !== 'Enter' || combobox.getSelectedOptionIndex() >= 0) return;
            event.preventDefault();
            if (items[0] !== undefined) open(items[0].id);
          }}
        />
      </Combobox.EventsTarget>
      <Combobox.Options className={classes.options ?? ''} aria-label="Where to" tabIndex={0}>
        {items.length === 0 && <Combobox.Empty>Nothing has this in its name.</Combobox.Empty>}
        {byGroup(items).map(([group, ofGroup]) => (
          <Combobox.Group key={group} label={group}>
            {ofGroup.map(({ id, label, icon: Icon, keys }) => (
              <Combobox.Option
                key={id}
                value={id}
                className={classes.option ?? ''}
                data-first={id === items[0]?.id || undefined}
                data-keys={keys}
              >
                <Icon size={16} strokeWidth={1.75} aria-hidden />
                <span className={classes.optionText} title={visibleText(label)}>
                  {visibleText(label)}
                </span>
              </Combobox.Option>
            ))}
          </Combobox.Group>
        ))}
      </Combobox.Options>
    </Combobox>
  );
}

function byGroup(
  items: readonly PaletteItem[],
): readonly (readonly [string, readonly PaletteItem[]])[] {
  return [...Map.groupBy(items, ({ group }) => group)];
}
