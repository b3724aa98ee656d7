import { Kbd, Modal, Stack, Switch } from '@mantine/core';
import { NAVIGATION } from './navigation-pages.ts';
import { MODIFIER } from './modifier.ts';
import classes from './shortcut-help.module.css';
import { useShortcutsEnabled } from './shortcuts.ts';

interface ShortcutHelpProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Keys that are pressed one after the other, and what they do. */
type Shortcut = readonly [keys: string, meaning: string];

const ANYWHERE: readonly Shortcut[] = [
  [`${MODIFIER} K`, 'Go to anything'],
  ['/', 'Search on this page'],
  ['j k', 'Next, previous row'],
  ['o', 'Open the row'],
  [`${MODIFIER} Enter`, 'Save the form'],
  ['Esc', 'Close what is open'],
  ['?', 'Show this list'],
];
const PAGES = NAVIGATION.map(({ label, key }): Shortcut => [`g ${key}`, label]);

/** The list of the keys, and the switch for them. */
export function ShortcutHelp({ opened, onClose }: ShortcutHelpProps) {
  const [enabled, setEnabled] = useShortcutsEnabled();
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size={600}>
      {/* A ring around the button that closes would be the first thing that is seen. */}
      <Stack className={classes.content ?? ''} tabIndex={-1} data-autofocus>
        <div className={classes.lists}>
          <Shortcuts title="Anywhere" shortcuts={ANYWHERE} />
          <Shortcuts title="Go to a page" shortcuts={PAGES} />
        </div>
        <Switch
          label="Use keyboard shortcuts"
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      </Stack>
    </Modal>
  );
}

interface ShortcutsProps {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

function Shortcuts({ title, shortcuts }: ShortcutsProps) {
  return (
    <section>
      <h3 className={classes.title}>{title}</h3>
      <dl className={classes.list}>
        {shortcuts.map(([keys, meaning]) => (
          <div key={keys} className={classes.row}>
            <dt>
              {keys.split(' ').map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
