import { Kbd, UnstyledButton } from '@mantine/core';
import { Search } from 'lucide-react';
import { MODIFIER } from '../modifier.ts';
import classes from './palette.module.css';

/** Opens the palette, and says which keys do. */
export function PaletteButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <UnstyledButton className={classes.button ?? ''} onClick={onClick} aria-haspopup="dialog">
      <Search size={14} aria-hidden />
      <span className={classes.buttonText}>Go to …</span>
      <Kbd size="xs" className={classes.keys ?? ''} aria-hidden>
        {MODIFIER} K
      </Kbd>
    </UnstyledButton>
  );
}
