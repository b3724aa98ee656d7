import { amountRule, parseAmount, unitNames, type AmountUnit } from '@gateway/client/amounts';
import { InvalidArgumentError } from 'commander';
import { didYouMean } from '@gateway/shared/similar/did-you-mean';

/** An amount whose unit may be misspelt. Of one letter, such as `K`, everything would be similar. */
const UNIT_AT_END = /^[\d.,\s]+([a-z]{2,12})$/i;

interface Amount {
  readonly unit: AmountUnit;
  /** The bounds of the API, in the unit. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/**
 * The amount that a text such as `1.5s` or `10 MiB` is, in the unit. A number alone is in the unit.
 * @throws FaultyAmount
 */
export function amountOf(text: string, { unit, min, max }: Amount): number {
  const amount = parseAmount(text, unit);
  if (amount !== undefined) return amount;
  const bounds = min === undefined || max === undefined ? {} : { min, max };
  const [, typed = ''] = UNIT_AT_END.exec(text.trim()) ?? [];
  throw new FaultyAmount(`${amountRule(unit, bounds)}${didYouMean(typed, unitNames(unit))}`);
}

/** The message is the rule, in words that follow the name of the field or option. */
export class FaultyAmount extends Error {
  override readonly name = 'FaultyAmount';
}

/** The parser of an option whose name ends with the unit of a number alone, such as `--timeout-ms`. */
export const amountOption =
  (amount: Amount) =>
  (text: string): number => {
    try {
      return amountOf(text, amount);
    } catch (error) {
      if (!(error instanceof FaultyAmount)) throw error;
      throw new InvalidArgumentError(
        `It ${error.message}${/[.?]$/.test(error.message) ? '' : '.'}`,
      );
    }
  };

/** What the help of a command says of options for times and sizes. */
export const AMOUNT_HELP = `
Times and sizes may have units, such as 1.5s, 1m, 64KB and 10 MiB. A number alone is in the unit
that the name of the option or field ends with.`;
